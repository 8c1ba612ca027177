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
    expect(&output, 0, "no error: 3 instructions checked, 0 wrong; the result agrees\n", "");
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

/// The id of the instruction is beyond those of the entry.
#[test]
fn a_difference_inside_a_fusion() {
    let folder = Folder::new("blame-fusion");
    let module = |function: &str| {
        format!(
            "HloModule m\nf {{\n  p = f32[4] parameter(0)\n  t = f32[4] {function}(p)\n  ROOT r = f32[4] negate(t)\n}}\nENTRY e {{\n  a = f32[4] parameter(0)\n  ROOT f = f32[4] fusion(a), kind=kLoop, calls=f\n}}\n"
        )
    };
    folder.write("before.hlo", &module("tanh"));
    folder.write("after.hlo", &module("logistic"));
    let output = folder.etalon("blame --before before.hlo --after after.hlo --random 1");
    expect(&output, 1, "e/f/r differs from e/f/r", "after.hlo:5:");
    folder.write(
        "other.hlo",
        &module("tanh").replace("f32[4] p", "f32[5] p").replace("f32[4]", "f32[5]"),
    );
    let output = folder.etalon("blame --before before.hlo --after other.hlo --random 1");
    expect(&output, 1, "", "parameter 0 is f32[4] in one module and f32[5] in the other");
}

/// The same bits before a sort leave its order no choice.
#[test]
fn decisions_before_the_difference_are_closed() {
    let folder = Folder::new("blame-anchors");
    let module = |last: &str| {
        format!(
            "HloModule m\nless {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = pred[] compare(a, b), direction=LT\n}}\nENTRY e {{\n  x = f32[9] parameter(0)\n  y = f32[9] tanh(x)\n  s = f32[9] sort(y), dimensions={{0}}, to_apply=less\n  a = f32[9] exponential(s)\n  {last}\n}}\n"
        )
    };
    folder.write("before.hlo", &module("ROOT r = f32[9] multiply(a, a)"));
    folder.write("after.hlo", &module("n = f32[9] add(a, s)\n  ROOT r = f32[9] multiply(a, n)"));
    let output = folder.etalon("blame --before before.hlo --after after.hlo --random 1");
    expect(&output, 1, "the modules differ\n", "");
    folder.write("half.hlo", &module("h = f32[9] add(s, s)\n  ROOT r = f32[9] exponential(h)"));
    let output = folder.etalon("blame --before before.hlo --after half.hlo --random 1");
    expect(&output, 0, "within the bound of rounding errors\n", "");
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
