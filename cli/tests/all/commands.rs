//! Options, exit codes, stdin and output files, which the files of `tests/cli` cannot test.
use crate::support::{Folder, expect};
use std::process::{Command, Stdio};

const ADD: &str = "HloModule m\nENTRY e { x = s32[2] parameter(0) ROOT r = s32[2] add(x, x) }\n";
const SEVEN: &str = "HloModule m\nENTRY e { ROOT c = s32[2] constant({7, 8}) }\n";

#[test]
fn results_are_arguments_again() {
    let folder = Folder::new("run");
    folder.write("add.hlo", ADD);
    folder.write("seven.hlo", "HloModule m\nENTRY e { c = s32[2] constant({7, 8}) ROOT t = (s32[2], s32[2]) tuple(c, c) }");
    expect(&folder.etalon("run seven.hlo --output seven.npz"), 0, "", "");
    expect(&folder.etalon("run add.hlo --input seven.npz"), 2, "", "E0603");
    let arrays = std::fs::File::open(folder.0.join("seven.npz")).unwrap();
    let mut arrays = hlo::literal::npz::read(arrays).unwrap();
    assert_eq!(arrays.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(), ["out0", "out1"]);
    let value =
        arrays.remove(0).to_literal(&hlo::ArrayShape::new(hlo::ElementType::S32, vec![2])).unwrap();
    let to = std::fs::File::create(folder.0.join("in.npz")).unwrap();
    hlo::literal::npz::write(to, [("in0".to_owned(), &value)]).unwrap();
    expect(&folder.etalon("run add.hlo --input in.npz"), 0, "s32[2] {14, 16}", "");
}

#[test]
fn missing_arguments_are_named() {
    let folder = Folder::new("missing");
    folder.write("add.hlo", ADD);
    expect(&folder.etalon("run add.hlo"), 2, "", "error[E0602]");
    expect(&folder.etalon("run add.hlo"), 2, "", "--random SEED");
    let first = folder.etalon("run add.hlo --random 5");
    expect(&first, 0, "s32[2] {", "");
    assert_eq!(first.stdout, folder.etalon("run add.hlo --random 5").stdout);
}

/// Files of arguments are read only as far as the module's parameters need them.
#[test]
fn large_and_endless_files_are_refused_at_once() {
    let folder = Folder::new("bomb");
    folder.write("add.hlo", ADD);
    let zeros = hlo::ArrayShape::new(hlo::ElementType::U8, [1 << 26].as_slice());
    let (zeros, two) = (hlo::Literal::zeros(zeros), hlo::Literal::from_slice(&[2], &[7i32, 8]));
    let write = |name: &str, arrays: &[(&str, &hlo::Literal)]| {
        let to = std::fs::File::create(folder.0.join(name)).unwrap();
        let arrays = arrays.iter().map(|&(name, array)| (name.to_owned(), array));
        hlo::literal::npz::write(to, arrays).unwrap();
    };
    write("bomb.npz", &[("in0", &zeros)]);
    write("other.npz", &[("unused", &zeros), ("in0", &two)]);
    let bomb = folder.etalon("run add.hlo --input bomb.npz");
    expect(&bomb, 2, "", "67108864 bytes; at most 8 bytes are expected");
    expect(&folder.etalon("run add.hlo --input other.npz"), 0, "s32[2] {14, 16}", "");
    for file in ["/dev/zero", "0=/dev/zero", "/dev/null", "0=/dev/null"] {
        let refused = folder.etalon(&format!("run add.hlo --input {file}"));
        expect(&refused, 2, "", "error[E0603]");
    }
}

#[test]
fn exit_codes_depend_on_the_kind_of_error() {
    let folder = Folder::new("codes");
    folder.write("wrong.hlo", "HloModule m\nENTRY e { ROOT c = s32[2] negat(c) }");
    folder.write("elided.hlo", "HloModule m\nENTRY e { ROOT c = s32[2] constant({...}) }");
    folder.write("seven.hlo", SEVEN);
    expect(&folder.etalon("check wrong.hlo"), 1, "", "wrong.hlo:2:");
    expect(&folder.etalon("check none.hlo"), 2, "", "error[E0601]: none.hlo");
    expect(&folder.etalon("check none.hlo wrong.hlo none.hlo"), 1, "", "E0601");
    expect(&folder.etalon("check"), 2, "", "Usage");
    expect(&folder.etalon("run elided.hlo"), 3, "", "E0403");
    expect(
        &folder.etalon("run seven.hlo --fuel 0"),
        1,
        "",
        "error[E0404]: out of fuel after 0 steps\n",
    );
    // Constants are part of the module and take no memory of the run.
    expect(&folder.etalon("run seven.hlo --max-memory 1"), 0, "s32[2] {7, 8}", "");
    folder.write("add.hlo", ADD);
    expect(&folder.etalon("run add.hlo --random 1 --max-memory 1"), 1, "", "E0405");
    expect(&folder.etalon("explain nothing-like-it"), 2, "", "E0605");
    expect(&folder.etalon("explain e311"), 2, "", "the nearest numbers are E0303 and E0401; ");
    expect(&folder.etalon("explain E9999"), 2, "", "help: the nearest number is E0999; ");
    // A page that `explain reduce` refers to.
    expect(&folder.etalon("explain fold"), 0, "fold\n\nFolds: ", "");
    for number in ["E0101", "e0301", "E0402", "E0601", "dot", "cross-replica-sum"] {
        expect(&folder.etalon(&format!("explain {number}")), 0, "\n", "");
    }
}

