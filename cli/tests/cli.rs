//! Runs the binary on the files of `tests/cli` and compares its output with the expected files next to them.
//!
//! The first line of a file is the command: `// RUN: etalon check %`, where `%` is the file. `NAME.stderr` and `NAME.stdout`
//! have the expected output; `ETALON_BLESS=1` rewrites them.
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let entries = std::fs::read_dir(root.join("tests/cli")).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "hlo")).collect();
    files.sort();
    let trials = files.into_iter().map(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let root = root.clone();
        Trial::test(format!("cli/{name}"), move || run(&root, &path))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn run(root: &Path, path: &Path) -> Result<(), Failed> {
    let bytes = std::fs::read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let first = text.lines().next().unwrap_or_default();
    let command = first
        .strip_prefix("// RUN: etalon ")
        .ok_or("the first line is not `// RUN: etalon ...`")?;
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let arguments = command.split_whitespace().map(|word| word.replace('%', &file));
    let output = Command::new(env!("CARGO_BIN_EXE_etalon"))
        .args(arguments)
        .current_dir(root.join("tests/cli"))
        .env_remove("NO_COLOR")
        .output()?;
    let status = output.status.code().unwrap_or(-1);
    let errors = format!("{}exit code {status}\n", String::from_utf8_lossy(&output.stderr));
    compare(&path.with_extension("stderr"), &errors)?;
    let data = String::from_utf8_lossy(&output.stdout);
    let expected = path.with_extension("stdout");
    if expected.exists() || !data.is_empty() { compare(&expected, &data) } else { Ok(()) }
}

fn compare(path: &Path, found: &str) -> Result<(), Failed> {
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    if expected == found {
        return Ok(());
    }
    if std::env::var_os("ETALON_BLESS").is_some_and(|v| v == "1") {
        return Ok(std::fs::write(path, found)?);
    }
    Err(format!(
        "{} differs from the output:\n--- expected\n{expected}--- found\n{found}",
        path.display()
    )
    .into())
}
