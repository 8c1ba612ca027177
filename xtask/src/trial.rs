//! `trial`: applies the commit of docs/adding-an-op.md in a separate worktree, and tests the op.
use crate::{Result, read, write};
use std::path::Path;
use std::process::Command;

const PAGE: &str = "docs/adding-an-op.md";

/// Returns the diff on the page.
fn patch(root: &Path) -> Result<String> {
    let page = read(&root.join(PAGE))?;
    let found = page.split_once("```diff\n").and_then(|(_, rest)| rest.split_once("```"));
    found.map(|(patch, _)| patch.to_owned()).ok_or_else(|| format!("{PAGE} shows no diff"))
}

/// Fails unless the commit on the page still applies, and changes four source files.
pub(crate) fn check(root: &Path) -> Result {
    let patch = patch(root)?;
    let sources = patch.lines().filter(|line| {
        line.starts_with("+++ b/")
            && line.rsplit_once('.').is_some_and(|(_, extension)| extension == "rs")
    });
    let count = sources.count();
    if count != 4 {
        return Err(format!("{PAGE} changes {count} source files, not 4"));
    }
    let file = root.join("target/trial.patch");
    write(&file, &patch)?;
    git(root, &["apply", "--check", &file.display().to_string()])
        .map_err(|error| format!("{PAGE} shows a commit that does not apply: {error}"))
}

/// Applies the commit, and runs the tests of its op.
pub(crate) fn run(root: &Path) -> Result {
    check(root)?;
    let tree = root.join("target/trial");
    let place = tree.display().to_string();
    // Removes the tree of a failed earlier trial.
    let _ = git(root, &["worktree", "remove", "--force", &place]);
    git(root, &["worktree", "add", "--detach", &place, "HEAD"])?;
    let patch = root.join("target/trial.patch").display().to_string();
    let test = patch_test(root)?;
    let done = git(&tree, &["apply", &patch])
        .and_then(|()| cargo(root, &tree, &["check", "-p", "etalon-builder"]))
        .and_then(|()| cargo(root, &tree, &["run", "-q", "--", "test", &test]));
    let removed = git(root, &["worktree", "remove", "--force", &place]);
    done.and(removed)
}

/// Returns the file of tests that the commit adds.
fn patch_test(root: &Path) -> Result<String> {
    let patch = patch(root)?;
    let added = patch.lines().find_map(|line| line.strip_prefix("+++ b/tests/ops/"));
    added.map(|name| format!("tests/ops/{name}")).ok_or_else(|| format!("{PAGE} adds no test"))
}

fn git(folder: &Path, arguments: &[&str]) -> Result {
    finished(Command::new("git").current_dir(folder).args(arguments))
}
fn cargo(root: &Path, folder: &Path, arguments: &[&str]) -> Result {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| root.join("target").into());
    let mut command = Command::new(cargo);
    finished(command.current_dir(folder).args(arguments).env("CARGO_TARGET_DIR", target))
}
fn finished(command: &mut Command) -> Result {
    let status = command.status().map_err(|e| format!("{command:?}: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}
