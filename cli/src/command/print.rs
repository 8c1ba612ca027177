//! `etalon print`: a module as HLO text.
use super::load;
use crate::args::PrintArgs;
use crate::error::{Failure, Result};
use crate::output;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn print(args: &PrintArgs) -> Result<ExitCode> {
    let loaded = load(&args.file, args.lenient)?;
    let text = loaded.module.print(args.style.into());
    if args.in_place && args.file.as_os_str() != "-" {
        replace(&args.file, &text)?;
    } else {
        output::data(&text).map_err(|e| Failure::file(&args.file, &e))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Puts `text` in place of the file, which is never seen half written.
fn replace(path: &Path, text: &str) -> Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = Path::new(&beside);
    let written = std::fs::write(beside, text).and_then(|()| std::fs::rename(beside, path));
    written.map_err(|e| {
        let _ = std::fs::remove_file(beside);
        Failure::file(path, &e)
    })
}
