//! `consoles`: runs the console blocks of README.md and of the pages in docs, and compares what they show.
//!
//! A line `$ command` is run by `sh` in a folder of the page's own with copies of `examples` and `tests`; `\` at its end continues
//! it. The lines below are its output, stdout and stderr: `...` stands for any lines, or for any text within a line. A command
//! without shown output must end with 0, one with it with 0 or 1. A block below a line `<!-- not run: REASON -->` is not run.
use crate::{Result, cargo, files, output_of, read};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FENCE: &str = "```console";
const NOT_RUN: &str = "<!-- not run: ";
/// The folders of the repository that pages name.
const COPIED: [&str; 2] = ["examples", "tests"];

/// A command of a page, with the output that the page shows.
#[derive(Debug, PartialEq, Eq)]
struct Shown<'a> {
    /// From 1.
    line: usize,
    command: String,
    output: Vec<&'a str>,
}

/// Builds the command `etalon`, and runs the blocks with it.
pub(crate) fn run(root: &Path) -> Result {
    cargo(root, &["build", "--quiet"], &[])?;
    check(root)
}

/// Runs the blocks with the command that has been built.
pub(crate) fn check(root: &Path) -> Result {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = target.join("debug");
    let mut pages = vec![root.join("README.md")];
    pages.extend(files(&root.join("docs"), "md"));
    // A decision keeps the commands of its day.
    pages.retain(|page| page.parent() != Some(&root.join("docs/adr")));
    let (mut bad, mut ran, mut others) = (Vec::new(), 0, 0);
    for page in pages {
        let text = read(&page)?;
        let (commands, not_run) = commands(&text);
        others += not_run;
        if commands.is_empty() {
            continue;
        }
        let name = page.strip_prefix(root).unwrap_or(&page).display().to_string();
        let scratch = scratch(root, &target.join("consoles").join(name.replace('/', "-")))?;
        for shown in commands {
            ran += 1;
            if let Err(why) = compare(&shown, &scratch, &folder) {
                bad.push(format!("{name}:{}: $ {}\n{why}", shown.line, shown.command));
            }
        }
    }
    println!("{ran} commands of pages, {others} blocks that are not run");
    if bad.is_empty() { Ok(()) } else { Err(bad.join("\n\n")) }
}

/// Makes a folder for a page.
fn scratch(root: &Path, folder: &Path) -> Result<PathBuf> {
    let failed = |error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)?;
    let copied = COPIED.map(|name| root.join(name));
    output_of(Command::new("cp").arg("-r").args(copied).arg(folder))?;
    Ok(folder.to_owned())
}

/// Returns the commands of a page, and the number of blocks that are not run.
fn commands(page: &str) -> (Vec<Shown<'_>>, usize) {
    let (mut found, mut not_run) = (Vec::<Shown<'_>>::new(), 0);
    let mut before = "";
    let mut lines = page.lines().zip(1..);
    while let Some((line, _)) = lines.next() {
        let is_run = !before.starts_with(NOT_RUN);
        before = line;
        if line != FENCE {
            continue;
        }
        not_run += usize::from(!is_run);
        let mut is_continued = false;
        for (line, number) in lines.by_ref().take_while(|(line, _)| *line != "```") {
            if !is_run {
                continue;
            }
            match (line.strip_prefix("$ "), found.last_mut()) {
                (None, Some(last)) if is_continued => {
                    last.command.push('\n');
                    last.command.push_str(line);
                }
                (Some(command), _) => {
                    let (command, output) = (command.to_owned(), Vec::new());
                    found.push(Shown { line: number, command, output });
                }
                (None, Some(last)) => {
                    last.output.push(line);
                    continue;
                }
                // Output without a command.
                (None, None) => continue,
            }
            is_continued = line.ends_with('\\');
        }
    }
    (found, not_run)
}

/// Runs a command, and compares its end and its output with those that the page shows.
fn compare(shown: &Shown<'_>, scratch: &Path, folder: &Path) -> Result {
    let path = env::var_os("PATH").unwrap_or_default();
    let paths = [folder.to_owned()].into_iter().chain(env::split_paths(&path));
    let path = env::join_paths(paths).map_err(|e| e.to_string())?;
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec 2>&1\n{}", shown.command)]);
    command.current_dir(scratch).env("PATH", path).env_remove("ETALON_BLESS");
    let ended = command.output().map_err(|e| format!("sh: {e}"))?;
    let text = String::from_utf8_lossy(&ended.stdout);
    let most = i32::from(!shown.output.is_empty());
    if ended.status.code().is_none_or(|code| code > most) {
        return Err(format!("{}\n{text}", ended.status));
    }
    let found: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
    match shown.output.is_empty() || is_shown(&shown.output, &found) {
        true => Ok(()),
        false => Err(format!("shown:\n{}\nfound:\n{text}", shown.output.join("\n"))),
    }
}

/// Returns whether lines are those that are shown, where `...` stands for any number of lines.
fn is_shown(shown: &[&str], found: &[&str]) -> bool {
    match (shown, found) {
        ([], _) => found.is_empty(),
        (["...", rest @ ..], _) => (0..=found.len()).any(|n| is_shown(rest, &found[n..])),
        ([_, ..], []) => false,
        ([line, shown @ ..], [first, found @ ..]) => {
            is_line(line.trim_end(), first) && is_shown(shown, found)
        }
    }
}

/// Returns whether a line is the one that is shown, where `...` stands for any text.
fn is_line(shown: &str, found: &str) -> bool {
    let Some((start, rest)) = shown.split_once("...") else { return shown == found };
    let Some(found) = found.strip_prefix(start) else { return false };
    let ends = found.char_indices().map(|(at, _)| at).chain([found.len()]);
    ends.into_iter().any(|at| is_line(rest, &found[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_the_output_below_them() {
        let page = "a\n```console\n$ one \\\n  more # why\n1\n$ two\n```\n```rust\n$ no\n```\n\
                    <!-- not run: no network -->\n```console\n$ three\n3\n```\n```console\n$ four\n```\n";
        let (found, not_run) = commands(page);
        let found: Vec<_> =
            found.iter().map(|s| (s.line, s.command.as_str(), &*s.output)).collect();
        let expected: [(usize, &str, &[&str]); 3] =
            [(3, "one \\\n  more # why", &["1"]), (6, "two", &[]), (17, "four", &[])];
        assert_eq!(found, expected);
        assert_eq!(not_run, 1);
    }

    #[test]
    fn dots_stand_for_lines_and_text() {
        assert!(is_shown(&["a ... c", "...", "d"], &["a bb c", "x", "y", "d"]));
        assert!(is_shown(&["a...", "..."], &["a..."]));
        assert!(!is_shown(&["a", "..."], &["b"]));
        assert!(!is_shown(&["a"], &["a", "b"]));
        assert!(!is_line("a...b", "ac"));
    }
}
