//! Cutting arrays into equal parts along a dimension, and putting them together again.
use crate::Result;
use crate::error::Code;
use crate::index::{count, to_i64, to_usize};
use hlo::{ArrayShape, Literal};

fn shape(literal: &Literal) -> &ArrayShape {
    literal.array_shape().expect("verified: an array")
}

/// The arrays one after another along a dimension: `concatenate`.
pub(super) fn concatenated(arrays: &[&Literal], dim: i64) -> Literal {
    let first = shape(arrays[0]);
    let mut dims = first.dims.clone();
    dims[to_usize(dim)] = arrays.iter().map(|a| shape(a).dims[to_usize(dim)]).sum();
    crate::kernel::concatenated(arrays, to_usize(dim), &ArrayShape::new(first.ty, dims))
}

/// `parts` equal pieces along a dimension.
pub(super) fn split(array: &Literal, dim: i64, parts: usize) -> Result<Vec<Literal>> {
    let whole = shape(array);
    let d = to_usize(dim);
    let size = to_usize(whole.dims[d]);
    if parts == 0 || !size.is_multiple_of(parts) {
        let message = format!("dimension {dim} of {whole:#} cannot be cut for {parts} devices");
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
