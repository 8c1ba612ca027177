//! `collective-permute`: each target gets what its source sent
//!
//! `result_target = x_source` for each pair in `source_target_pairs`; a device that is no target gets zeros.
//!
//! With `slice_sizes` boxes move instead of whole arrays. The operands are input, output, input offsets and output
//! offsets. Input and output are arrays, or tuples of as many; the offsets of an array are one tuple, or a tuple of
//! them if several boxes of it move. A source sends the boxes of its input at its own input offsets. A
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
        let (buffer, offsets) = box_of(i, slice_sizes.len(), input, offsets);
        let input = Array::of(elements(input)[buffer]);
        let shape = ArrayShape::new(input.shape.ty, sizes.clone());
        let op = DynamicSlice { dynamic_slice_sizes: sizes.clone() };
        dynamic_slice(&op, &input, &offsets, &shape)
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
    let mut results: Vec<Literal> = elements(output).into_iter().cloned().collect();
    for (i, update) in sent.into_iter().flatten().enumerate() {
        let (at, offsets) = box_of(i, slice_sizes.len(), output, offsets);
        let (output, update) = (Array::of(&results[at]), Array::of(&update));
        let op = DynamicUpdateSlice {};
        results[at] = dynamic_update_slice(&op, &output, &update, &offsets, output.shape);
    }
    Ok(Some(results))
}

/// Returns the elements of a tuple, or the array.
fn elements(buffers: &Literal) -> Vec<&Literal> {
    buffers.elements().map_or_else(|| vec![buffers], |all| all.iter().collect())
}

/// Returns the number of the array that box `i` of `count` belongs to, and the offsets of the box.
fn box_of<'a>(
    i: usize,
    count: usize,
    buffers: &Literal,
    offsets: &'a Literal,
) -> (usize, Vec<Array<'a>>) {
    let all = elements(buffers).len();
    let in_each = count / all.max(1);
    let (buffer, number) = (i / in_each.max(1), i % in_each.max(1));
    let offsets = if buffers.elements().is_some() { elements(offsets)[buffer] } else { offsets };
    let boxes = elements(offsets);
    let own = boxes.get(number).filter(|own| own.elements().is_some()).copied().unwrap_or(offsets);
    (buffer, own.elements().unwrap_or_default().iter().map(Array::of).collect())
}

fn four() -> Error {
    Error::internal("a `collective-permute` of boxes has two buffers and their offsets")
}
