//! `etalon print`: a module as HLO text, or as a StableHLO program.

use crate::args::PrintArgs;
use crate::error::{Failure, Result};
use crate::files::Files;
use crate::{file, output};
use load::Format;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn print(args: &PrintArgs) -> Result<ExitCode> {
    let files = Files::of(&args.files);
    let (are_several, mut is_first) = (files.are_several() && !args.in_place, true);
    files.each(|path| {
        let heading = || match (are_several, std::mem::take(&mut is_first)) {
            (false, _) => String::new(),
            (true, true) => format!("// {}\n", path.display()),
            (true, false) => format!("// -----\n// {}\n", path.display()),
        };
        one(args, path, heading).map(|()| None)
    })
}

fn one(args: &PrintArgs, path: &Path, heading: impl FnOnce() -> String) -> Result<()> {
    let loaded = super::load(path, &args.load)?;
    let style = args.style.of_hlo();
    if args.in_place && (loaded.format != Format::HloText || style.is_none()) {
        let (path, message) = (loaded.file.name, "the file is not HLO text".to_owned());
        let help = format!("write the text to another file: `etalon convert {path} OUT.hlo`");
        return Err(Failure::new(&load::Code::File { path, message }, Some(help)));
    }
    let Some(style) = style else {
        let text = super::convert::to_stablehlo(&loaded, args.stablehlo)?;
        return output::data(&(heading() + &text));
    };
    let text = loaded.module.print(style);
    if args.in_place && path.as_os_str() != "-" {
        let unix = !loaded.file.text.contains("\r\n");
        let text = if unix { text } else { text.replace('\n', "\r\n") };
        return file::replace(path, text.as_bytes());
    }
    output::data(&(heading() + &text))
}
