//! `trial`: applies the commits of docs/adding-an-op.md in a separate worktree, and tests their ops.
use crate::{Result, read, write};
use std::path::Path;
use std::process::Command;

const PAGE: &str = "docs/adding-an-op.md";
/// The source files that the commits on the page change: of an elementwise op, and of one with attributes.
const SOURCES: [usize; 2] = [4, 11];

/// Returns the diffs on the page.
fn patches(root: &Path) -> Result<Vec<String>> {
    let page = read(&root.join(PAGE))?;
    let found = page.split("```diff\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let found: Vec<String> = found.map(|(patch, _)| patch.to_owned()).collect();
    match found.len() == SOURCES.len() {
        true => Ok(found),
        false => Err(format!("{PAGE} shows {} diffs, not {}", found.len(), SOURCES.len())),
    }
}

/// Fails unless the commits on the page still apply, and change as many source files as stated.
pub(crate) fn check(root: &Path) -> Result {
    for (i, (patch, expected)) in patches(root)?.iter().zip(SOURCES).enumerate() {
        let is_source = |line: &&str| {
            let name = line.strip_prefix("+++ b/").map(Path::new);
            name.and_then(Path::extension).is_some_and(|extension| extension == "rs")
        };
        let count = patch.lines().filter(is_source).count();
        if count != expected {
            return Err(format!("commit {} of {PAGE} changes {count} source files", i + 1));
        }
        let file = file(root, i);
        write(Path::new(&file), patch)?;
        git(root, &["apply", "--check", &file])
            .map_err(|error| format!("commit {} of {PAGE} does not apply: {error}", i + 1))?;
    }
    Ok(())
}

/// Applies the commits, each to the sources as they are, and runs the tests of their ops.
pub(crate) fn run(root: &Path) -> Result {
    check(root)?;
    patches(root)?.iter().enumerate().try_for_each(|(i, patch)| one(root, &file(root, i), patch))
}

fn file(root: &Path, i: usize) -> String {
    root.join(format!("target/trial{i}.patch")).display().to_string()
}

fn one(root: &Path, file: &str, patch: &str) -> Result {
    let tree = root.join("target/trial");
    let place = tree.display().to_string();
    // Removes the tree of a failed earlier trial.
    let _ = git(root, &["worktree", "remove", "--force", &place]);
    git(root, &["worktree", "add", "--detach", &place, "HEAD"])?;
    let added = patch.lines().find_map(|line| line.strip_prefix("+++ b/tests/ops/"));
    let added = added.ok_or_else(|| format!("{PAGE} adds no test"))?;
    let done = git(&tree, &["apply", file])
        .and_then(|()| cargo(root, &tree, &["check", "-p", "etalon-builder"]))
        .and_then(|()| {
            cargo(root, &tree, &["run", "-q", "--", "test", &format!("tests/ops/{added}")])
        });
    let removed = git(root, &["worktree", "remove", "--force", &place]);
    done.and(removed)
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
