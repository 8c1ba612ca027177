//! `collective-permute`: each target gets what its source sent
//!
//! `result_target = x_source` for each pair in `source_target_pairs`; a device that is no target
//! gets zeros.
//!
//! With `slice_sizes` slices move instead of whole arrays. The operands are input, output, input
//! offsets and output offsets. Input and output are arrays, or tuples of as many; the offsets of an
//! array are one tuple, or a tuple of them if several slices of it move. A source sends the slices
//! of its input at its own input offsets. A target writes them into its output at its own output
//! offsets, and its result is that output. Offsets are clamped so that a slice is in bounds, as by
//! `dynamic-slice` and `dynamic-update-slice`: the op is these two with a `collective-permute`
//! between.
//!
//! Source: StableHLO, `collective_permute`; XLA operation semantics, `CollectivePermute`.
use super::Operand;
use super::dynamic_slice::dynamic_slice;
use super::dynamic_update_slice::dynamic_update_slice;
use hlo::op::{DynamicSlice, DynamicUpdateSlice};
use hlo::{ArrayShape, Literal};
use num::{Error, Result};

/// Returns what a device with these operands sends to its target.
pub fn sent(slice_sizes: &[Vec<i64>], operands: &[Literal]) -> Result<Vec<Literal>> {
    if slice_sizes.is_empty() {
        return Ok(operands.to_vec());
    }
    let [input, _, offsets, _] = operands else { return Err(four()) };
    let slice = |one: Slice<'_>| {
        let input = Operand::of(elements(input)[one.buffer]);
        let shape = ArrayShape::new(input.shape.ty, one.sizes.to_vec());
        let op = DynamicSlice { dynamic_slice_sizes: one.sizes.to_vec() };
        dynamic_slice(&op, &input, &one.offsets, &shape)
    };
    Ok(slices(slice_sizes, input, offsets).into_iter().map(slice).collect())
}

/// Returns the results of a target with these operands, of what its source sent; `None` for a
/// device that is no target and gets zeros.
pub fn received(
    slice_sizes: &[Vec<i64>],
    operands: &[Literal],
    sent: Option<Vec<Literal>>,
) -> Result<Option<Vec<Literal>>> {
    if slice_sizes.is_empty() {
        return Ok(sent);
    }
    let [_, output, _, offsets] = operands else { return Err(four()) };
    let mut results: Vec<Literal> = elements(output).into_iter().cloned().collect();
    for (one, update) in
        slices(slice_sizes, output, offsets).into_iter().zip(sent.into_iter().flatten())
    {
        let (output, update) = (Operand::of(&results[one.buffer]), Operand::of(&update));
        let op = DynamicUpdateSlice {};
        results[one.buffer] =
            dynamic_update_slice(&op, &output, &update, &one.offsets, output.shape);
    }
    Ok(Some(results))
}

/// Returns the elements of a tuple, or the array.
fn elements(buffers: &Literal) -> Vec<&Literal> {
    buffers.elements().map_or_else(|| vec![buffers], |all| all.iter().collect())
}

/// A slice that moves.
struct Slice<'a> {
    /// The number of the array it belongs to.
    buffer: usize,
    sizes: &'a [i64],
    offsets: Vec<Operand<'a>>,
}

/// Returns the slices of all arrays. Arrays share the sizes if there are only those of one.
fn slices<'a>(
    slice_sizes: &'a [Vec<i64>],
    buffers: &Literal,
    offsets: &'a Literal,
) -> Vec<Slice<'a>> {
    let of_buffers = match buffers.elements() {
        Some(_) => elements(offsets),
        None => vec![offsets],
    };
    let each = of_buffers.into_iter().enumerate().flat_map(|(buffer, offsets)| {
        let is_nested =
            offsets.elements().and_then(<[_]>::first).is_some_and(|x| x.elements().is_some());
        let own = if is_nested { elements(offsets) } else { vec![offsets] };
        own.into_iter().map(move |own| (buffer, own))
    });
    let with_sizes = each.zip(slice_sizes.iter().cycle());
    let one = |((buffer, own), sizes): ((usize, &'a Literal), &'a Vec<i64>)| Slice {
        buffer,
        sizes,
        offsets: elements(own).into_iter().map(Operand::of).collect(),
    };
    with_sizes.map(one).collect()
}

fn four() -> Error {
    Error::internal("a `collective-permute` of slices has two buffers and their offsets")
}
