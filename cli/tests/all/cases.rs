//! `etalon conform` of single modules: custom calls, files of cases, arrays beside a module.
use crate::support::{Folder, expect};

const CALLS: &str = "HloModule m
ENTRY e { x = f32[2] parameter(0)
  a = f32[2] custom-call(x), custom_call_target=\"vendor.note\"
  ROOT r = f32[2] tanh(a) }
// in: f32[2] {1, 2}
";

/// The backend gets the calls, here one that refuses them, and Etalon their meaning.
#[test]
fn custom_calls_have_the_declared_meaning() {
    let folder = Folder::new("conform-calls");
    folder.write("m.hlo", CALLS);
    folder.write("calls.txt", "vendor.note = identity\n");
    folder.write("wrong.txt", "vendor.note = operand 1\n");
    folder.write("bad.txt", "vendor.note = what\n");
    let result = folder.0.join("out.npz");
    let backend = format!("grep -q vendor.note {{hlo}} && cp {} {{out.npz}}", result.display());
    let conform = |rest: &str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_etalon"))
            .args(["conform", "m.hlo", "--backend-command", &backend])
            .args(rest.split_whitespace())
            .current_dir(&folder.0)
            .output();
        output.unwrap()
    };
    folder.write(
        "tanh.hlo",
        &CALLS.replace("custom-call(x), custom_call_target=\"vendor.note\"", "copy(x)"),
    );
    expect(&folder.etalon("run tanh.hlo --input x=f32[2]{1,2} --output out.npz"), 0, "", "");
    expect(&conform("--custom-calls calls.txt"), 0, "1 agree", "");
    // Without the declaration Etalon does not know them.
    expect(&conform(""), 0, "1 skipped", "");
    let wrong = conform("--custom-calls wrong.txt");
    expect(&wrong, 1, "declares `vendor.note` as operand 1, and the call has 1 operand", "");
    expect(&conform("--custom-calls bad.txt"), 2, "", "error[E0615]");
}

#[test]
fn cases_that_are_not_good_are_written_with_their_arguments() {
    let folder = Folder::new("conform-output");
    let values: Vec<String> = (1..=200).map(|i| format!("0.{i:03}")).collect();
    let text = "HloModule m\nENTRY e { x = f32[200] parameter(0) ROOT r = f32[200] tanh(x) }\n";
    folder.write("a.hlo", &format!("{text}// in: f32[200] {{{}}}\n", values.join(", ")));
    let output = folder.etalon("conform --backend planted:tanh a.hlo --output bad");
    expect(&output, 1, "1 differ", "saved in bad/a--m.hlo");
    let saved = std::fs::read_to_string(folder.0.join("bad/a--m.hlo")).unwrap();
    assert!(saved.contains("0.2}") && saved.contains("// in: f32[200]"), "{saved}");
    expect(&folder.etalon("conform --backend planted:tanh bad/a--m.hlo"), 1, "1 differ", "");
    expect(
        &folder.etalon("conform --backend planted:tanh a.hlo --output bad"),
        1,
        "",
        "bad/a--m-2.hlo",
    );
}

#[test]
fn arrays_beside_a_module_are_its_arguments_if_they_are_called_so() {
    let folder = Folder::new("conform-beside");
    let text = "HloModule m\nENTRY e { x = s32[2] parameter(0) ROOT r = s32[2] negate(x) }\n// in: s32[2] {1, 2}\n";
    folder.write("a.hlo", text);
    let conform = || folder.etalon("conform --backend exact a.hlo");
    expect(&folder.etalon("run a.hlo --input x=s32[2]{3,4} --output a.npz"), 0, "", "");
    // It has `out0`, and no argument.
    expect(&conform(), 1, "", "a.hlo: the arguments are those of a.npz, not its `// in:`");
}
