//! Ctrl-C: exit code 130, what was done so far, whole files or none, and no process that is left over.
#![cfg(unix)]
use crate::support::{Folder, expect};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const ENDLESS: &str = "HloModule endless
body { p = f32[8] parameter(0) ROOT s = f32[8] sine(p) }
cond { p = f32[8] parameter(0) ROOT t = pred[] constant(true) }
ENTRY e { p = f32[8] parameter(0) ROOT w = f32[8] while(p), condition=cond, body=body }";

/// A backend that takes its time, and has no result.
const SLOW: &str = "touch started; sleep 0.1; exit 3 # {hlo} {in.npz} {out.npz}";

/// Returns a module of a chain of instructions.
fn chain(length: usize) -> String {
    let mut text = String::from("HloModule m\nENTRY e {\n  x0 = f32[2] parameter(0)\n");
    for i in 1..length {
        let _ = writeln!(text, "  x{i} = f32[2] sine(x{})", i - 1);
    }
    let _ = writeln!(text, "  ROOT r = f32[2] cosine(x{})\n}}", length - 1);
    text
}

fn start(folder: &Folder, line: &str, last: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_etalon"))
        .args(line.split_whitespace())
        .args(last)
        .current_dir(&folder.0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn interrupt(child: &Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
}

/// Waits for something that the command does.
fn wait_for(is_done: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_done() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Interrupts a command after what it does.
fn interrupted(child: Child, is_done: impl Fn() -> bool) -> Output {
    wait_for(is_done);
    interrupt(&child);
    child.wait_with_output().unwrap()
}

/// Returns whether a process runs.
fn runs(id: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{}/stat", id.trim()));
    state.is_ok_and(|state| !state.contains(") Z "))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn random_modules_end_with_their_summary() {
    let folder = Folder::new("interrupts");
    let fuzz = start(&folder, "fuzz --backend exact --minutes 10", &[]);
    std::thread::sleep(Duration::from_secs(2));
    expect(&interrupted(fuzz, || true), 130, " modules in ", "");
}

/// The case that runs when Ctrl-C comes is compared; those after it are not.
#[test]
fn a_comparison_writes_what_it_compared() {
    let folder = Folder::new("interrupts");
    let line = "conform --suite probes --json out.json --backend-command";
    let conform = start(&folder, line, &[SLOW]);
    let output = interrupted(conform, || folder.0.join("started").exists());
    expect(&output, 130, " unsupported", "stopped by Ctrl-C after ");
    assert!(!folder.0.join("out.json").exists());
    let report = read(&folder.0.join("out.part.json"));
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert!(report["warnings"][0].as_str().unwrap().starts_with("stopped by Ctrl-C"), "{report}");
    assert!(!report["records"].as_array().unwrap().is_empty());
}

#[test]
fn the_first_says_what_it_waits_for_and_the_second_ends() {
    let folder = Folder::new("interrupts");
    folder.write("endless.hlo", ENDLESS);
    let mut run = start(&folder, "conform endless.hlo --backend fast --random 1", &[]);
    std::thread::sleep(Duration::from_secs(1));
    interrupt(&run);
    let mut line = String::new();
    let mut errors = BufReader::new(run.stderr.take().unwrap());
    errors.read_line(&mut line).unwrap();
    assert_eq!(line, "ending after what is running now; Ctrl-C again ends at once\n");
    interrupt(&run);
    assert_eq!(run.wait().unwrap().code(), Some(130));
}

#[test]
fn a_search_for_instructions_says_what_it_found() {
    let folder = Folder::new("interrupts");
    folder.write("m.hlo", &chain(200));
    let line = "blame m.hlo --random 1 --html page.html --backend-command";
    let blame = start(&folder, line, &[SLOW]);
    let output = interrupted(blame, || folder.0.join("started").exists());
    expect(&output, 130, "instructions checked, 0 wrong", "stopped by Ctrl-C");
    assert!(read(&folder.0.join("page.html")).ends_with("</html>\n"));
}

/// What a backend has started ends with it.
#[cfg(target_os = "linux")]
#[test]
fn no_process_of_a_backend_is_left() {
    let folder = Folder::new("interrupts");
    folder.write("m.hlo", &chain(3));
    let endless = "echo $$ > own; sleep 1000 & echo $! > child; wait # {hlo} {in.npz} {out.npz}";
    for line in ["blame m.hlo", "conform m.hlo", "reduce m.hlo"] {
        let line = format!("{line} --random 1 --backend-command");
        let mut child = start(&folder, &line, &[endless]);
        let [own, started] = ["own", "child"].map(|name| folder.0.join(name));
        wait_for(|| !read(&started).is_empty());
        interrupt(&child);
        // The signal is pending until it is handled, and two are one.
        std::thread::sleep(Duration::from_millis(200));
        interrupt(&child);
        let ended = child.wait().unwrap();
        assert!(ended.code() == Some(130) || ended.signal() == Some(2), "{ended}");
        for path in [own, started] {
            let id = read(&path);
            wait_for(|| !runs(&id));
            std::fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn a_reduction_writes_the_smallest_so_far() {
    let folder = Folder::new("interrupts");
    folder.write("m.hlo", &chain(60));
    let target = folder.0.join("small.hlo");
    let slow = "sleep 0.1; grep -q cosine {hlo}";
    let reduce = start(&folder, "reduce m.hlo --random 1 -o small.hlo --command", &[slow]);
    let output = interrupted(reduce, || target.exists());
    expect(&output, 130, "small.hlo: 61 instructions became ", "Ctrl-C ended the search");
    expect(&folder.etalon("check small.hlo"), 0, "ok", "");
    // Before anything is found nothing is written.
    let slow = "touch started; sleep 0.3; grep -q x59 {hlo}";
    let reduce = start(&folder, "reduce m.hlo --random 1 -o none.hlo --command", &[slow]);
    let output = interrupted(reduce, || folder.0.join("started").exists());
    expect(&output, 130, "", "nothing is written");
    assert!(!folder.0.join("none.hlo").exists());
}

#[test]
fn a_campaign_goes_on_with_the_round() {
    let folder = Folder::new("interrupts");
    let line = "campaign nightly --suite probes --backend fast";
    let log = folder.0.join("nightly/log.jsonl");
    let campaign = start(&folder, &format!("{line} --minutes 10"), &[]);
    let output = interrupted(campaign, || read(&log).lines().count() > 20);
    expect(&output, 130, "round 1: ", "stopped by Ctrl-C: the same command goes on");
    assert!(read(&folder.0.join("nightly/index.html")).trim_end().ends_with("</html>"));
    let before = read(&log);
    assert!(before.ends_with('\n'));
    expect(&folder.etalon(&format!("{line} --count 1")), 0, "round 1: ", "");
    assert!(read(&log).starts_with(&before));
}

#[test]
fn an_export_is_whole_or_is_not_there() {
    let folder = Folder::new("interrupts");
    let cases = folder.0.join("suite/cases");
    let export = start(&folder, "suite export suite", &[]);
    let output = interrupted(export, || cases.exists());
    expect(&output, 130, "", "stopped by Ctrl-C: what was written is removed");
    assert!(!folder.0.join("suite").exists());
}

#[test]
fn passes_show_the_states_that_were_checked() {
    let folder = Folder::new("interrupts");
    let states: Vec<String> = (0..3000)
        .map(|i| {
            chain(20).replace("sine(x3)", "add(x3, c)").replace(
                "  x1 =",
                &format!(
                    "  i = f32[] constant({i})\n  c = f32[2] broadcast(i), dimensions={{}}\n  x1 ="
                ),
            )
        })
        .collect();
    folder.write("states.hlo", &states.join("// -----\n"));
    let passes = start(&folder, "passes states.hlo --junit report.xml", &[]);
    std::thread::sleep(Duration::from_secs(2));
    let output = interrupted(passes, || true);
    expect(&output, 130, "DIFFERS", "stopped by Ctrl-C: later states are not checked");
    assert!(!folder.0.join("report.xml").exists());
}

/// Nothing is known before the end.
#[test]
fn a_proof_ends_at_once() {
    let folder = Folder::new("interrupts");
    folder.write("endless.hlo", ENDLESS);
    let proof = start(&folder, "equal endless.hlo endless.hlo --whole", &[]);
    std::thread::sleep(Duration::from_millis(700));
    let ended = interrupted(proof, || true).status;
    assert_eq!(ended.signal().map(|signal| signal + 128).or(ended.code()), Some(130));
}