#[test]
fn traces_profiles_and_measurements() {
    let folder = Folder::new("inside");
    folder.write("add.hlo", ADD);
    let run = folder.etalon("run add.hlo --random 1 --trace t.json --profile");
    expect(&run, 0, "s32[2] {", "by instruction");
    let trace: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.0.join("t.json")).unwrap()).unwrap();
    let names: Vec<_> =
        trace["traceEvents"].as_array().unwrap().iter().map(|e| &e["name"]).collect();
    // A parameter has its value before the run.
    assert_eq!(names, ["r"]);
    let bench = folder.etalon("bench add.hlo --iterations 3 --json");
    expect(&bench, 0, "{", "");
    let measured: serde_json::Value = serde_json::from_slice(&bench.stdout).unwrap();
    assert_eq!(measured["runs_s"].as_array().unwrap().len(), 3);
    // Its arguments and its result.
    assert_eq!(measured["peak_bytes"], 16);
}

#[test]
fn modules_are_read_from_stdin_and_printed_in_place() {
    let folder = Folder::new("print");
    expect(&folder.with_input("run -", SEVEN), 0, "s32[2] {7, 8}", "");
    expect(&folder.with_input("check -", "HloModule"), 1, "", "<stdin>:1:");
    folder.write("add.hlo", ADD);
    expect(&folder.etalon("print add.hlo --in-place"), 0, "", "");
    let printed = folder.etalon("print add.hlo");
    expect(&printed, 0, "ROOT %r", "");
    assert_eq!(std::fs::read(folder.0.join("add.hlo")).unwrap(), printed.stdout);
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
    // A module that does not parse is unchanged.
    folder.write("add.hlo", "HloModule m {");
    expect(&folder.etalon("print add.hlo --in-place"), 1, "", "add.hlo:1:");
    assert_eq!(std::fs::read_to_string(folder.0.join("add.hlo")).unwrap(), "HloModule m {");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let folder = Folder::new("pipe");
    folder.write("add.hlo", ADD);
    let mut child = Command::new(env!("CARGO_BIN_EXE_etalon"))
        .args(["print", "add.hlo"])
        .current_dir(&folder.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let folder = Folder::new("full");
    folder.write("seven.hlo", SEVEN);
    for arguments in ["--help", "run --help", "--version", "explain", "run seven.hlo"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_etalon"));
        command.args(arguments.split(' ')).current_dir(&folder.0).stdout(full);
        expect(&command.output().unwrap(), 2, "", "error[E0601]: <stdout>: No space left");
    }
}

/// The limit leaves no memory for the stack of a thread.
#[cfg(target_os = "linux")]
#[test]
fn a_system_without_threads_is_no_bug() {
    let folder = Folder::new("threads");
    folder.write("seven.hlo", SEVEN);
    let program = env!("CARGO_BIN_EXE_etalon");
    for line in [
        "run seven.hlo",
        "run seven.hlo --random 1 --time-limit 60",
        "conform seven.hlo --backend reference",
        "conform seven.hlo --backend-command 'true {hlo} {out.npz}'",
        "test seven.hlo",
    ] {
        for limit in [100_000, 130_000, 160_000] {
            let script = format!("ulimit -v {limit}; exec '{program}' {line}");
            let output = Command::new("sh").args(["-c", &script]).current_dir(&folder.0).output();
            let output = output.unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(!stderr.contains("bug in Etalon"), "{line}: {stderr}");
            assert_ne!(output.status.code(), Some(4), "{line}: {stderr}");
            // What the system refuses is named.
            let refused = stderr.contains("Resource temporarily unavailable");
            assert!(
                !refused || stderr.contains("thread") || stderr.contains("started"),
                "{stderr}"
            );
        }
    }
}

#[test]
fn tests_are_counted_and_listed() {
    let folder = Folder::new("test");
    folder.write("add.hlo", &format!("{ADD}// in: s32[2] {{1, 2}}\n// out: s32[2] {{2, 4}}\n// -----\n{SEVEN}// out: s32[2] {{7, 9}}\n"));
    let output = folder.etalon("test . --json report.json");
    expect(&output, 1, "1 agree, 1 differ", "");
    expect(
        &output,
        1,
        "engine exact: 1 of 2 elements differ\nworst: result 0 at [1]: found s32[] 8, expected s32[] 9",
        "",
    );
    let json = std::fs::read_to_string(folder.0.join("report.json")).unwrap();
    assert_eq!(json.matches("\"outcome\"").count(), 2, "{json}");
    std::fs::remove_file(folder.0.join("add.hlo")).unwrap();
    expect(&folder.etalon("test ."), 2, "0 agree", "no tests found");
}

#[test]
fn a_test_without_an_end_fails_in_time() {
    let folder = Folder::new("timed");
    let loop_ = "while(z), condition={ p = s32[] parameter(0) ROOT t = pred[] constant(true) }, body={ ROOT p = s32[] parameter(0) }";
    let text = format!(
        "HloModule forever\nENTRY e {{ z = s32[] constant(0) ROOT r = s32[] {loop_} }}\n// out: s32[] 0\n// -----\n{ADD}// in: s32[2] {{1, 2}}\n// out: s32[2] {{2, 4}}\n"
    );
    folder.write("cases.hlo", &text);
    let test = folder.etalon("test cases.hlo --time-limit 0.5");
    expect(&test, 1, "error[E0412]: out of time after 0.5 s", "");
    expect(&test, 1, "1 agree", "");
    // A module with a recorded result.
    std::fs::remove_file(folder.0.join("cases.hlo")).unwrap();
    folder.write("one.hlo", "HloModule m\nENTRY e { ROOT z = s32[] constant(0) }\n");
    expect(&folder.etalon("run one.hlo --output forever.npz"), 0, "", "");
    let (first, _) = text.split_once("// out").unwrap();
    folder.write("forever.hlo", first);
    expect(&folder.etalon("test forever.hlo --time-limit 0.05"), 1, "E0412", "");
}

/// Reading a module takes memory and time of the run: the file may have no end.
#[test]
fn limits_hold_while_a_module_is_read() {
    let folder = Folder::new("long");
    folder.write("blank.hlo", &format!("HloModule m\n{}", " ".repeat(1 << 24)));
    let run = folder.etalon("run blank.hlo --max-memory 1M");
    expect(&run, 1, "", "error[E0405]: blank.hlo: the module has more than 16777216 bytes");
    expect(
        &folder.etalon("run blank.hlo --max-memory 17M"),
        1,
        "",
        "the module has no computations",
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_etalon"));
    command.args(["run", "-", "--time-limit", "0.1"]).stdin(Stdio::piped());
    let mut waiting = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Nothing is written, and the pipe stays open.
    let _open = waiting.stdin.take();
    expect(&waiting.wait_with_output().unwrap(), 1, "", "error[E0412]: out of time after 0.1 s");
}

#[test]
fn a_malformed_file_does_not_stop_the_others() {
    let folder = Folder::new("unreadable");
    let good = format!("{ADD}// in: s32[2] {{1, 2}}\n// out: s32[2] {{2, 4}}\n");
    folder.write("good.hlo", &good);
    std::fs::write(folder.0.join("bad.hlo"), b"HloModule \xff").unwrap();
    std::fs::write(folder.0.join("command.hlo"), b"// RUN: etalon check %\n\xff").unwrap();
    let output = folder.etalon("test .");
    expect(&output, 1, "1 agree, 0 differ, 1 failed", "");
    expect(&output, 1, "./bad.hlo: error[E0606]: ./bad.hlo: ", "");
    expect(&folder.etalon("test command.hlo"), 1, "E0606", "");
}

#[cfg(not(feature = "mpi"))]
#[test]
fn several_processes_need_mpi() {
    let folder = Folder::new("processes");
    folder.write("seven.hlo", SEVEN);
    let started = |count: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_etalon"));
        command.args(["run", "seven.hlo"]).current_dir(&folder.0);
        command.env("OMPI_COMM_WORLD_SIZE", count).output().unwrap()
    };
    expect(&started("4"), 2, "", "error[E0609]: 4 processes were started together");
    expect(&started("1"), 0, "s32[2] {7, 8}", "");
}
