//! The lines of the README's tour run as they stand.
#![cfg(unix)]
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the commands of a block of the README, without their comments.
fn tour(readme: &str) -> Vec<Vec<&str>> {
    let (_, rest) = readme.split_once("These lines run as they stand:").expect("the tour");
    let block = rest.split("```").nth(1).expect("a block");
    let lines = block.lines().filter_map(|line| line.strip_prefix("$ etalon "));
    lines.map(|line| line.split(" #").next().unwrap_or(line).split_whitespace().collect()).collect()
}

#[test]
fn the_tour_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    let readme = std::fs::read_to_string(root.join("README.md")).expect("the README");
    let folder = tempfile::tempdir().expect("a folder");
    // Commands write beside what they read.
    for name in ["examples", "tests"] {
        let (from, to): (PathBuf, PathBuf) = (root.join(name), folder.path().join(name));
        std::os::unix::fs::symlink(from, to).expect("a link");
    }
    let commands = tour(&readme);
    assert!(commands.len() > 12, "{commands:?}");
    for arguments in commands {
        let mut command = Command::new(env!("CARGO_BIN_EXE_etalon"));
        let ended = command.args(&arguments).current_dir(&folder).output().expect("a process");
        let errors = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{arguments:?}: {}\n{errors}", ended.status);
    }
}
