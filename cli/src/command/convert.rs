//! `etalon convert`: HLO text, `HloModuleProto` and StableHLO from each other.
use crate::args::{ChloArg, ConvertArgs, StableHloArgs};
use crate::error::{Exit, Failure, Result};
use crate::{file, output};
use ::load::Loaded;
use hlo::Module;
use hlo::text::Style;
use stablehlo::{Chlo, ExportOptions, TextStyle};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn convert(args: &ConvertArgs) -> Result<ExitCode> {
    let target = Target::of(&args.to)?;
    let existing = file::unnamed(args.force);
    file::check([(args.to.as_path(), existing)], [args.from.as_path()])?;
    let loaded = super::load(&args.from, &args.load)?;
    match target {
        Target::Message => {
            let bytes = hlo::proto::encode(&loaded.module)
                .map_err(|error| Failure::module(vec![error.diagnostic()], loaded.file.source()))?;
            file::write(&args.to, existing, &bytes)?;
        }
        Target::StableHlo => {
            let text = to_stablehlo(&loaded, args.stablehlo)?;
            file::write(&args.to, existing, text.as_bytes())?;
        }
        Target::Text => {
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

/// The format of a file that is written.
enum Target {
    Message,
    Text,
    StableHlo,
}

impl Target {
    /// Returns the format that the name of a file tells.
    fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension {
            Some("pb") => Ok(Self::Message),
            Some("hlo" | "txt") => Ok(Self::Text),
            Some("mlir") => Ok(Self::StableHlo),
            None if path.as_os_str() == "-" => Ok(Self::Text),
            _ => {
                let (path, message) =
                    (path.display().to_string(), "the name does not tell the format".to_owned());
                let help = "end the name with .pb for an HloModuleProto, with .hlo or .txt for text, with .mlir for StableHLO";
                Err(Failure::new(&load::Code::File { path, message }, Some(help.to_owned())))
            }
        }
    }
}

/// Returns a module as a StableHLO program.
pub(super) fn to_stablehlo(loaded: &Loaded, args: StableHloArgs) -> Result<String> {
    let failed = |diagnostics| Failure::module(diagnostics, loaded.file.source());
    let verified = loaded.module.clone().verify();
    let verified = verified.map_err(|errors| failed(errors.diagnostics()))?;
    let chlo = match args.chlo {
        ChloArg::Keep => Chlo::Keep,
        ChloArg::Expand => Chlo::Expand,
    };
    let program = stablehlo::from_hlo(&verified, &ExportOptions { chlo }).map_err(|error| {
        let exit = if error.code().is_unsupported() { Exit::Unsupported } else { Exit::Wrong };
        Failure { exit, ..failed(vec![error.diagnostic()]) }
    })?;
    Ok(program.to_text(if args.generic { TextStyle::Generic } else { TextStyle::Pretty }))
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
