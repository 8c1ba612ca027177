//! `etalon check`: parse and verify.
use super::{load_with, verified};
use crate::args::CheckArgs;
use crate::error::{Failure, Result};
use crate::files::Files;
use crate::json;
use crate::limits::Limits;
use crate::output;
use hlo::diag::{Diagnostic, Source};
use std::process::ExitCode;

/// Checks every file, also after an error in another one.
pub(crate) fn check(args: &CheckArgs) -> Result<ExitCode> {
    let show = |failure: Failure, name: &str| {
        if args.json {
            output::data(&json::diagnostics(&failure))?;
            return Ok(Some(failure.exit));
        }
        output::show(&failure);
        let count = failure.diagnostics.len();
        if count > 1 {
            output::note(&format!("{name}: {count} errors\n"));
        }
        Ok(Some(failure.exit))
    };
    Files::of(&args.files).each(|path| {
        let warn = |warning: &Diagnostic, source: Source<'_>| match args.json {
            // A closed pipe is found by the next line of output.
            true => drop(output::data(&format!("{}\n", json::diagnostic(warning, Some(source))))),
            false => output::show_one(warning, Some(source)),
        };
        let checked = load_with(path, &args.load, &Limits::none(), warn).and_then(|loaded| {
            verified(loaded.module, loaded.file.source(), &Limits::none())?;
            Ok(loaded.file.name)
        });
        match checked {
            Ok(_) if args.json => Ok(None),
            Ok(name) => output::data(&format!("{name}: ok\n")).map(|()| None),
            Err(failure) => show(failure, &path.display().to_string()),
        }
    })
}
