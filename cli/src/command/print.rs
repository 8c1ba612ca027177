//! `etalon print`: a module as HLO text.
use super::load;
use crate::args::PrintArgs;
use crate::error::{Code, Failure, Result};
use crate::{file, output};
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
        let unix = !loaded.text.contains("\r\n");
        let text = if unix { text } else { text.replace('\n', "\r\n") };
        file::replace(&args.file, text.as_bytes()).map_err(|e| Failure::file(&args.file, &e))?;
    } else {
        output::data(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}
