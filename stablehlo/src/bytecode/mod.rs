//! MLIR bytecode, versions 0 to 6.
pub(crate) mod builtin;
mod container;
mod decoder;
mod ops;
mod reader;

pub(crate) use decoder::Decoder;
pub(crate) use reader::Reader;

use crate::error::Result;
use crate::ir::Program;

/// Reads a program from MLIR bytecode.
pub(crate) fn read(bytes: &[u8]) -> Result<Program> {
    ops::read(Decoder::new(container::Container::read(bytes)?, bytes.len()))
}
