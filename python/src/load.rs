//! Reading: HLO text, messages of XLA, and StableHLO, recognized by content.
use crate::error::{Failure, Kind, exception};
use hlo::diag::{Diagnostic, Source, render};
use hlo::ir::ParseOptions;
use hlo::{Literal, Module};
use pyo3::prelude::*;

/// A module and what was in its file.
pub(crate) struct Loaded {
    pub(crate) module: Module,
    /// The text that the spans of the module refer to.
    pub(crate) text: String,
    /// The arguments of each device, or of all; empty if there are none.
    pub(crate) arguments: Vec<Vec<Literal>>,
    pub(crate) warnings: Vec<String>,
}

/// Reads a module; `name` is shown in errors.
pub(crate) fn load(name: &str, bytes: &[u8], lenient: bool) -> PyResult<Loaded> {
    if hlo::proto::is_message(bytes) {
        let contents =
            hlo::proto::open(bytes).map_err(|error| invalid(name, error.diagnostic()))?;
        let hlo::proto::Contents { module, text, arguments } = contents;
        return Ok(Loaded { module, text, arguments, warnings: Vec::new() });
    }
    if stablehlo::is_mlir(bytes) {
        return mlir(name, bytes);
    }
    let parsed = Module::parse_bytes(bytes, ParseOptions { lenient });
    let text = String::from_utf8_lossy(bytes).into_owned();
    let source = Source { name, text: &text };
    let parsed = parsed.map_err(|errors| {
        let failures = errors.diagnostics().into_iter();
        let failures = failures.map(|one| Failure::new(Kind::Invalid, one, None, Some(source)));
        exception(&failures.collect::<Vec<_>>())
    })?;
    let draw = |warning| render(warning, Some(source), false).trim_end().to_owned();
    let warnings = parsed.warnings.iter().map(draw).collect();
    Ok(Loaded { module: parsed.module, text, arguments: Vec::new(), warnings })
}

/// Reads a StableHLO program. The text is that of the HLO it becomes.
fn mlir(name: &str, bytes: &[u8]) -> PyResult<Loaded> {
    let module = stablehlo::parse(bytes).map_err(|error| {
        let kind = if error.code().is_unsupported() { Kind::Unsupported } else { Kind::Invalid };
        let text = std::str::from_utf8(bytes).ok().filter(|_| error.span().is_some());
        failed(kind, name, text, error.diagnostic())
    })?;
    let (module, text) = module.with_text();
    Ok(Loaded { module, text, arguments: Vec::new(), warnings: Vec::new() })
}

fn invalid(name: &str, diagnostic: Diagnostic) -> PyErr {
    failed(Kind::Invalid, name, None, diagnostic)
}

fn failed(kind: Kind, name: &str, text: Option<&str>, mut diagnostic: Diagnostic) -> PyErr {
    if text.is_none() {
        diagnostic.message = format!("{name}: {}", diagnostic.message);
    }
    exception(&[Failure::new(kind, diagnostic, None, text.map(|text| Source { name, text }))])
}
