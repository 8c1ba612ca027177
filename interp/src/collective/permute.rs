//! `collective-permute` for whoever runs the devices: a source's share, and its target's.
use super::packed;
use crate::Result;
use crate::spec::collective_permute;
use crate::value::zeros;
use hlo::ir::Instruction;
use hlo::op::{CollectivePermute, CollectivePermuteStart};
use hlo::{Literal, Op};

/// Returns what a device sends to each of its targets.
pub fn sent(instruction: &Instruction, operands: &[Literal]) -> Result<Vec<Literal>> {
    collective_permute::sent(slice_sizes(instruction), operands)
}

/// Returns the result of what was sent to the device; `None` if it is no target.
///
/// # Errors
/// `E0408` if what was sent does not have the stated shape.
pub fn received(
    instruction: &Instruction,
    operands: &[Literal],
    sent: Option<Vec<Literal>>,
) -> Result<Literal> {
    let shape = super::result_shape(instruction);
    match collective_permute::received(slice_sizes(instruction), operands, sent)? {
        Some(arrays) => packed(arrays, shape, instruction),
        None => Ok(zeros(shape)),
    }
}

fn slice_sizes(instruction: &Instruction) -> &[Vec<i64>] {
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other op moves boxes")]
    match &instruction.op {
        Op::CollectivePermute(op) => {
            let CollectivePermute {
                channel_id: _,          // Pairs devices, which is the caller's.
                source_target_pairs: _, // Likewise.
                slice_sizes,
            } = &**op;
            slice_sizes
        }
        Op::CollectivePermuteStart(op) => {
            let CollectivePermuteStart { channel_id: _, source_target_pairs: _, slice_sizes } =
                &**op;
            slice_sizes
        }
        _ => &[],
    }
}
