//! `etalon convert`: HLO text, `HloModuleProto`, StableHLO text and bytecode from each other.
use crate::args::{ChloArg, ConvertArgs, StableHloArgs};
use crate::error::{Exit, Failure, Result};
use crate::{file, output};
use ::load::Loaded;
use hlo::Module;
use hlo::text::Style;
use stablehlo::ir::Program;
use stablehlo::{Chlo, ExportOptions, TextStyle};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn convert(args: &ConvertArgs) -> Result<ExitCode> {
    let target = Target::of(&args.to)?;
    if args.target.is_some() && !matches!(target, Target::Bytecode) {
        let (path, message) =
            (args.to.display().to_string(), "only portable bytecode has a --target".to_owned());
        let help = "end the name with .mlirbc".to_owned();
        return Err(Failure::new(&load::Code::File { path, message }, Some(help)));
    }
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
        Target::Bytecode => {
            let program = program(&loaded, ChloArg::Expand)?;
            let bytes = program.to_bytecode(args.target).map_err(|e| refused(&loaded, &e))?;
            file::write(&args.to, existing, &bytes)?;
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
    Bytecode,
}

impl Target {
    /// Returns the format that the name of a file tells.
    fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension {
            Some("pb") => Ok(Self::Message),
            Some("hlo" | "txt") => Ok(Self::Text),
            Some("mlir") => Ok(Self::StableHlo),
            Some("mlirbc") => Ok(Self::Bytecode),
            None if path.as_os_str() == "-" => Ok(Self::Text),
            _ => {
                let (path, message) =
                    (path.display().to_string(), "the name does not tell the format".to_owned());
                let help = "end the name with .pb for an HloModuleProto, with .hlo or .txt for text, with .mlir for StableHLO, with .mlirbc for its portable bytecode";
                Err(Failure::new(&load::Code::File { path, message }, Some(help.to_owned())))
            }
        }
    }
}

/// Returns a module as the text of a StableHLO program.
pub(super) fn to_stablehlo(loaded: &Loaded, args: StableHloArgs) -> Result<String> {
    let style = if args.generic { TextStyle::Generic } else { TextStyle::Pretty };
    Ok(program(loaded, args.chlo)?.to_text(style))
}
/// Returns a module as a StableHLO program.
fn program(loaded: &Loaded, chlo: ChloArg) -> Result<Program> {
    let verified = loaded.module.clone().verify();
    let verified =
        verified.map_err(|errors| Failure::module(errors.diagnostics(), loaded.file.source()))?;
    let chlo = match chlo {
        ChloArg::Keep => Chlo::Keep,
        ChloArg::Expand => Chlo::Expand,
    };
    stablehlo::from_hlo(&verified, &ExportOptions { chlo }).map_err(|e| refused(loaded, &e))
}
/// Returns the failure of a module that cannot be written as StableHLO.
fn refused(loaded: &Loaded, error: &stablehlo::Error) -> Failure {
    let exit = if error.code().is_unsupported() { Exit::Unsupported } else { Exit::Wrong };
    Failure { exit, ..Failure::module(vec![error.diagnostic()], loaded.file.source()) }
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
