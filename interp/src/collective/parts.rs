//! Splitting arrays into equal parts along a dimension, and concatenating them.
use crate::Result;
use crate::context::RunContext;
use crate::error::Code;
use crate::index::{count, to_i64, to_usize};
use crate::spec::{self, Array};
use hlo::{ArrayShape, Literal};

fn shape(literal: &Literal) -> &ArrayShape {
    literal.array_shape().expect("verified: an array")
}

fn is_reference(context: &RunContext) -> bool {
    context.program().engine.arithmetic().is_none()
}

/// Returns the result of an `all-gather`, which is the same for each member.
pub(super) fn concatenated(context: &RunContext, arrays: &[&Literal], dim: i64) -> Literal {
    if is_reference(context) {
        let members: Vec<Array<'_>> = arrays.iter().map(|&array| Array::of(array)).collect();
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
        return spec::reduce_scatter::reduce_scatter(dim, &Array::of(array), parts);
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
        let members: Vec<Array<'_>> = arrays.iter().map(|&array| Array::of(array)).collect();
        return spec::all_to_all::all_to_all(dim, &members);
    }
    let parts: Result<Vec<_>> = arrays.iter().map(|array| cut(array, dim, arrays.len())).collect();
    let parts = super::transposed(&parts?, arrays.len());
    Ok(parts.iter().map(|parts| joined(&parts.iter().collect::<Vec<_>>(), dim)).collect())
}

/// Returns the concatenation of the arrays along a dimension.
fn joined(arrays: &[&Literal], dim: i64) -> Literal {
    let first = shape(arrays[0]);
    let mut dims = first.dims.clone();
    dims[to_usize(dim)] = arrays.iter().map(|a| shape(a).dims[to_usize(dim)]).sum();
    crate::kernel::concatenated(arrays, to_usize(dim), &ArrayShape::new(first.ty, dims))
}

/// Returns `parts` equal parts along a dimension.
fn cut(array: &Literal, dim: i64, parts: usize) -> Result<Vec<Literal>> {
    let whole = shape(array);
    let d = to_usize(dim);
    let size = to_usize(whole.dims[d]);
    if parts == 0 || !size.is_multiple_of(parts) {
        let message = format!("dimension {dim} of {whole:#} cannot be split for {parts} devices");
        return Err(Code::Trap { message }.into());
    }
    let mut dims = whole.dims.clone();
    dims[d] = to_i64(size / parts);
    let piece = ArrayShape::new(whole.ty, dims);
    let run = count(&piece.dims[d..]) * whole.ty.storage_bytes();
    let outer = count(&whole.dims[..d]);
    Ok((0..parts)
        .map(|part| {
            let mut result = Literal::zeros(piece.clone());
            let bytes = result.bytes_mut();
            for row in 0..outer {
                let from = (row * parts + part) * run;
                bytes[row * run..(row + 1) * run].copy_from_slice(&array.bytes()[from..from + run]);
            }
            result
        })
        .collect())
}
