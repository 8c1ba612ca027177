//! `counts`: the instructions that kernels execute, counted by valgrind and compared with those recorded.
//!
//! Times differ from machine to machine, counts do not: valgrind emulates one processor, and one thread runs. A change that
//! makes a kernel execute more instructions is seen in `interp/benches/counts.txt`, which the change must then rewrite.
use crate::{Result, cargo_command, output_of, read, write};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const FILE: &str = "interp/benches/counts.txt";
const HEAD: &str = "\
# Instructions of one run of a kernel, one thread: profile, engine, elements, instructions, case.
# `cargo xtask counts` compares them with those of this tree, `cargo xtask counts --bless` rewrites them.
# The profile `counts` is optimized as a release is. CI counts in `test`, whose libraries it has compiled.
";
/// More by this fraction than recorded is a failure.
const TOLERANCE: f64 = 0.05;
/// The profiles of the file, and what is compiled in each.
const PROFILES: [(&str, &[&str]); 2] =
    [("counts", &["--package=etalon-interp", "--features=rustfft"]), (TEST, &["--workspace"])];
/// The profile of the tests.
const TEST: &str = "test";

/// A line of the file.
struct Count {
    profile: String,
    engine: String,
    elements: String,
    instructions: f64,
    case: String,
}

/// Returns why instructions cannot be counted or compared here, if they cannot.
pub(crate) fn missing(root: &Path) -> Option<String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Some("they are recorded for Linux on x86-64".to_owned());
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Some("valgrind is not installed".to_owned());
    }
    let (here, recorded) = (compiler().ok()?, recorded(root).ok()?.0);
    (here != recorded).then(|| format!("recorded with {recorded}, this is {here}"))
}

/// Counts in every profile, and compares or records.
pub(crate) fn run(root: &Path, bless: bool) -> Result {
    if let Some(missing) = missing(root).filter(|_| !bless) {
        return Err(format!("the instructions cannot be compared here: {missing}"));
    }
    let (text, worse) = PROFILES.into_iter().try_fold(
        (format!("{HEAD}{}\n", compiler()?), Vec::new()),
        |(text, worse), profile| {
            let (lines, more) = counted(root, profile, &[])?;
            Ok::<_, String>((text + &lines, [worse, more].concat()))
        },
    )?;
    if bless { write(&root.join(FILE), &text) } else { accept(&worse) }
}

/// Counts in the profile of the tests, whose features are given, and compares.
pub(crate) fn check(root: &Path, features: &[&str]) -> Result {
    let profile = PROFILES.into_iter().find(|(name, _)| *name == TEST);
    let (_, worse) = counted(root, profile.ok_or("no profile of tests")?, features)?;
    accept(&worse)
}

fn accept(worse: &[String]) -> Result {
    match worse {
        [] => Ok(()),
        worse => Err(format!(
            "more instructions than in {FILE}: {}\nif that is meant, `cargo xtask counts --bless` records them",
            worse.join(", ")
        )),
    }
}

/// Returns the lines of a profile with the instructions of this tree, and the cases that execute more of them.
fn counted(
    root: &Path,
    (profile, packages): (&str, &[&str]),
    features: &[&str],
) -> Result<(String, Vec<String>)> {
    let program = build(root, "counts", &[&["--profile", profile], packages, features].concat())?;
    let (mut text, mut worse) = (String::new(), Vec::new());
    for line in recorded(root)?.1.into_iter().filter(|line| line.profile == profile) {
        let Count { profile, engine, elements, instructions, case } = line;
        let counted = count(&program, [&case, &elements, &engine])?;
        let change = counted / instructions - 1.0;
        println!("   {engine:6} {case:20} {elements:>8} {counted:>12} {:+.1} %", 100.0 * change);
        if change > TOLERANCE {
            worse.push(format!("{case} ({engine})"));
        }
        writeln!(text, "{profile} {engine} {elements} {counted} {case}")
            .map_err(|e| e.to_string())?;
    }
    Ok((text, worse))
}

/// The compiler that the counts are from, and the counts.
fn recorded(root: &Path) -> Result<(String, Vec<Count>)> {
    let text = read(&root.join(FILE))?;
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let compiler = lines.next().ok_or_else(|| format!("{FILE} is empty"))?.to_owned();
    let count = |line: &str| {
        let mut words = line.splitn(5, ' ').map(str::to_owned);
        let mut word = || words.next().ok_or_else(|| format!("{FILE}: `{line}` has too few words"));
        let (profile, engine, elements) = (word()?, word()?, word()?);
        let instructions = word()?.parse().map_err(|e| format!("{FILE}: `{line}`: {e}"))?;
        Ok(Count { profile, engine, elements, instructions, case: word()? })
    };
    Ok((compiler, lines.map(count).collect::<Result<_>>()?))
}

fn compiler() -> Result<String> {
    let version = output_of(Command::new("rustc").arg("--version"))?;
    Ok(version.split(" (").next().unwrap_or(&version).trim().to_owned())
}

/// Builds a bench of `interp`, and returns the path of the program.
pub(crate) fn build(root: &Path, bench: &str, options: &[&str]) -> Result<PathBuf> {
    let mut command = cargo_command(root, &["build", "--bench", bench]);
    // Parts of a crate that are compiled apart are optimized apart.
    command.args(options).env("CARGO_INCREMENTAL", "0");
    let text = output_of(command.arg("--message-format=json-render-diagnostics"))?;
    let mut built = text.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    built.next_back().ok_or_else(|| "cargo names no executable".to_owned())
}

/// Returns the instructions of the function `counted`.
fn count(program: &Path, arguments: [&str; 3]) -> Result<f64> {
    let file = program.with_extension("callgrind");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--toggle-collect=*counted*"]);
    command.arg(format!("--callgrind-out-file={}", file.display()));
    output_of(command.arg(program).args(arguments))?;
    let text = read(&file)?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    let total = total.and_then(|total| total.trim().parse().ok());
    total.filter(|&count| count > 0.0).ok_or_else(|| format!("{arguments:?}: nothing was counted"))
}
