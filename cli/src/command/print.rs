//! `etalon print`: a module as HLO text.
use super::load;
use crate::args::PrintArgs;
use crate::error::{Code, Failure, Result};
use crate::output;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn print(args: &PrintArgs) -> Result<ExitCode> {
    let loaded = load(&args.file, args.lenient)?;
    if args.in_place && loaded.is_message {
        let (path, message) = (loaded.name, "the file is not HLO text".to_owned());
        let help = format!("write the text to another file: `etalon convert {path} OUT.hlo`");
        return Err(Failure::new(&Code::File { path, message }, Some(help)));
    }
    let text = loaded.module.print(args.style.into());
    if args.in_place && args.file.as_os_str() != "-" {
        replace(&args.file, &text)?;
    } else {
        output::data(&text).map_err(|e| Failure::file(&args.file, &e))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Replaces the file atomically: a reader sees the old or the new text.
fn replace(path: &Path, text: &str) -> Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = Path::new(&temporary);
    let written = std::fs::write(temporary, text).and_then(|()| std::fs::rename(temporary, path));
    written.map_err(|e| {
        let _ = std::fs::remove_file(temporary);
        Failure::file(path, &e)
    })
}
