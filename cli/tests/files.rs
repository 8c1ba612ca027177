//! Runs the file tests, with one test for each case, and the suite of recorded results that `ETALON_CORPUS` names.
//!
//! `ETALON_BLESS=1` rewrites the expected results.
use conformance::{Engine, FileTest, Outcome, Report};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const FOLDERS: [&str; 6] = [
    "tests/ops",
    "tests/programs",
    "tests/threads",
    "tests/findings",
    "tests/collectives/values",
    "hlo/tests/reject",
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let bless = std::env::var_os("ETALON_BLESS").is_some_and(|v| v == "1");
    let mut trials = Vec::new();
    for folder in FOLDERS {
        for path in hlo_files(&root.join(folder)) {
            trials.extend(file_trials(&path, folder, bless));
        }
    }
    if let Some(corpus) = std::env::var_os("ETALON_CORPUS") {
        trials.extend(corpus_trials(Path::new(&corpus)));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn hlo_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "hlo")).collect();
    files.sort();
    files
}

fn file_trials(path: &Path, folder: &str, bless: bool) -> Vec<Trial> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let invalid = |error: conformance::ParseError| {
        let message = error.to_string();
        vec![Trial::test(format!("{folder}/{stem}"), || Err(Failed::from(message)))]
    };
    let test = match FileTest::read(path) {
        Ok(test) => test,
        Err(error) => return invalid(error),
    };
    if bless && let Err(error) = test.bless(Engine::Reference) {
        return invalid(error);
    }
    let cases = test.cases.into_iter();
    cases
        .map(|case| {
            let name = case.name.rsplit("::").next().unwrap_or_default();
            Trial::test(format!("{folder}/{stem}::{name}"), move || check(&case.run(&Engine::ALL)))
        })
        .collect()
}

fn corpus_trials(corpus: &Path) -> Vec<Trial> {
    let Ok((entries, _)) = conformance::find(corpus) else { return Vec::new() };
    let trial = |entry: conformance::Entry| {
        let name = entry.module.strip_prefix(corpus).unwrap_or(&entry.module).display().to_string();
        Trial::test(format!("corpus/{name}"), move || {
            let report = entry.run(Engine::default());
            match report.outcome {
                Outcome::Unsupported(_) => Ok(()),
                _ => check(&report),
            }
        })
    };
    entries.into_iter().map(trial).collect()
}

fn check(report: &Report) -> Result<(), Failed> {
    if report.is_bad() { Err(Failed::from(report.details(false))) } else { Ok(()) }
}
