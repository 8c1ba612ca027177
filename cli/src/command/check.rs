//! `etalon check`: parse and verify.
use super::{load_with, verified};
use crate::args::CheckArgs;
use crate::error::{Exit, Failure, Result};
use crate::files::Files;
use crate::json;
use crate::limits::Limits;
use crate::output;
use hlo::diag::quantity;
use hlo::diag::{Diagnostic, Source};
use std::cell::Cell;
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
            output::note(&format!("{name}: {}\n", quantity(count, "error")));
        }
        Ok(Some(failure.exit))
    };
    let files = Files::of(&args.files);
    let totals = (files.are_several() && !args.json).then(Totals::default);
    let code = files.each(|path| {
        let warn = |warning: &Diagnostic, source: Source<'_>| match args.json {
            // A closed pipe is found by the next line of output.
            true => drop(output::data(&format!("{}\n", json::diagnostic(warning, Some(source))))),
            false => output::show_one(warning, Some(source)),
        };
        let checked = load_with(path, &args.load, &Limits::none(), warn).and_then(|loaded| {
            verified(loaded.module, loaded.file.source(), &Limits::none())?;
            Ok(loaded.file.name)
        });
        if let Some(totals) = &totals {
            totals.add(checked.as_ref().err().map(|failure| failure.exit));
        }
        match checked {
            Ok(_) if args.json => Ok(None),
            Ok(name) => output::data(&format!("{name}: ok\n")).map(|()| None),
            Err(failure) => show(failure, &path.display().to_string()),
        }
    });
    if let Some(totals) = totals {
        output::status(&totals.to_string());
    }
    code
}

/// The number of files with each outcome.
#[derive(Default)]
struct Totals {
    ok: Cell<usize>,
    wrong: Cell<usize>,
    unsupported: Cell<usize>,
    unread: Cell<usize>,
}

impl Totals {
    fn add(&self, exit: Option<Exit>) {
        let counted = match exit {
            None => &self.ok,
            Some(Exit::Wrong | Exit::Bug) => &self.wrong,
            Some(Exit::Unsupported) => &self.unsupported,
            Some(Exit::Misuse) => &self.unread,
        };
        counted.set(counted.get() + 1);
    }
}

impl std::fmt::Display for Totals {
    /// `12 ok, 3 wrong`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { ok, wrong, unsupported, unread } = self;
        write!(f, "{} ok", ok.get())?;
        for (count, what) in
            [(wrong, "wrong"), (unsupported, "unsupported"), (unread, "no module that can be read")]
        {
            if count.get() > 0 {
                write!(f, ", {} {what}", count.get())?;
            }
        }
        f.write_str("\n")
    }
}
