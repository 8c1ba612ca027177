//! `etalon test`: file tests and suites of recorded results.
use crate::args::TestArgs;
use crate::error::{Code, Exit, Failure, Result};
use crate::output;
use conformance::{BadFile, Engine, FileTest, Outcome, Report, Summary};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) fn test(args: &TestArgs) -> Result<ExitCode> {
    let engine = args.engine.into();
    let mut reports = Vec::new();
    for path in &args.paths {
        reports.extend(under(path, engine, args.verbose)?);
    }
    if let Some(to) = &args.json {
        let lines: Vec<String> = reports.iter().map(Report::json).collect();
        let text = format!("[\n{}\n]\n", lines.join(",\n"));
        std::fs::write(to, text).map_err(|e| Failure::file(to, &e))?;
    }
    let summary = Summary::of(&reports);
    output::data(&format!("{summary}\n")).map_err(|e| Failure::file(Path::new("<stdout>"), &e))?;
    let unsupported = |r: &Report| matches!(r.outcome, Outcome::Unsupported(_));
    let bad: Vec<&Report> = reports.iter().filter(|r| r.is_bad()).collect();
    Ok(match bad.as_slice() {
        [] if reports.is_empty() => {
            output::note("no test was found\n");
            Exit::Misuse.code()
        }
        [] => ExitCode::SUCCESS,
        bad if bad.iter().all(|r| unsupported(r)) => Exit::Unsupported.code(),
        _ => Exit::Wrong.code(),
    })
}

/// Runs everything at or under `path`.
fn under(path: &Path, engine: Engine, verbose: bool) -> Result<Vec<Report>> {
    let (entries, others) = conformance::find(path).map_err(|e| Failure::file(path, &e))?;
    let progress = output::Progress::new(&format!("testing {}", path.display()));
    let show = |report: &Report| {
        if report.is_bad() || verbose {
            let line = format!("{}: {}\n", report.name, report.details(false));
            let _ = output::data(&line);
        }
    };
    let mut reports = conformance::run_all(&entries, engine, show);
    for other in others {
        let test = match FileTest::read(&other) {
            Ok(test) => test,
            Err(error) => {
                // The others are run all the same.
                let report = unreadable(&other, &error);
                show(&report);
                reports.push(report);
                continue;
            }
        };
        // A module without expectations and without a recorded result says nothing to test.
        if !test.has_expectations() {
            continue;
        }
        for report in test.run(engine) {
            show(&report);
            reports.push(report);
        }
    }
    drop(progress);
    Ok(reports)
}

/// What becomes of a file that is no file of tests.
fn unreadable(path: &Path, error: &BadFile) -> Report {
    let failure = Failure::new(&Code::BadTest { message: error.to_string() }, None);
    let outcome = Outcome::Failed(conformance::Failure::of("", failure.diagnostics));
    let name = path.display().to_string();
    Report { file: name.clone(), name, outcome, time: Duration::ZERO }
}
