//! Manners of the command: what it says of wrong usage, names of files that it chooses, and JSON.
use crate::support::{Folder, expect};
use std::process::Command;

const MODULE: &str = "HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] log(x), metadata={op_name=\"jit(f)/layer/log\"}
  ROOT r = f32[2] add(y, y), metadata={op_name=\"jit(f)/add\"}
}
";

fn folder() -> Folder {
    let folder = Folder::new("manners");
    folder.write("m.hlo", MODULE);
    folder
}

#[test]
fn all_alternatives_of_a_missing_option_are_named() {
    let folder = folder();
    for (line, named) in [
        ("conform m.hlo --random 1", ["--backend <", "--backend-command <", "--spmd <"]),
        ("conform --backend fast", ["<PATHS|", "--suite <", "--merge <"]),
        ("blame m.hlo", ["--backend <", "--backend-server <", "--before <"]),
        ("blame --backend fast", ["<FILE|", "--before <", "blame [OPTIONS] --before"]),
        ("reduce m.hlo", ["--backend <", "--command <", "reduce [OPTIONS] --command"]),
        ("fuzz", ["--backend <", "--backend-command <", "--backend-server <"]),
    ] {
        for name in named {
            expect(&folder.etalon(line), 2, "", name);
        }
    }
}

#[test]
fn a_graph_without_a_name_stands_beside_the_module() {
    let folder = folder();
    expect(&folder.etalon("graph m.hlo"), 0, "", "wrote m.html: open it in a browser");
    expect(&folder.etalon("graph m.hlo"), 2, "", "E0620");
    expect(&folder.etalon("-q graph m.hlo --force"), 0, "", "");
    expect(&folder.etalon("graph m.hlo --format dot"), 0, "", "wrote m.dot");
    expect(&folder.etalon("graph --devices m.hlo"), 0, "", "wrote m.svg");
    expect(&folder.etalon("graph m.hlo -o -"), 0, "<!doctype html>", "");
    expect(&folder.etalon("graph --devices m.hlo -o -"), 0, "<svg ", "");
    expect(&folder.etalon("graph --devices m.hlo -o - --format dot"), 0, "graph", "");
    expect(&folder.with_input("graph -", MODULE), 0, "", "wrote module.html");
}

#[test]
fn check_counts_several_files_and_skips_what_is_no_module() {
    let folder = folder();
    folder.write("bad.hlo", "HloModule bad\nENTRY e { x = f32[] nothing() }");
    folder.write("compile_options.pb", "\u{8}\u{1}\u{10}\u{2}\u{18}\u{3}\u{20}\u{4}");
    expect(&folder.etalon("check ."), 1, "m.hlo: ok", "1 ok, 1 wrong\n");
    let one = folder.etalon("check m.hlo");
    expect(&one, 0, "m.hlo: ok", "");
    assert!(one.stderr.is_empty());
}

