//! What commands write: files as a whole, none that the user did not name, and never an input.
use crate::support::{Folder, expect};
use std::process::{Command, Output};

const MODULE: &str =
    "HloModule m\nENTRY e { x = f32[5000] parameter(0) ROOT r = f32[5000] add(x, x) }\n";

/// Runs a script of the shell in which `etalon` is the command.
fn shell(folder: &Folder, script: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_etalon");
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("etalon() {{ '{program}' \"$@\"; }}; {script}")]);
    shell.current_dir(&folder.0).output().unwrap()
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("m.hlo", MODULE);
    folder
}

fn names(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(&folder.0).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Options that name an output of a run, of every writer.
const OUTPUTS: [&str; 7] = [
    "run m.hlo --random 1 --trace",
    "run m.hlo --random 1 --output",
    "run m.hlo --random 1 --dump-values",
    "bench m.hlo --iterations 1 -o",
    "graph m.hlo --format svg -o",
    "conform m.hlo --backend reference --random 1 --html",
    "conform m.hlo --backend reference --random 1 --json",
];

#[test]
fn named_files_are_replaced_and_inputs_are_not() {
    let folder = folder("outputs");
    std::fs::hard_link(folder.0.join("m.hlo"), folder.0.join("same.npz")).unwrap();
    for command in OUTPUTS {
        folder.write("old.npz", "old");
        expect(&folder.etalon(&format!("{command} old.npz")), 0, "", "");
        assert_ne!(std::fs::read(folder.0.join("old.npz")).unwrap(), b"old", "{command}");
        expect(
            &folder.etalon(&format!("{command} same.npz")),
            2,
            "",
            "error[E0620]: same.npz exists",
        );
        expect(&folder.etalon(&format!("{command} none/o.npz")), 2, "", "none/o.npz: No such file");
    }
    expect(
        &folder.etalon("run m.hlo --random 1 -o a.npz --trace a.npz"),
        2,
        "",
        "error[E0601]: a.npz",
    );
    assert_eq!(names(&folder), ["m.hlo", "old.npz", "same.npz"]);
    assert_eq!(std::fs::read_to_string(folder.0.join("same.npz")).unwrap(), MODULE);
}

#[test]
fn files_without_an_option_stay() {
    let folder = folder("kept");
    folder.write("old.hlo", "old");
    let help = "replace it with --force";
    expect(&folder.etalon("convert m.hlo old.hlo"), 2, "", help);
    assert_eq!(std::fs::read(folder.0.join("old.hlo")).unwrap(), b"old");
    expect(&folder.etalon("convert m.hlo m.hlo --force"), 2, "", "it is an input of the command");
    expect(&folder.etalon("convert m.hlo old.hlo --force"), 0, "", "");
    expect(&folder.etalon("check old.hlo"), 0, "ok", "");
    let input = shell(&folder, "etalon convert - m.hlo --force < m.hlo");
    expect(&input, 2, "", "error[E0620]: m.hlo exists");
}

#[test]
fn a_dash_is_standard_output() {
    let folder = folder("dash");
    let zip = |output: &Output| output.stdout.starts_with(b"PK");
    assert!(zip(&folder.etalon("run m.hlo --random 1 -o -")));
    assert!(zip(&folder.etalon("run m.hlo --random 1 --dump-values -")));
    assert!(zip(&folder.etalon("bench m.hlo --iterations 1 --output -")));
    for command in [
        "run m.hlo --random 1 --trace -",
        "conform m.hlo --backend reference --random 1 -v --json -",
        "test m.hlo --json -",
    ] {
        let output = folder.etalon(command);
        let mut values = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
        assert!(values.all(|value: Result<serde_json::Value, _>| value.is_ok()), "{output:?}");
    }
    let html = folder.etalon("conform m.hlo --backend reference --random 1 --html -");
    expect(&html, 0, "</html>", "1 agree");
    assert_eq!(names(&folder), ["m.hlo"]);
}

#[test]
fn pipes_devices_and_links_stay() {
    let folder = folder("pipes");
    let pipe = shell(
        &folder,
        "mkfifo p.npz; cat p.npz > read.npz & etalon run m.hlo --random 1 -o p.npz && wait && etalon diff read.npz read.npz",
    );
    expect(&pipe, 0, "", "");
    let appended = shell(
        &folder,
        "echo old > log; etalon graph m.hlo --format svg -o /dev/stdout >> log; head -n 1 log",
    );
    expect(&appended, 0, "old\n", "");
    let link = shell(
        &folder,
        "ln -s real.svg link.svg; etalon graph m.hlo -o link.svg && test -L link.svg && test -s real.svg",
    );
    expect(&link, 0, "", "");
    expect(&folder.etalon("run m.hlo --random 1 -o /dev/full"), 2, "", "the format is not known");
    let full = folder.etalon("graph m.hlo --format svg -o /dev/full");
    expect(&full, 2, "", "error[E0601]: /dev/full: No space left");
}

#[test]
fn closed_stdout_is_an_error() {
    let folder = folder("closed");
    for command in [
        "--help",
        "explain",
        "run m.hlo --random 1",
        "run m.hlo --random 1 -o -",
        "convert m.hlo -",
    ] {
        let closed = shell(&folder, &format!("etalon {command} >&-"));
        expect(&closed, 2, "", "error[E0601]: <stdout>: standard output is closed");
    }
    expect(&shell(&folder, "etalon run m.hlo --random 1 -o r.npz >&-"), 0, "", "");
}

#[test]
fn a_limit_of_sizes_is_an_error() {
    let folder = folder("limit");
    for name in ["o.npy", "o.npz", "o.safetensors"] {
        folder.write(name, "old");
        let limited =
            shell(&folder, &format!("ulimit -f 1; etalon run m.hlo --random 1 -o {name}"));
        expect(&limited, 2, "", &format!("error[E0601]: {name}: File too large"));
        assert_eq!(std::fs::read(folder.0.join(name)).unwrap(), b"old");
    }
    assert_eq!(names(&folder), ["m.hlo", "o.npy", "o.npz", "o.safetensors"]);
}

#[test]
fn a_small_stack_is_an_error() {
    let folder = folder("stack");
    let limited = shell(&folder, "ulimit -s 64; etalon run m.hlo --random 1");
    expect(
        &limited,
        2,
        "",
        "error: a stack of 64 KiB is too small; `ulimit -s 1024` allows enough\n",
    );
    expect(&shell(&folder, "ulimit -s 1024; etalon run m.hlo --random 1"), 0, "", "");
}

/// The signal comes during the run, whose trace has begun.
#[test]
fn signals_leave_the_old_file_alone() {
    let folder = Folder::new("signals");
    folder.write(
        "loop.hlo",
        "HloModule loop
        body { p = f32[8] parameter(0) ROOT s = f32[8] sine(p) }
        cond { p = f32[8] parameter(0) ROOT t = pred[] constant(true) }
        ENTRY e { p = f32[8] parameter(0) ROOT w = f32[8] while(p), condition=cond, body=body }",
    );
    for signal in ["INT", "TERM", "HUP", "KILL"] {
        folder.write("t.json", "old");
        let run = Command::new(env!("CARGO_BIN_EXE_etalon"))
            .args(["run", "loop.hlo", "--random", "1", "--trace", "t.json"])
            .args(["--dump-values", "values.npz", "--check-nan=all", "-v"])
            .current_dir(&folder.0)
            .stderr(std::process::Stdio::piped())
            .spawn();
        let mut run = run.unwrap();
        let mut errors = std::io::BufReader::new(run.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("compiled") {
            line.clear();
            std::io::BufRead::read_line(&mut errors, &mut line).unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        let process = run.id().to_string();
        // A shell in the background starts programs that ignore Ctrl-C.
        Command::new("kill").args(["-s", signal, &process]).status().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        run.kill().unwrap();
        run.wait().unwrap();
        assert_eq!(std::fs::read(folder.0.join("t.json")).unwrap(), b"old");
        assert_eq!(names(&folder), ["loop.hlo", "t.json"], "{signal}");
    }
}
