//! MLIR bytecode, versions 0 to 6.
mod builtin;
mod container;
mod decoder;
mod ops;
mod reader;
mod sharding;
mod vhlo_attributes;
mod vhlo_types;
mod write;

use decoder::Decoder;
use reader::Reader;
pub(crate) use write::{needs, write};

use crate::error::{Error, Result};
use crate::ir::Program;

/// Reads a program from MLIR bytecode.
pub(crate) fn read(bytes: &[u8]) -> Result<Program> {
    let container = container::Container::read(bytes)?;
    // Their encoding is that of the version of the writer.
    if let Some(op) = container
        .op_names
        .iter()
        .find(|op| op.known && container.dialects[op.dialect] == "stablehlo")
    {
        let message = format!("bytecode with the op `stablehlo.{}` is not supported", op.name);
        return Err(Error::unsupported(message).with_help(
            "write the program as text, or as a portable artifact, in which it is an op of `vhlo`: `jax.export` writes one",
        ));
    }
    ops::read(Decoder::new(container, bytes.len()))
}
