//! `collective-permute`: the values that sources send and targets receive.
use super::packed;
use crate::Result;
use crate::dynamic::{is_among, refused};
use hlo::Literal;
use hlo::ir::Instruction;
use num::array::zeros;
use spec::collective_permute;

/// Returns the values that a device sends to each of its targets. Whole values keep their sizes.
///
/// # Errors
/// `E0402` if slices are sent of a value that is smaller than its bounds.
pub fn sent(instruction: &Instruction, operands: &[Literal]) -> Result<Vec<Literal>> {
    let is_whole = instruction.op.slice_sizes().is_empty();
    if !is_whole && is_among(&operands.iter().collect::<Vec<_>>()) {
        return Err(refused(instruction));
    }
    collective_permute::sent(instruction.op.slice_sizes(), operands)
}

/// Returns the result of a device from the values sent to it; `None` if it is no target.
///
/// # Errors
/// `E0408` if the values sent do not have the stated shape.
pub fn received(
    instruction: &Instruction,
    operands: &[Literal],
    sent: Option<Vec<Literal>>,
) -> Result<Literal> {
    let shape = super::result_shape(instruction);
    match collective_permute::received(instruction.op.slice_sizes(), operands, sent)? {
        Some(arrays) => packed(arrays, shape, instruction),
        None => Ok(zeros(shape)),
    }
}
