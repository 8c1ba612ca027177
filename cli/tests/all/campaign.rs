//! `etalon campaign`: rounds, kills, resumption, known findings, and folders of something else.
use crate::support::{Folder, expect};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The options of a short campaign.
const SHORT: &str = "--backend planted:tanh --suite probes --count 40 --seed 3 --jobs 2";

/// Returns the verdict and the cause of each case in a log.
fn cases(folder: &Folder, name: &str) -> BTreeMap<String, String> {
    let log = std::fs::read_to_string(folder.0.join(name).join("log.jsonl")).unwrap();
    let lines = log.lines().filter(|line| line.contains("\"event\":\"case\""));
    let field = |line: &str, name: &str| {
        let (_, rest) = line.split_once(&format!("\"{name}\":\"")).unwrap_or_default();
        rest.split('"').next().unwrap_or_default().to_owned()
    };
    let of = |line: &str| field(line, "verdict") + " " + &field(line, "cause");
    lines.map(|line| (field(line, "case"), of(line))).collect()
}

/// Starts a campaign and kills it when the log has this number of lines.
fn kill(folder: &Folder, name: &str, lines: usize) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_etalon"))
        .args(["campaign", name])
        .args(SHORT.split(' '))
        .current_dir(&folder.0)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let log = folder.0.join(name).join("log.jsonl");
    while std::fs::read(&log).map_or(0, |log| log.split(|&byte| byte == b'\n').count()) < lines {
        assert!(child.try_wait().unwrap().is_none(), "it ended before {lines} lines");
        std::thread::sleep(Duration::from_millis(5));
    }
    // SIGKILL
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_campaign_that_is_killed_goes_on_to_the_same_causes() {
    let folder = Folder::new("campaign-killed");
    let run = |name: &str| folder.etalon(&format!("campaign {name} {SHORT}"));
    expect(&run("whole"), 1, "round 1: 2", "");
    // In the suite, and among the first of 40 modules with three lines each.
    let lines = cases(&folder, "whole").len();
    for lines in [lines / 3, lines - 110] {
        kill(&folder, "killed", lines);
    }
    let log = folder.0.join("killed/log.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, text + "{\"event\":\"case\",\"case\":\"fu").unwrap();
    expect(&run("killed"), 1, "2 causes in 2 groups: 2 new, 0 open, 0 flaky, 0 fixed, 0 known", "");
    assert_eq!(cases(&folder, "killed"), cases(&folder, "whole"));
    let list = |line: &str| String::from_utf8(folder.etalon(line).stdout).unwrap();
    assert_eq!(list("campaign killed --list"), list("campaign whole --list"));
    let names = |name: &str| {
        let entries = std::fs::read_dir(folder.0.join(name).join("causes")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names("killed"), names("whole"));
    let cause = names("whole").into_iter().find(|name| name.to_string_lossy().contains("f32"));
    let cause = cause.unwrap().into_string().unwrap();
    let of_cause =
        folder.etalon(&format!("conform --backend planted:tanh whole/causes/{cause}/module.hlo"));
    expect(&of_cause, 1, "1 differ", "");
    expect(&folder.etalon(&format!("test whole/causes/{cause}/module.hlo")), 0, "1 agree", "");
    let report =
        std::fs::read_to_string(folder.0.join("whole/causes").join(&cause).join("report.md"));
    assert!(report.unwrap().contains("ROOT r = f32[] tanh(x)"));
    // A case again, by its name.
    let again = |pattern: &str| folder.etalon(&format!("campaign whole {SHORT} --case {pattern}"));
    expect(&again("tanh/f32/*"), 1, "differs: 1 of ", "");
    expect(&again(&format!("cause/{cause}")), 2, "", "no case has such a name");
    expect(&again("fuzz/4/benign"), 0, "fuzz/4/benign: ", "");
    expect(&folder.etalon("campaign whole --list --case tanh/f32/*"), 0, &cause, "");

    // The next round runs what is known first.
    let known = format!("# mine\ndiffers tanh/* | The planted error\n* cause/{cause} | Another\n");
    folder.write("known.txt", &known);
    folder.write("fixed.txt", &(known + "differs add/f32/* | An error of long ago\n"));
    let next = folder.etalon(&format!("campaign whole {SHORT} --known fixed.txt"));
    expect(&next, 0, "2 causes in 2 groups: 0 new, 0 open, 0 flaky, 0 fixed, 2 known", "");
    expect(&next, 0, "not seen: `differs add/f32/* | An error of long ago`", "");
    let page = std::fs::read_to_string(folder.0.join("whole/index.html")).unwrap();
    assert_eq!(page.matches("<td><time data-s=").count(), 2, "{page}");
    expect(&again(&format!("cause/{cause}")), 1, "differs: ", "");
}

#[test]
fn folders_of_something_else_are_left_alone() {
    let folder = Folder::new("campaign-folders");
    folder.write("notes.txt", "mine");
    let run = |line: &str| folder.etalon(&format!("campaign {line}"));
    expect(&run(". --backend exact --count 0"), 2, "", "the folder is not empty");
    expect(&run("none --list"), 2, "", "the folder has no campaign");
    expect(&run("none"), 2, "", "--backend");
    assert!(!folder.0.join("none").exists());
    expect(&run("one --backend exact --count 0 --suite probes"), 0, "round 1: ", "");
    let page = std::fs::read_to_string(folder.0.join("one/index.html")).unwrap();
    assert!(page.contains("No round has found a cause.") && !page.contains("Causes"), "{page}");
    let other = run("one --backend fast --count 0 --suite probes");
    expect(&other, 2, "", "--backend exact --suite probes --seed 0");
    expect(&run("one --backend exact --count 0 --suite probes --shard 1/2"), 2, "", "--shard 1/2");
    folder.write("known.txt", "one two three");
    expect(&run("one --backend exact --known known.txt"), 2, "", "VERDICT PATTERN | CAUSE");
    assert_eq!(std::fs::read_to_string(folder.0.join("notes.txt")).unwrap(), "mine");
}

#[test]
fn shards_together_are_the_run_of_one_machine() {
    let folder = Folder::new("campaign-merged");
    let line = "--backend planted:tanh --suite probes --count 32 --seed 3";
    expect(&folder.etalon(&format!("campaign one {line}")), 1, "2 causes", "");
    for shard in 1..=4 {
        folder.etalon(&format!("campaign s{shard} {line} --shard {shard}/4"));
    }
    let merge = |rest: &str| folder.etalon(&format!("campaign {rest}"));
    expect(&merge("all --merge s3 s1 s2 s4"), 1, "2 causes in 2 groups: 2 new", "");
    let list = |name: &str| String::from_utf8(merge(&format!("{name} --list")).stdout).unwrap();
    assert_eq!(list("all"), list("one"));
    let verdicts = |name: &str| -> BTreeMap<String, String> {
        let word = |verdict: String| verdict.split(' ').next().unwrap_or_default().to_owned();
        cases(&folder, name).into_iter().map(|(case, verdict)| (case, word(verdict))).collect()
    };
    assert_eq!(verdicts("all"), verdicts("one"));
    let names = |name: &str| {
        let causes = std::fs::read_dir(folder.0.join(name).join("causes")).unwrap();
        causes.map(|one| one.unwrap().file_name()).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(names("all"), names("one"));
    // What cannot be merged.
    expect(&merge("all --merge s1 s2 s3 s4"), 2, "", "not empty");
    expect(&merge("b --merge s1 s2 s3"), 2, "", "shard 4/4 is missing");
    expect(&merge("b --merge s1 s1 s2 s3 s4"), 2, "", "shard 1/4 is given twice");
    expect(&merge("b --merge one"), 2, "", "one: the campaign is no shard of another");
    expect(&merge("b --merge none"), 2, "", "none: the folder has no campaign");
    assert!(!folder.0.join("b").exists());
}
