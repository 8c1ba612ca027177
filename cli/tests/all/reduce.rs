//! `etalon reduce`: the file of the result, the command that decides, and errors.
use crate::support::{Folder, expect};
use std::process::{Command, Output};

const MODULE: &str = "HloModule m
twice { a = f32[8] parameter(0) ROOT b = f32[8] add(a, a) }
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] call(x), to_apply=twice
  z = f32[8] multiply(y, x), metadata={op_name=\"z\"}
  ROOT r = f32[8] sine(z)
}
// in: f32[8] {1, 2, 3, 4, 5, 6, 7, 8}
";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(&format!("reduce-{name}"));
    folder.write("m.hlo", MODULE);
    folder
}

/// Runs `etalon reduce` with a command, which has blanks.
fn reduce(folder: &Folder, command: &str, rest: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_etalon"))
        .args(["reduce", "m.hlo", "--command", command])
        .args(rest)
        .current_dir(&folder.0)
        .output()
        .unwrap()
}

#[test]
fn the_result_is_a_file_test() {
    let folder = folder("result");
    let output = reduce(&folder, "test -s {in.npz} && grep -q multiply {hlo}", &[]);
    expect(&output, 0, "m.reduced.hlo: 6 instructions became 2, ", "");
    let text = std::fs::read_to_string(folder.0.join("m.reduced.hlo")).unwrap();
    assert!(text.contains("multiply(") && text.contains("// in: f32[] 0\n"), "{text}");
    assert!(text.ends_with("// out: f32[] 0\n"), "{text}");
    expect(&folder.etalon("test m.reduced.hlo"), 0, "", "");
    let files = std::fs::read_dir(&folder.0).unwrap().count();
    assert_eq!(files, 2, "the module and the result");
}

#[test]
fn files_are_not_replaced_unasked() {
    let folder = folder("exists");
    folder.write("m.reduced.hlo", "mine");
    let command = "grep -q multiply {hlo}";
    expect(&reduce(&folder, command, &[]), 2, "", "error[E0620]: m.reduced.hlo");
    expect(
        &reduce(&folder, command, &["--output", "m.hlo", "--force"]),
        2,
        "",
        "error[E0620]: m.hlo",
    );
    assert_eq!(std::fs::read_to_string(folder.0.join("m.hlo")).unwrap(), MODULE);
    expect(&reduce(&folder, command, &["--force"]), 0, "m.reduced.hlo", "");
    let text = std::fs::read_to_string(folder.0.join("m.reduced.hlo")).unwrap();
    let stdout = reduce(&folder, command, &["-o", "-"]);
    expect(&stdout, 0, &text, "-: ");
}

#[test]
fn there_is_something_to_reduce() {
    let folder = folder("nothing");
    expect(
        &reduce(&folder, "grep -q tanh {hlo}", &[]),
        2,
        "",
        "error[E0621]: the module is not interesting",
    );
    expect(
        &reduce(&folder, "test -s {hlo}", &[]),
        2,
        "",
        "error[E0621]: a module of a single constant",
    );
    expect(&reduce(&folder, "true", &[]), 2, "", "error[E0706]");
    expect(&folder.etalon("reduce m.hlo --backend reference"), 2, "", "error[E0621]");
    expect(&folder.etalon("reduce m.hlo"), 2, "", "--command");
    assert!(!folder.0.join("m.reduced.hlo").exists());
}

/// The command finds the difference in each second run only.
#[test]
fn a_difference_that_does_not_show_in_each_run() {
    let folder = folder("flaky");
    let flaky =
        "n=$(cat n || echo 0); echo $((n + 1)) > n; test $((n % 2)) = 0 && grep -q multiply {hlo}";
    let output = reduce(&folder, flaky, &["--repeat", "auto"]);
    let shows = "shows in 10 of 20 runs; each candidate runs up to 7 times";
    expect(&output, 0, "m.reduced.hlo: 6 instructions became 2, ", shows);
}

#[test]
fn a_time_limit_and_a_measured_rate() {
    let folder = folder("limits");
    let grep = "grep -q multiply {hlo}";
    let output = reduce(&folder, grep, &["--repeat", "auto", "--total-time-limit", "0.000001"]);
    expect(&output, 0, "6 instructions became", "the time limit ended the search");
    expect(&output, 0, "", "shows in 20 of 20 runs; each candidate runs up to 1 times");
    expect(&reduce(&folder, grep, &["--repeat", "0"]), 2, "", "expected a number or `auto`");
}
