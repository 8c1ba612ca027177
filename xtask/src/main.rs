//! Project chores, run as `cargo xtask COMMAND`; without one, it lists them.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program")]
mod ci;
mod consoles;
mod counts;
mod explanations;
mod mpi;
mod new_op;
mod python;
mod quiet;
mod speed;
mod status;
mod tidy;
mod trial;
mod walls;
mod xla_tree;

use new_op::Section;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The result of a chore, with an error message.
type Result<T = ()> = std::result::Result<T, String>;

const USAGE: &str = "\
usage: cargo xtask COMMAND
  ci               everything a change must pass; stops at the first failure
  walls            what takes longer: other features, the minimum Rust version, packages
  consoles         runs the console blocks of README.md and docs
  counts [--bless] instructions of kernels, against those recorded; or records them
  speed [--bless]  instructions of each op in each type, against docs/instructions.md; or rewrites the page
  packages         packs each crate that is published, and compiles it from its package
  tidy             sizes of files, first lines, blanks
  status [--check] rewrites the tables of docs/status.md and of `etalon explain`; or only says whether they are up to date
  bless            runs the tests and rewrites their expected outputs
  new-op [--elementwise [--binary]] NAME
                   the row and the files of a new op, and what is left to do
  trial            applies the commit in docs/adding-an-op.md to a copy, and tests its op";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let root = root();
    let done = match words.as_slice() {
        ["xla-tree", rest @ ..] => xla_tree::run(&root, rest),
        ["ci"] => ci::run(&root),
        ["walls"] => ci::walls(&root),
        ["consoles"] => consoles::run(&root),
        ["counts"] => counts::run(&root, false),
        ["counts", "--bless"] => counts::run(&root, true),
        ["speed"] => speed::run(&root, false),
        ["speed", "--bless"] => speed::run(&root, true),
        ["packages"] => walls::package(&root),
        ["tidy"] => tidy::run(&root),
        ["status"] => status::write(&root),
        ["status", "--check"] => status::check(&root),
        ["bless"] => ci::bless(&root),
        ["new-op", name] => new_op::run(&root, name, Section::Structured),
        ["new-op", "--elementwise", name] => new_op::run(&root, name, Section::Unary),
        ["new-op", "--elementwise", "--binary", name] => new_op::run(&root, name, Section::Binary),
        ["trial"] => trial::run(&root),
        _ => {
            eprintln!("{USAGE}\n{}", xla_tree::USAGE);
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the top folder of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The cargo that runs this program, in the repository.
fn cargo_command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(arguments);
    command
}

/// Runs cargo in the repository.
fn cargo(root: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Result {
    let mut command = cargo_command(root, arguments);
    command.envs(environment.iter().copied());
    let status = command.status().map_err(|e| format!("cargo cannot be started: {e}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`cargo {}`: {status}", arguments.join(" ")))
    }
}

/// Runs a command and returns what it writes to stdout; what it writes to stderr is shown if it fails.
fn output_of(command: &mut Command) -> Result<String> {
    let ended = command.stderr(Stdio::piped()).output();
    let ended = ended.map_err(|e| format!("{command:?}: {e}"))?;
    match ended.status.success() {
        true => String::from_utf8(ended.stdout).map_err(|e| format!("{command:?}: {e}")),
        false => {
            Err(format!("{}{command:?}: {}", String::from_utf8_lossy(&ended.stderr), ended.status))
        }
    }
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn write(path: &Path, text: &str) -> Result {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Returns the files under `folder` whose names end in `.ext`, in order; build outputs and hidden folders are excluded.
fn files(folder: &Path, ext: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == ext) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
