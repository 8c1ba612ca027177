//! `etalon blame`: reports, exit codes, and the file of the instruction alone.
use crate::support::{Folder, expect};
use std::process::{Command, Output};

const MODULE: &str = "HloModule m
ENTRY e {
  x = f32[3] parameter(0)
  s = f32[3] sine(x)
  p = f32[3] multiply(s, x)
  ROOT r = f32[3] subtract(p, s)
}
// in: f32[3] {1, 2, 3}
";

/// A backend that adds where it should multiply.
const WRONG: &str = "sed 's/ multiply(/ add(/' \"$2\" > \"$2.wrong\" && \"$1\" run \"$2.wrong\" --input \"$3\" --output \"$4\"";

fn wrong(folder: &Folder, options: &[&str]) -> Output {
    folder.write("wrong.sh", WRONG);
    let etalon = env!("CARGO_BIN_EXE_etalon");
    let backend = format!("sh wrong.sh {etalon} {{hlo}} {{in.npz}} {{out.npz}}");
    let script = folder.0.join("wrong.sh").display().to_string();
    let backend = backend.replace("wrong.sh", &script);
    let mut command = Command::new(etalon);
    command.current_dir(&folder.0).args(["blame", "m.hlo", "--backend-command", &backend]);
    command.args(options).output().unwrap()
}

#[test]
fn the_instruction_is_shown_in_its_line() {
    let folder = Folder::new("blame-line");
    folder.write("m.hlo", MODULE);
    let output = wrong(&folder, &["--output", "alone.hlo"]);
    expect(
        &output,
        1,
        "wrong: e/p\n  multiply f32[3]\n  operand 0: s: f32[3], at the worst element",
        "m.hlo:5:",
    );
    expect(
        &output,
        1,
        "inherited: e/r\n3 instructions checked, 1 wrong; the result differs\n",
        "multiply(s, x)",
    );
    // The instruction alone is a file test.
    expect(&folder.etalon("test alone.hlo"), 0, "1 agree", "");
    expect(&wrong(&folder, &["-o", "m.hlo"]), 2, "", "error[E0620]: m.hlo exists");
    let json = wrong(&folder, &["--json"]);
    expect(&json, 1, r#""path": "e/p""#, "");
}

#[test]
fn an_engine_agrees() {
    let folder = Folder::new("blame-engine");
    folder.write("m.hlo", MODULE);
    let output = folder.etalon("blame m.hlo --backend reference");
    expect(&output, 0, "3 instructions checked, 0 wrong; the result agrees\n", "");
    expect(&folder.etalon("blame m.hlo --random 1"), 2, "", "--before");
}

#[test]
fn before_and_after_a_pass() {
    let folder = Folder::new("blame-pass");
    folder.write("m.hlo", MODULE);
    folder.write("same.hlo", &MODULE.replace("multiply(s, x)", "multiply(x, s)"));
    folder.write("wrong.hlo", &MODULE.replace("multiply(s, x)", "multiply(s, s)"));
    let output = folder.etalon("blame --before m.hlo --after same.hlo");
    expect(&output, 0, "the modules compute the same\n", "");
    let output = folder.etalon("blame --before m.hlo --after wrong.hlo");
    expect(&output, 1, "e/p differs from e/p: found", "wrong.hlo:5:");
    expect(&output, 1, "computed from: e/s\n", "multiply(s, s)");
}

#[test]
fn a_planted_error_is_found() {
    let folder = Folder::new("blame-planted");
    folder.write("m.hlo", MODULE);
    let output = folder.etalon("blame m.hlo --backend planted:multiply");
    expect(&output, 1, "wrong: e/p\n  multiply f32[3]\n", "m.hlo:5:");
    // `sin` is the beginning of `sine`.
    expect(&folder.etalon("blame m.hlo --backend planted:sin"), 1, "wrong: e/s\n", "m.hlo:4:");
    let output = folder.etalon("blame m.hlo --backend planted:multipy");
    expect(&output, 2, "", "error[E0622]: there is no op `multipy`");
    expect(&output, 2, "", "did you mean `planted:multiply`?");
    expect(&folder.etalon("blame m.hlo --backend planted:"), 2, "", "E0622");
    let output = folder.etalon("conform m.hlo --backend planted:sine");
    expect(&output, 1, "m.hlo::m: differs: 1 of 3 elements differ", "");
    let output = folder.etalon("reduce m.hlo --backend planted:sine -o small.hlo");
    expect(&output, 0, "small.hlo: 4 instructions became 2", "");
    let output = folder.etalon("fuzz --backend planted:add --count 20");
    expect(&output, 1, "differ", "");
}
