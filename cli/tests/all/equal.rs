//! `etalon equal`: answers and exit codes.
use crate::support::{Folder, expect};
use std::process::{Command, Output};

fn equal(folder: &Folder, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_etalon"));
    command.current_dir(&folder.0).args(["equal", "a.hlo", "b.hlo"]).args(options).output().unwrap()
}

fn pair(name: &str, roots: [&str; 2]) -> Folder {
    let folder = Folder::new(name);
    for (file, root) in ["a.hlo", "b.hlo"].into_iter().zip(roots) {
        folder.write(file, &format!("ENTRY e {{ x = f32[3] parameter(0) {root} }}"));
    }
    folder
}

#[test]
fn a_sum_of_two_is_twice_the_number() {
    let twice = "c = f32[3] constant({2, 2, 2}) ROOT r = f32[3] multiply(x, c)";
    let folder = pair("equal-twice", ["ROOT r = f32[3] add(x, x)", twice]);
    expect(&equal(&folder, &[]), 0, "equal for every float argument, in exact arithmetic\n", "");
    expect(&equal(&folder, &["--json", "--seeds", "2"]), 0, "\"answer\":\"equal\"", "");
}

#[test]
fn a_difference_has_a_place() {
    let folder = pair("equal-not", ["ROOT r = f32[3] add(x, x)", "ROOT r = f32[3] multiply(x, x)"]);
    expect(&equal(&folder, &[]), 1, "different: out0, element 0, with seed 0", "");
}

#[test]
fn an_instruction_without_a_meaning_is_named() {
    let root = "c = f32[] constant(1) f = f32[3] rng(c, c), distribution=rng_normal ROOT r = f32[3] add(x, f)";
    let folder = pair("equal-open", [root, root]);
    expect(&equal(&folder, &[]), 3, "open: a.hlo: e/f: random numbers", "");
}

#[test]
fn other_results_are_an_error() {
    let folder = pair("equal-shape", ["ROOT r = f32[3] copy(x)", "ROOT r = f32[1,3] reshape(x)"]);
    expect(&equal(&folder, &[]), 1, "", "the modules have different results: f32[3] and f32[1,3]");
}

#[test]
fn one_file_may_have_both_modules() {
    let text =
        |root: &str| format!("HloModule m\n\nENTRY e {{ x = f32[3] parameter(0) {root} }}\n\n");
    let roots = [
        "a = f32[3] negate(x) ROOT r = f32[3] negate(a)",
        "ROOT r = f32[3] copy(x)",
        "ROOT r = f32[3] abs(x)",
    ];
    let folder = Folder::new("equal-one-file");
    folder.write("all.hlo", &roots.map(text).concat());
    let run = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_etalon"));
        command.current_dir(&folder.0).args(["equal", "all.hlo"]).args(options).output().unwrap()
    };
    expect(&run(&[]), 0, "equal for every float argument", "");
    expect(&run(&["--module", "3"]), 1, "different: out0", "");
    folder.write("all.hlo", &text(roots[0]));
    expect(&run(&[]), 2, "", "name a second file, or a file with two modules");
}

#[test]
fn comparisons_meet_equal_numbers() {
    let mask = |direction: &str| {
        format!(
            "c = f32[3] constant({{1.25, -2.5, 0.7}}) s = f32[3] multiply(x, c) a = f32[3] add(s, x) t = f32[3] add(a, c)
             u = f32[3] constant({{5, 7.5, -0.3}}) p = pred[3] compare(t, u), direction={direction} ROOT r = f32[3] select(p, x, c)"
        )
    };
    let folder = pair("equal-ties", [&mask("GT"), &mask("GT")]);
    let met = "2 of 2 comparisons of floats were also of equal ones\n";
    expect(&equal(&folder, &["--whole"]), 0, met, "");
    let met = "\"ties\":{\"all\":2,\"met\":2}";
    expect(&equal(&folder, &["--whole", "--json"]), 0, met, "");
    // What both compute alike is not compared otherwise.
    let same = "both modules compute all results by the same instructions\n";
    expect(&equal(&folder, &[]), 0, same, "");
    expect(&equal(&folder, &["--json"]), 0, "\"elements\":0", "");
    let folder = pair("equal-ties", [&mask("GT"), &mask("GE")]);
    expect(&equal(&folder, &[]), 1, "different: out0", "");
}

#[test]
fn the_time_for_draws_is_said() {
    let root = "a = f32[3] add(x, x) ROOT r = f32[3] maximum(a, x)";
    let folder = pair("equal-time", [root, root]);
    let found = equal(&folder, &["--draw-time", "0.000001"]);
    expect(&found, 0, "0.000001 seconds were over after 1 draw: `--draw-time` gives more", "");
    let found = equal(&folder, &["--draw-time", "0.000001", "--json"]);
    expect(&found, 0, "\"time_over\":true", "");
}
