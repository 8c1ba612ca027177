//! Splitting arrays into equal parts along a dimension, and concatenating them.
use crate::Result;
use crate::context::RunContext;
use hlo::{Array, ArrayShape, Literal};
use num::clock::Stop;
use num::error::Code;
use num::index::{count, to_i64, to_usize};
use spec::Operand;
use std::ops::Range;

fn shape(literal: &Literal) -> &ArrayShape {
    literal.array_shape().expect("verified: an array")
}

/// Returns the values as arrays.
pub(super) fn arrays_of<'a>(values: &[&'a Literal]) -> Vec<&'a Array> {
    values.iter().map(|value| value.array().expect("verified: an array")).collect()
}

fn is_reference(context: &RunContext) -> bool {
    context.program().engine.arithmetic().is_none()
}

/// Returns the result of an `all-gather`, which is the same for each member.
pub(super) fn concatenated(context: &RunContext, arrays: &[&Literal], dim: i64) -> Literal {
    if is_reference(context) {
        let members: Vec<Operand<'_>> = arrays.iter().map(|&array| Operand::of(array)).collect();
        return spec::all_gather::all_gather(dim, &members);
    }
    joined(arrays, dim)
}

/// Returns each member's part of the reduced array of a `reduce-scatter`.
pub(super) fn split(
    context: &RunContext,
    array: &Literal,
    dim: i64,
    parts: usize,
) -> Result<Vec<Literal>> {
    if is_reference(context) {
        return spec::reduce_scatter::reduce_scatter(dim, &Operand::of(array), parts);
    }
    cut(array, dim, parts)
}

/// Returns the result of an `all-to-all` for each member.
pub(super) fn exchanged(
    context: &RunContext,
    arrays: &[&Literal],
    dim: i64,
) -> Result<Vec<Literal>> {
    if is_reference(context) {
        let members: Vec<Operand<'_>> = arrays.iter().map(|&array| Operand::of(array)).collect();
        return spec::all_to_all::all_to_all(dim, &members);
    }
    let (whole, parts) = (shape(arrays[0]), EqualParts::of(shape(arrays[0]), dim, arrays.len())?);
    let stop = Stop::current();
    let result = |member: usize| {
        let mut result = Literal::zeros(ArrayShape::new(whole.ty, whole.dims.clone()));
        let slots = result.bytes_mut().chunks_exact_mut(parts.run.max(1));
        // Row after row, and in each the part of every member.
        for (i, slot) in slots.enumerate().take_while(|_| !stop.is_set()) {
            let (row, sender) = (i / arrays.len(), i % arrays.len());
            slot.copy_from_slice(&arrays[sender].bytes()[parts.range(row, member)]);
        }
        result
    };
    Ok((0..arrays.len()).map(result).collect())
}

/// Equal parts of an array along a dimension: in each row of the dimensions before it, the bytes of
/// a part lie together.
struct EqualParts {
    count: usize,
    /// The bytes of a part in a row.
    run: usize,
    /// The size of the dimension in a part.
    size: usize,
}

impl EqualParts {
    /// Fails if the dimension cannot be split.
    fn of(whole: &ArrayShape, dim: i64, parts: usize) -> Result<Self> {
        let d = to_usize(dim);
        let size = to_usize(whole.dims[d]);
        if parts == 0 || !size.is_multiple_of(parts) {
            let message =
                format!("dimension {dim} of {whole:#} cannot be split for {parts} devices");
            return Err(Code::Trap { message }.into());
        }
        let size = size / parts;
        let run = size * count(&whole.dims[d + 1..]) * whole.ty.storage_bytes();
        Ok(Self { count: parts, run, size })
    }
    /// Returns the bytes of a part in a row.
    fn range(&self, row: usize, part: usize) -> Range<usize> {
        let start = (row * self.count + part) * self.run;
        start..start + self.run
    }
}

/// Returns the concatenation of the arrays along a dimension.
fn joined(arrays: &[&Literal], dim: i64) -> Literal {
    let first = shape(arrays[0]);
    let mut dims = first.dims.clone();
    dims[to_usize(dim)] = arrays.iter().map(|a| shape(a).dims[to_usize(dim)]).sum();
    let shape = ArrayShape::new(first.ty, dims);
    kernels::concatenated(&arrays_of(arrays), to_usize(dim), &shape).into()
}

/// Returns `parts` equal parts along a dimension.
fn cut(array: &Literal, dim: i64, parts: usize) -> Result<Vec<Literal>> {
    let whole = shape(array);
    let parts = EqualParts::of(whole, dim, parts)?;
    let mut dims = whole.dims.clone();
    dims[to_usize(dim)] = to_i64(parts.size);
    let piece = ArrayShape::new(whole.ty, dims);
    let part = |part: usize| {
        let mut result = Literal::zeros(piece.clone());
        let slots = result.bytes_mut().chunks_exact_mut(parts.run.max(1));
        for (row, slot) in slots.enumerate() {
            slot.copy_from_slice(&array.bytes()[parts.range(row, part)]);
        }
        result
    };
    Ok((0..parts.count).map(part).collect())
}