#[test]
fn results_plans_and_differences_are_json() {
    let folder = folder();
    let json = |line: &str, code: i32| -> serde_json::Value {
        let output = folder.etalon(line);
        expect(&output, code, "", "");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    folder.etalon("run m.hlo --random 1 -o a.npz");
    folder.etalon("run m.hlo --random 2 -o b.npz");
    let run = json("run m.hlo --input 0=a.npz --json", 0);
    assert_eq!(run["results"][0]["shape"], "f32[2]");
    // The arguments are the logarithms of numbers below 1.
    assert_eq!(run["results"][0]["value"][0], "-nan");
    let plan = json("plan m.hlo --json", 0);
    assert_eq!(plan["computations"][0]["steps"][0]["fuses"][0], "y");
    let diff = json("diff a.npz b.npz --json", 1);
    assert_eq!((&diff["differ"], &diff["arrays"][0]["wrong"]), (&1.into(), &2.into()));
    let cost = json("cost m.hlo --json", 0);
    assert_eq!(cost["scopes"][0]["name"], "jit(f)");
    expect(&folder.etalon("cost m.hlo --by scope"), 0, "1  jit(f)/layer\n", "");
    expect(&folder.etalon("cost m.hlo --by opcode"), 0, "1  log\n", "");
}

#[test]
fn a_folder_is_not_a_file() {
    let folder = folder();
    let help = "help: this command takes one file: name one in the folder";
    for line in ["plan .", "graph . -o g.html", "equal m.hlo .", "convert . m.pb"] {
        expect(&folder.etalon(line), 2, "", help);
    }
    expect(&folder.etalon("check ."), 0, "m.hlo: ok", "");
}

#[test]
fn files_may_be_standard_input_and_folders_are_no_standard_output() {
    let folder = folder();
    let test = MODULE.to_owned() + "// in: f32[2] {1, 1}\n// out: f32[2] {0, 0}\n";
    expect(&folder.with_input("test -", &test), 0, "1 agree", "");
    expect(&folder.with_input("passes -", MODULE), 0, "1 file, 1 state", "");
    folder.etalon("run m.hlo --random 1 -o a.npz");
    folder.etalon("run m.hlo --random 1 -o b.npy");
    let array = Command::new("sh")
        .args(["-c", "\"$0\" diff b.npy - < b.npy", env!("CARGO_BIN_EXE_etalon")])
        .current_dir(&folder.0)
        .output()
        .unwrap();
    expect(&array, 0, "1 array agrees", "");
    expect(&folder.with_input("diff a.npz -", "text"), 2, "", "-: not a file of arrays");
    for line in [
        "fuzz --backend fast -o -",
        "campaign - --backend fast",
        "suite export -",
        "man -o -",
        "passes m.hlo -o -",
        "conform m.hlo --backend fast -o -",
    ] {
        expect(
            &folder.etalon(line),
            2,
            "",
            "`-` is standard output, and several files are written",
        );
    }
    assert!(!folder.0.join("-").exists());
}

#[test]
fn what_has_no_modules_is_said_to_have_none() {
    let folder = folder();
    folder.write("empty.hlo", "");
    expect(&folder.etalon("equal empty.hlo"), 2, "", "empty.hlo has no modules");
    expect(&folder.etalon("equal empty.hlo"), 2, "", "help: name a file with modules");
    folder.write("typo.hlo", &MODULE.replace("log(", "lgo("));
    expect(&folder.etalon("passes typo.hlo"), 3, "--> typo.hlo (module 1):4:14", "");
    std::fs::create_dir(folder.0.join("none")).unwrap();
    expect(&folder.etalon("test none"), 2, "", "no tests found: they are in .hlo and .mlir files");
    let line = "conform none --backend fast --random 1";
    expect(&folder.etalon(line), 2, "", "no cases found: modules and tests are .hlo files");
}

#[test]
fn ops_are_explained_by_the_names_of_other_systems() {
    let folder = folder();
    for (name, title) in [
        ("ConvGeneralDilated", "convolution (what `ConvGeneralDilated` becomes in HLO)"),
        ("stablehlo.dot_general", "dot (what `stablehlo.dot_general` becomes in HLO)"),
        ("RecvDone", "recv-done (what"),
    ] {
        expect(&folder.etalon(&format!("explain {name}")), 0, title, "");
    }
    expect(&folder.etalon("explain broadc"), 2, "", "did you mean `broadcast`?");
    let foo = folder.etalon("explain foo");
    expect(&foo, 2, "", "E0605");
    assert!(!String::from_utf8_lossy(&foo.stderr).contains("did you mean"));
}

#[test]
fn each_command_has_a_manual_page() {
    let folder = folder();
    expect(&folder.etalon("man run"), 0, ".TH etalon-run 1", "");
    expect(&folder.etalon("man fuz"), 2, "", "did you mean `fuzz`?");
    expect(&folder.etalon("man -o pages"), 0, "", "22 pages");
    let page = std::fs::read_to_string(folder.0.join("pages/etalon-graph.1")).unwrap();
    assert!(page.contains("etalon graph model.hlo"), "{page}");
    expect(&folder.etalon("completions bash"), 0, "reference exact fast planted:", "");
    expect(&folder.etalon("completions zsh"), 0, ":_etalon_backends'", "");
    expect(&folder.etalon("completions fish"), 0, "-r -F -a \"reference", "");
}

#[test]
fn cases_are_listed_without_a_backend() {
    let folder = folder();
    let output = folder.etalon("conform --suite smoke --case abs/f32/* --list");
    expect(&output, 0, "abs/f32/ordinary-values\n", "");
    expect(&folder.etalon("conform --list"), 2, "", "--suite");
}
