//! `etalon convert`: HLO text and `HloModuleProto` from each other.
use crate::args::ConvertArgs;
use crate::error::{Failure, Result};
use crate::{file, output};
use hlo::Module;
use hlo::text::Style;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn convert(args: &ConvertArgs) -> Result<ExitCode> {
    let to_message = is_message(&args.to)?;
    let existing = file::unnamed(args.force);
    file::check([(args.to.as_path(), existing)], [args.from.as_path()])?;
    let loaded = super::load(&args.from, &args.load)?;
    match to_message {
        true => {
            let bytes = hlo::proto::encode(&loaded.module)
                .map_err(|error| Failure::module(vec![error.diagnostic()], loaded.file.source()))?;
            file::write(&args.to, existing, &bytes)?;
        }
        false => {
            let lost = unknown_bytes(&loaded.module);
            if lost > 0 {
                output::note(&format!(
                    "{}: {lost} bytes of fields that HLO text does not have are left out\n",
                    loaded.file.name
                ));
            }
            let text = loaded.module.print(Style::Full);
            file::write(&args.to, existing, text.as_bytes())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns whether a file with this name is written as a message.
fn is_message(path: &Path) -> Result<bool> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    match extension {
        Some("pb") => Ok(true),
        Some("hlo" | "txt") => Ok(false),
        None if path.as_os_str() == "-" => Ok(false),
        _ => {
            let (path, message) =
                (path.display().to_string(), "the name does not tell the format".to_owned());
            let help = "end the name with .pb for an HloModuleProto, with .hlo or .txt for text"
                .to_owned();
            Err(Failure::new(&load::Code::File { path, message }, Some(help)))
        }
    }
}

/// Returns the size of what only a message can hold.
fn unknown_bytes(module: &Module) -> usize {
    let computations = module.computations.iter().map(|(_, computation)| computation);
    let inside = computations.map(|computation| {
        let common = computation.instructions.iter().filter_map(|(_, i)| i.common.as_ref());
        computation.unknown_fields.len() + common.map(|c| c.unknown_fields.len()).sum::<usize>()
    });
    module.config.unknown_fields.len() + inside.sum::<usize>()
}
