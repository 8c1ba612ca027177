//! Collective operations on one device: every group has one member
use crate::{Error, Result};
use hlo::Literal;
use hlo::ir::Instruction;

pub(super) fn alone(instruction: &Instruction, _operands: &[&Literal]) -> Result<Literal> {
    let opcode = instruction.opcode();
    Err(Error::unsupported(format!("`{opcode}` cannot be run yet")))
}
