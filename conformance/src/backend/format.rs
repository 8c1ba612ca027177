//! The forms in which another program reads a module from a file.
use super::{Code, Result};
use hlo::text::Style;
use hlo::{Module, Verified};
use stablehlo::ir::Program;
use stablehlo::{Chlo, ExportOptions, TextStyle, Version};
use std::path::{Path, PathBuf};

/// A form of a module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    /// The name, which is the extension of the file.
    pub(super) name: &'static str,
    /// Its name in a command.
    pub(super) placeholder: &'static str,
    encode: fn(&Module) -> Result<Vec<u8>>,
}

/// All forms.
pub(super) const FORMATS: [Format; 4] = [
    Format { name: "hlo", placeholder: "{hlo}", encode: text },
    Format { name: "pb", placeholder: "{pb}", encode: proto },
    Format { name: "mlir", placeholder: "{mlir}", encode: stablehlo_text },
    Format { name: "mlirbc", placeholder: "{mlirbc}", encode: stablehlo_bytecode },
];

impl Format {
    /// Writes a module to a file of a folder, and returns its path.
    ///
    /// # Errors
    /// `E0701` if the module cannot be expressed in this form, `E0706` if the file cannot be
    /// written.
    pub(super) fn write(self, module: &Module, folder: &Path) -> Result<PathBuf> {
        let path = folder.join("module").with_extension(self.name);
        let bytes = (self.encode)(module)?;
        std::fs::write(&path, bytes).map_err(|e| Code::NotStarted { message: e.to_string() })?;
        Ok(path)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "other forms fail")]
fn text(module: &Module) -> Result<Vec<u8>> {
    Ok(module.print(Style::Short).into_bytes())
}
/// Returns a module as a serialized `HloModuleProto`.
pub(super) fn proto(module: &Module) -> Result<Vec<u8>> {
    hlo::proto::encode(module).map_err(|e| unsupported(&e))
}
fn stablehlo_text(module: &Module) -> Result<Vec<u8>> {
    Ok(program(module, Chlo::Keep)?.to_text(TextStyle::Pretty).into_bytes())
}
fn stablehlo_bytecode(module: &Module) -> Result<Vec<u8>> {
    bytecode(&program(module, Chlo::Expand)?, None)
}
/// Returns a module as a StableHLO program.
pub(super) fn program(module: &Module, chlo: Chlo) -> Result<Program> {
    let verified: Verified = module.clone().verify().map_err(|e| unsupported(&e))?;
    stablehlo::from_hlo(&verified, &ExportOptions { chlo }).map_err(|e| unsupported(e.code()))
}
/// Returns a program without ops of CHLO as portable bytecode for this version, or the first that
/// has all of it.
pub(super) fn bytecode(program: &Program, target: Option<Version>) -> Result<Vec<u8>> {
    program.to_bytecode(target).map_err(|e| unsupported(e.code()))
}
fn unsupported(error: &dyn std::fmt::Display) -> super::BackendError {
    Code::Unsupported { message: error.to_string() }.into()
}
