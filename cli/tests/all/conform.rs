//! `etalon conform --spmd`: pairs that agree, pairs that differ, and errors.
use crate::support::{Folder, expect};
use std::path::PathBuf;

/// Returns a folder with a program `g` and a module `p`.
fn pair(name: &str, global: &str, partitioned: &str) -> Folder {
    let folder = Folder::new(&format!("conform-{name}"));
    folder.write("g", global);
    folder.write("p", partitioned);
    folder
}

/// Returns the exit code of `etalon conform --spmd g p ...`, and its output.
fn conform(folder: &Folder, rest: &str) -> (i32, String) {
    let output = folder.etalon(&format!("conform --spmd g p {rest}"));
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8_lossy(&text).into_owned())
}

/// Each of four devices adds its two numbers to those of the previous device.
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
fn an_unpartitioned_program_runs() {
    let made = GLOBAL.replace("x = s32[8] parameter(0)", "x = s32[8] iota(), iota_dimension=0");
    let folder = pair("runs", &made, "");
    // Device 0 has 0 and 1, and gets 6 and 7.
    let sums = "s32[8] {-6, -8, -2, -4, -6, -8, -10, -12}\n";
    expect(&folder.etalon("run g"), 0, sums, "");
    expect(&folder.etalon("bench g --iterations 1"), 0, "first run", "");
}

#[test]
fn a_pair_agrees() {
    let folder = pair("agrees", GLOBAL, PARTITIONED);
    for engine in ["exact", "reference"] {
        let (code, text) = conform(&folder, &format!("--random 1 --engine {engine}"));
        assert_eq!(code, 0);
        assert!(text.starts_with("4 devices: agree\nnot proved: "));
    }
    // Without the attribute, the sharding follows from the manual region that takes the parameter.
    let lost = PARTITIONED.replace(", sharding={devices=[4]<=[4]}", "");
    let folder = pair("lost", GLOBAL, &lost);
    assert_eq!(conform(&folder, "--random 1").0, 0);
}

#[test]
fn a_wrong_partitioned_module_is_found() {
    // Device 2 receives nothing, so it adds zeros.
    let wrong = PARTITIONED.replace("{1,2},", "");
    let folder = pair("wrong", GLOBAL, &wrong);
    let numbers: hlo::Literal = "s32[8] {1, 2, 3, 4, 5, 6, 7, 8}".parse().unwrap();
    let file = std::fs::File::create(folder.0.join("n.npz")).unwrap();
    hlo::literal::npz::write(file, [("in0".to_owned(), &numbers)]).unwrap();
    let (code, text) = conform(&folder, "--input n.npz");
    // Device 1 has {3, 4}, device 2 {5, 6}: -8 and -10 are expected, -5 and -6 are found.
    let expected = "4 devices: differ\n2 of 8 elements differ\nworst: d2_out0[0]: found s32[] -5, expected s32[] -8\nerror 3.000e0 (bound 0.000e0)\n";
    assert_eq!((code, text.as_str()), (1, expected));
}
#[test]
fn missing_arguments_and_shardings_are_errors() {
    let folder = pair("asked", GLOBAL, PARTITIONED);
    assert!(conform(&folder, "").1.contains("E0602"));
    // No sharding of the result fits its shape.
    let part = PARTITIONED.replace(
        "ROOT r = s32[2] negate(s)",
        "c = s32[3] constant({1, 2, 3}) ROOT r = s32[3] negate(c)",
    );
    let folder = pair("result", GLOBAL, &part);
    let (code, text) = conform(&folder, "--random 1");
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("E0511"), "{text}");
    assert!(text.contains("the sharding of the result (s32[8] as s32[3]) is unknown"), "{text}");
    let global = GLOBAL.replace("negate(j)", "reverse(j), dimensions={0}");
    let stated = PARTITIONED.replace("negate(s)", "negate(s), sharding={devices=[4]<=[4]}");
    let folder = pair("stated", &global, &stated);
    assert_eq!(conform(&folder, "--random 1").0, 1);
    let more = PARTITIONED
        .replace("x = s32[2] parameter(0)", "y = s32[] parameter(1) x = s32[2] parameter(0)");
    let folder = pair("count", GLOBAL, &more);
    let (code, text) = conform(&folder, "--random 1");
    assert_eq!(code, 2);
    assert!(text.contains("the program has 1 parameter, the partitioned module 2"), "{text}");
}

#[test]
fn a_result_without_a_sharding_has_one_that_fits() {
    // Axes of equal size: the partitioner may divide dimension 0 along either.
    let global = r#"HloModule g, frontend_attributes={xla.sdy.meshes={m = #sdy.mesh<["a"=2, "b"=2]>}}
ENTRY e { x = f32[4,6] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  w = f32[6,4] parameter(1), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  d = f32[4,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT r = f32[4,4] negate(d) }"#;
    let part = "HloModule p, num_partitions=4
ENTRY e { x = f32[2,6] parameter(0) w = f32[6,2] parameter(1)
  d = f32[2,2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT r = f32[2,2] negate(d) }";
    let folder = pair("open", global, part);
    let (code, text) = conform(&folder, "--random 1");
    assert_eq!(code, 0, "{text}");
    let folder = pair("open-wrong", global, &part.replace("negate(d)", "abs(d)"));
    let (code, text) = conform(&folder, "--random 1");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("the sharding of 1 arrays of the result is not stated"), "{text}");
}

#[test]
fn errors_name_the_module_they_are_in() {
    let stuck = PARTITIONED.replace(
        "collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}",
        "custom-call(x), custom_call_target=\"unknown\"",
    );
    let folder = pair("named", GLOBAL, &stuck);
    let (code, text) = conform(&folder, "--random 1");
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("--> p:3:"), "{text}");
    let global =
        GLOBAL.replace("[{\\\"a\\\"}]>]>\",xla.sdy.manual", "[{\\\"b\\\"}]>]>\",xla.sdy.manual");
    let folder = pair("global", &global, PARTITIONED);
    let (code, text) = conform(&folder, "--random 1");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("the mesh has no axis with the name at character 33"), "{text}");
    assert!(text.contains("--> g:6:"), "{text}");
}

#[test]
fn programs_of_the_corpus_agree_with_their_partitioned_modules() {
    let Some(corpus) = std::env::var_os("ETALON_CORPUS").map(PathBuf::from) else { return };
    let corpus = corpus.join("spmd");
    let mut names: Vec<String> = std::fs::read_dir(&corpus)
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            name.strip_suffix(".global.hlo").map(str::to_owned)
        })
        .collect();
    names.sort();
    assert!(!names.is_empty());
    let folder = Folder::new("conform-corpus");
    for name in names {
        let [global, partitioned, arrays] = ["global.hlo", "hlo", "npz"]
            .map(|end| corpus.join(format!("{name}.{end}")).display().to_string());
        let line = format!("conform --spmd {global} {partitioned} --input {arrays}");
        expect(&folder.etalon(&line), 0, "8 devices: ", "");
    }
}
