//! `etalon conform --spmd`: pairs that agree, a pair that does not, and what is said where too little is known.
#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files of a test in a folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path =
            std::env::temp_dir().join(format!("etalon-conform-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        for (name, text) in files {
            std::fs::write(path.join(name), text).unwrap();
        }
        Self(path)
    }
    /// The exit code of `etalon conform --spmd g p ...`, and what it writes.
    fn conform(&self, rest: &str) -> (i32, String) {
        conform(&self.0, &format!("g p {rest}"))
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn conform(within: &Path, arguments: &str) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_etalon"))
        .args(["conform", "--spmd"])
        .args(arguments.split_whitespace())
        .current_dir(within)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8_lossy(&text).into_owned())
}

/// Each of four devices sends its two numbers to the next, and adds what it gets to the sum of all it has.
const GLOBAL: &str = r##"HloModule g, frontend_attributes={xla.sdy.meshes={m = #sdy.mesh<["a"=4]>}}
body { l = s32[2] parameter(0)
  n = s32[2] collective-permute(l), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
  ROOT s = s32[2] add(l, n) }
ENTRY e { x = s32[8] parameter(0)
  l = s32[2] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={
    xla.sdy.in_shardings="#sdy.sharding_per_value<[<@m, [{\"a\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>"}
  b = s32[2] call(l), to_apply=body
  j = s32[8] custom-call(b), custom_call_target="xla.sdy.LocalToGlobalShape", frontend_attributes={
    xla.sdy.out_shardings="#sdy.sharding_per_value<[<@m, [{\"a\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>"}
  ROOT r = s32[8] negate(j) }
"##;
const PARTITIONED: &str = "HloModule p, num_partitions=4
ENTRY e { x = s32[2] parameter(0), sharding={devices=[4]<=[4]}
  n = s32[2] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
  s = s32[2] add(x, n)
  ROOT r = s32[2] negate(s) }
";

#[test]
fn a_pair_agrees() {
    let folder = Folder::new("agrees", &[("g", GLOBAL), ("p", PARTITIONED)]);
    let (code, text) = folder.conform("--random 1");
    assert_eq!((code, text.as_str()), (0, "4 devices agree: error 0.000e0 (bound 0.000e0)\n"));
    // Without the attribute the region that takes the parameter tells.
    let lost = PARTITIONED.replace(", sharding={devices=[4]<=[4]}", "");
    let folder = Folder::new("lost", &[("g", GLOBAL), ("p", &lost)]);
    assert_eq!(folder.conform("--random 1").0, 0);
}

#[test]
fn a_wrong_partitioned_module_is_found() {
    // Nobody sends to device 2, so it adds zeros.
    let wrong = PARTITIONED.replace("{1,2},", "");
    let folder = Folder::new("wrong", &[("g", GLOBAL), ("p", &wrong)]);
    let numbers: hlo::Literal = "s32[8] {1, 2, 3, 4, 5, 6, 7, 8}".parse().unwrap();
    let file = std::fs::File::create(folder.0.join("n.npz")).unwrap();
    hlo::literal::npz::write(file, [("in0".to_owned(), &numbers)]).unwrap();
    let (code, text) = folder.conform("--input n.npz");
    // Device 1 has {3, 4}, device 2 {5, 6}: wanted are -8 and -10, and found -5 and -6.
    let wanted = "device 2: 2 of 2 elements differ; out0 at [0] is s32[] -5, wanted s32[] -8\n1 of 4 devices differ\n";
    assert_eq!((code, text.as_str()), (1, wanted));
}
#[test]
fn what_is_not_known_is_asked_for() {
    let folder = Folder::new("asked", &[("g", GLOBAL), ("p", PARTITIONED)]);
    assert!(folder.conform("").1.contains("E0602"));
    // A result of which nothing says how it is divided: it is summed outside of the region.
    let global = GLOBAL.replace("negate(j)", "reverse(j), dimensions={0}");
    let folder = Folder::new("result", &[("g", &global), ("p", PARTITIONED)]);
    let (code, text) = folder.conform("--random 1");
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("E0511"), "{text}");
    assert!(text.contains("nothing says how the result (s32[8] as s32[2]) is divided"), "{text}");
    let stated = PARTITIONED.replace("negate(s)", "negate(s), sharding={devices=[4]<=[4]}");
    let folder = Folder::new("stated", &[("g", &global), ("p", &stated)]);
    assert_eq!(folder.conform("--random 1").0, 1);
    let folder = Folder::new(
        "count",
        &[
            ("g", GLOBAL),
            (
                "p",
                &PARTITIONED.replace(
                    "x = s32[2] parameter(0)",
                    "y = s32[] parameter(1) x = s32[2] parameter(0)",
                ),
            ),
        ],
    );
    let (code, text) = folder.conform("--random 1");
    assert_eq!(code, 2);
    assert!(text.contains("the program takes 1 arguments, the partitioned module 2"), "{text}");
}

#[test]
fn errors_name_the_module_they_are_in() {
    let stuck = PARTITIONED.replace(
        "collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}",
        "custom-call(x), custom_call_target=\"nobody\"",
    );
    let folder = Folder::new("named", &[("g", GLOBAL), ("p", &stuck)]);
    let (code, text) = folder.conform("--random 1");
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("--> p:3:"), "{text}");
    let global =
        GLOBAL.replace("[{\\\"a\\\"}]>]>\",xla.sdy.manual", "[{\\\"b\\\"}]>]>\",xla.sdy.manual");
    let folder = Folder::new("global", &[("g", &global), ("p", PARTITIONED)]);
    let (code, text) = folder.conform("--random 1");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("the mesh has no axis of the name at character 33"), "{text}");
    assert!(text.contains("--> g:6:"), "{text}");
}

#[test]
fn programs_of_the_corpus_agree_with_what_xla_made_of_them() {
    let Some(folder) = std::env::var_os("ETALON_CORPUS").map(PathBuf::from) else { return };
    let folder = folder.join("spmd");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            name.strip_suffix(".global.hlo").map(str::to_owned)
        })
        .collect();
    names.sort();
    assert!(!names.is_empty());
    for name in names {
        let arguments = format!("{name}.global.hlo {name}.hlo --input {name}.npz");
        let (code, text) = conform(&folder, &arguments);
        assert_eq!(code, 0, "{name}: {text}");
    }
}
