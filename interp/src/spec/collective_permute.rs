//! `collective-permute`: each target gets what its source sent
//!
//! `result_target = x_source` for each pair in `source_target_pairs`; a device that is no target gets zeros.
//!
//! With `slice_sizes` boxes move instead of whole arrays. The operands are input, output, input offsets and output
//! offsets, each a tuple if there are several boxes. A source sends the boxes of its input at its own input offsets. A
//! target writes them into its output at its own output offsets, and its result is that output. Offsets are clamped so
//! that a box is in bounds, as by `dynamic-slice` and `dynamic-update-slice`: the op is these two with a
//! `collective-permute` between.
//!
//! Source: StableHLO, `collective_permute`; XLA operation semantics, `CollectivePermute`.
use super::Array;
use super::dynamic_slice::dynamic_slice;
use super::dynamic_update_slice::dynamic_update_slice;
use crate::{Error, Result};
use hlo::op::{DynamicSlice, DynamicUpdateSlice};
use hlo::{ArrayShape, Literal};

/// Returns what a device with these operands sends to its target.
pub(crate) fn sent(slice_sizes: &[Vec<i64>], operands: &[Literal]) -> Result<Vec<Literal>> {
    if slice_sizes.is_empty() {
        return Ok(operands.to_vec());
    }
    let [input, _, offsets, _] = operands else { return Err(four()) };
    let slice = |(i, sizes): (usize, &Vec<i64>)| {
        let input = Array::of(buffer(input, i));
        let shape = ArrayShape::new(input.shape.ty, sizes.clone());
        let op = DynamicSlice { dynamic_slice_sizes: sizes.clone() };
        dynamic_slice(&op, &input, &offsets_of(offsets, i), &shape)
    };
    Ok(slice_sizes.iter().enumerate().map(slice).collect())
}

/// Returns the results of a target with these operands, of what its source sent; `None` for a device that is no target and
/// gets zeros.
pub(crate) fn received(
    slice_sizes: &[Vec<i64>],
    operands: &[Literal],
    sent: Option<Vec<Literal>>,
) -> Result<Option<Vec<Literal>>> {
    if slice_sizes.is_empty() {
        return Ok(sent);
    }
    let [_, output, _, offsets] = operands else { return Err(four()) };
    let mut results: Vec<Literal> = match output.elements() {
        Some(buffers) => buffers.to_vec(),
        None => vec![output.clone()],
    };
    for (i, update) in sent.into_iter().flatten().enumerate() {
        let at = i.min(results.len() - 1);
        let (output, update) = (Array::of(&results[at]), Array::of(&update));
        let op = DynamicUpdateSlice {};
        let offsets = offsets_of(offsets, i);
        results[at] = dynamic_update_slice(&op, &output, &update, &offsets, output.shape);
    }
    Ok(Some(results))
}

/// Returns the buffer of box `i`: one for each box, or one for all.
fn buffer(buffers: &Literal, i: usize) -> &Literal {
    buffers.elements().and_then(|buffers| buffers.get(i)).unwrap_or(buffers)
}

/// Returns the offsets of box `i`, one for each dimension; of several boxes they are a tuple of tuples.
fn offsets_of(offsets: &Literal, i: usize) -> Vec<Array<'_>> {
    let own = offsets.elements().and_then(|boxes| boxes.get(i)).and_then(Literal::elements);
    own.or(offsets.elements()).unwrap_or_default().iter().map(Array::of).collect()
}

fn four() -> Error {
    Error::internal("a `collective-permute` of boxes has two buffers and their offsets")
}
