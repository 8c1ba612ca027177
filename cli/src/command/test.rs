//! `etalon test`: runs file tests and suites of recorded results.
use super::from_stdin;
use crate::args::TestArgs;
use crate::error::{Code, Exit, Failure, Result};
use crate::file::{self, Existing};
use crate::output;
use conformance::check::{self, CheckCase, CheckFile, CheckOptions};
use conformance::{Case, Engine, FileTest, Outcome, ParseError, Report, Summary, in_parallel};
use interp::RunOptions;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

pub(crate) fn test(args: &TestArgs) -> Result<ExitCode> {
    let engines = args.engine.map_or(Engine::ALL.to_vec(), |engine| vec![engine.into()]);
    let mut options = RunOptions::default();
    options.time_limit = args.time_limit;
    let outputs = args.json.iter().map(|path| (path.as_path(), Existing::Replace));
    file::check(outputs, args.paths.iter().map(PathBuf::as_path))?;
    let has_stdout = args.json.as_deref().is_some_and(file::is_stdout);
    let mut reports = Vec::new();
    for path in &args.paths {
        let found = run_path(path, &engines, &options, has_stdout)?;
        print(&found, args.verbose, has_stdout)?;
        reports.extend(found);
    }
    finish(&reports, args.json.as_deref())
}

/// Writes the reports as JSON, prints the totals, and returns the exit code.
pub(crate) fn finish(reports: &[Report], json: Option<&Path>) -> Result<ExitCode> {
    if let Some(to) = json {
        let lines: Vec<String> = reports.iter().map(Report::json).collect();
        let text = format!("[\n{}\n]\n", lines.join(",\n"));
        file::replace(to, text.as_bytes())?;
    }
    let line = format!("{}\n", Summary::of(reports));
    output::report(&line, json.is_some_and(file::is_stdout))?;
    let unsupported = |r: &Report| matches!(r.outcome, Outcome::Unsupported(_));
    let bad: Vec<&Report> = reports.iter().filter(|r| r.is_bad()).collect();
    Ok(match bad.as_slice() {
        [] if reports.is_empty() => {
            output::note("no tests found: they are in .hlo and .mlir files\n");
            Exit::Misuse.code()
        }
        [] => ExitCode::SUCCESS,
        bad if bad.iter().all(|r| unsupported(r)) => Exit::Unsupported.code(),
        _ => Exit::Wrong.code(),
    })
}

/// Runs every test at or below `path`. Recorded results are compared with those of the first engine.
fn run_path(
    path: &Path,
    engines: &[Engine],
    options: &RunOptions,
    has_stdout: bool,
) -> Result<Vec<Report>> {
    let (mut cases, mut reports): (Vec<Case>, Vec<Report>) = (Vec::new(), Vec::new());
    // Standard input, which can be read once, is a file of tests.
    let ((entries, others), functions) = match file::is_stdout(path) {
        true => ((Vec::new(), vec![path.to_owned()]), CheckFunctions::default()),
        false => (
            conformance::find(path).map_err(|e| Failure::file(path, &e))?,
            functions(path, &mut reports)?,
        ),
    };
    // A program of MLIR has tests of another kind.
    for other in others.into_iter().filter(|other| !functions.files.contains(other)) {
        let test = match file::is_stdout(&other) {
            true => from_stdin(|file| FileTest::of(&other, file))?,
            false => FileTest::read(&other),
        };
        match test {
            // A module without expectations and without a recorded result is not a test.
            Ok(test) if !test.has_expectations() => {
                if other == path {
                    no_results(path);
                }
            }
            Ok(test) => cases.extend(test.cases),
            Err(error) => reports.push(unreadable(&other, &error)),
        }
    }
    let total = entries.len() + cases.len() + functions.cases.len();
    let progress = output::Progress::counting(&format!("testing {}", path.display()), total);
    let counted = |report| {
        progress.advance();
        report
    };
    let engine = engines.first().copied().unwrap_or_default();
    reports.extend(in_parallel(&entries, |entry| counted(entry.run_with(engine, options))));
    reports.extend(in_parallel(&cases, |case| counted(case.run_with(engines, options))));
    let print = Arc::new(move |line: &str| {
        // A line that cannot be written fails where the report is.
        let _ = output::report(line, has_stdout);
    });
    let options = CheckOptions { engines: engines.to_vec(), run: options.clone(), print };
    reports.extend(in_parallel(&functions.cases, |case| counted(case.run(&options))));
    Ok(reports)
}

/// The functions at or below a path that check their own values.
#[derive(Default)]
struct CheckFunctions {
    cases: Vec<CheckCase>,
    /// The programs, with checks or without.
    files: Vec<PathBuf>,
}

/// Finds the functions at or below `path` that check their own values.
fn functions(path: &Path, reports: &mut Vec<Report>) -> Result<CheckFunctions> {
    let mut found = CheckFunctions::default();
    for file in check::find(path).map_err(|e| Failure::file(path, &e))? {
        match CheckFile::read(&file) {
            Ok(Some(tests)) => {
                if tests.has_checks() {
                    found.cases.extend(tests.cases);
                } else if file == path {
                    no_results(path);
                }
                found.files.push(file);
            }
            // Another format, whose tests `others` has, or which is none.
            Ok(None) => {}
            Err(_) if file == path => {}
            Err(error) => reports.push(unreadable(&file, &error)),
        }
    }
    Ok(found)
}
/// Notes that a file states no results.
fn no_results(path: &Path) {
    output::note(&format!("{}: states no results, so nothing is tested\n", path.display()));
}

/// Prints the cases that did not pass, or every case.
fn print(reports: &[Report], all: bool, has_stdout: bool) -> Result<()> {
    for report in reports.iter().filter(|report| all || report.is_bad()) {
        let line = format!("{}: {}\n", report.name, report.details(false));
        output::report(&line, has_stdout)?;
    }
    Ok(())
}

/// Returns the report of a file that is not a valid file test. The other files run.
pub(crate) fn unreadable(path: &Path, error: &ParseError) -> Report {
    failed(path, Failure::new(&Code::BadTest { message: error.to_string() }, None))
}

/// Returns the report of a file that cannot be run.
pub(crate) fn failed(path: &Path, failure: Failure) -> Report {
    let text = failure.source.map_or_else(String::new, |file| file.text);
    let outcome = Outcome::Failed(conformance::Failure::new(&text, failure.diagnostics));
    let name = path.display().to_string();
    Report { file: name.clone(), name, outcome, treatment: String::new(), time: Duration::ZERO }
}
