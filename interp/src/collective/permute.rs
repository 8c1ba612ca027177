//! `collective-permute`: what a source sends, and what its target makes of it
//!
//! With `slice_sizes` the operands are input, output, input offsets and output offsets, each a tuple where there are several
//! boxes. A source sends the boxes of its input that its own input offsets name. A target writes them into its own output, where its
//! own output offsets name the places. Offsets are limited so that a box lies inside, as those of `dynamic-slice` and
//! `dynamic-update-slice` are: the op is these two with a `collective-permute` between them.
use super::packed;
use crate::kernel::{dynamic_slice, dynamic_update_slice};
use crate::value::zeros;
use crate::{Error, Result};
use hlo::ir::Instruction;
use hlo::{ArrayShape, Literal, Op};

/// What a device sends to each of its targets.
pub fn sent(instruction: &Instruction, operands: &[Literal]) -> Result<Vec<Literal>> {
    let Some(sizes) = slice_sizes(instruction) else { return Ok(operands.to_vec()) };
    let [input, _, offsets, _] = operands else { return Err(four()) };
    (sizes.iter().enumerate())
        .map(|(i, sizes)| {
            let from = part(input, i);
            let ty = from.array_shape().ok_or_else(four)?.ty;
            let starts: Vec<&Literal> = starts(offsets, i).iter().collect();
            Ok(dynamic_slice(from, &starts, &ArrayShape::new(ty, sizes.clone())))
        })
        .collect()
}

/// The result of what was sent to the device; nothing if it is no target.
///
/// # Errors
/// `E0408` if what was sent does not have the stated shape.
pub fn received(
    instruction: &Instruction,
    operands: &[Literal],
    sent: Option<Vec<Literal>>,
) -> Result<Literal> {
    let shape = super::result_shape(instruction);
    if slice_sizes(instruction).is_none() {
        return match sent {
            Some(arrays) => packed(arrays, shape, instruction),
            None => Ok(zeros(shape)),
        };
    }
    let [_, output, _, offsets] = operands else { return Err(four()) };
    let mut parts: Vec<Literal> = match output.elements() {
        Some(parts) => parts.to_vec(),
        None => vec![output.clone()],
    };
    for (i, update) in sent.into_iter().flatten().enumerate() {
        let at = i.min(parts.len() - 1);
        let whole = std::mem::replace(&mut parts[at], Literal::token());
        parts[at] = dynamic_update_slice(whole, &update, starts(offsets, i));
    }
    packed(parts, shape, instruction)
}

fn slice_sizes(instruction: &Instruction) -> Option<&[Vec<i64>]> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other op moves boxes")]
    let sizes = match &instruction.op {
        Op::CollectivePermute(op) => &op.slice_sizes,
        Op::CollectivePermuteStart(op) => &op.slice_sizes,
        _ => return None,
    };
    (!sizes.is_empty()).then_some(sizes.as_slice())
}

/// The buffer of box `i`: one for each box, or one for all.
fn part(buffer: &Literal, i: usize) -> &Literal {
    buffer.elements().and_then(|parts| parts.get(i)).unwrap_or(buffer)
}

/// The offsets of box `i`: one for each dimension; of several boxes a tuple of such.
fn starts(offsets: &Literal, i: usize) -> &[Literal] {
    let own = offsets.elements().and_then(|boxes| boxes.get(i)).and_then(Literal::elements);
    own.or(offsets.elements()).unwrap_or_default()
}

fn four() -> Error {
    Error::internal("a `collective-permute` of boxes has two buffers and their offsets")
}
