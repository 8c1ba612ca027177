//! `etalon check`: parse and verify.
use super::{load, verified};
use crate::args::CheckArgs;
use crate::error::{Exit, Result};
use crate::output;
use std::process::ExitCode;

/// Checks every file, also after an error in another one.
pub(crate) fn check(args: &CheckArgs) -> Result<ExitCode> {
    let mut worst: Option<Exit> = None;
    for path in &args.files {
        let checked = load(path, args.lenient).and_then(|loaded| {
            verified(loaded.module, &loaded.name, &loaded.text).map(|_| loaded.name)
        });
        match checked {
            Ok(name) => {
                let line = format!("{name}: ok\n");
                output::data(&line)?;
            }
            Err(failure) => {
                output::show(&failure);
                let count = failure.diagnostics.len();
                if count > 1 {
                    output::note(&format!("{}: {count} errors\n", path.display()));
                }
                // A wrong module takes precedence over a file that cannot be read.
                worst = match (worst, failure.exit) {
                    (None | Some(Exit::Misuse), Exit::Misuse) => Some(Exit::Misuse),
                    _ => Some(Exit::Wrong),
                };
            }
        }
    }
    Ok(worst.map_or(ExitCode::SUCCESS, Exit::code))
}
