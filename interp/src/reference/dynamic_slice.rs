//! `dynamic-slice` and `dynamic-update-slice`: each start index is limited so that the box lies inside
use super::moved::affine;
use crate::index::{offsets, strides, to_usize};
use hlo::{ArrayShape, Literal, Scalar};

/// The offset of the box: `clamp(0, start[d], size[d] - box[d])` in each dimension.
fn base(operand: &ArrayShape, window: &ArrayShape, starts: &[&Literal], steps: &[i64]) -> i64 {
    let vector = starts.len() == 1 && starts[0].array_shape().is_some_and(|s| s.rank() == 1);
    let start = |d: usize| if vector { starts[0].get(d) } else { starts[d].get(0) };
    (0..operand.rank())
        .map(|d| {
            let last = operand.dims[d] - window.dims[d];
            let start = match start(d) {
                Scalar::Signed(start) => start.clamp(0, last),
                // An unsigned index beyond i64 is beyond every array.
                Scalar::Unsigned(start) => i64::try_from(start).map_or(last, |s| s.min(last)),
                Scalar::Pred(_) | Scalar::Float(_) | Scalar::Complex(..) => 0,
            };
            start * steps[d]
        })
        .sum()
}

/// `result[i] = operand[start + i]`
pub(super) fn dynamic_slice(operand: &Literal, starts: &[&Literal], shape: &ArrayShape) -> Literal {
    let from = operand.array_shape().expect("verified: an array");
    let steps = strides(&from.dims);
    affine(operand, shape, base(from, shape, starts, &steps), &steps)
}

/// The operand, with `result[start + i] = update[i]`
pub(super) fn dynamic_update_slice(
    operand: &Literal,
    update: &Literal,
    starts: &[&Literal],
    shape: &ArrayShape,
) -> Literal {
    let window = update.array_shape().expect("verified: an array");
    let steps = strides(&shape.dims);
    let base = base(shape, window, starts, &steps);
    let width = shape.ty.storage_bytes();
    let mut result = operand.with_shape(shape.clone());
    let to = result.bytes_mut();
    let mut parts = update.bytes().chunks_exact(width);
    offsets(&window.dims, base, &steps, |at| {
        let at = to_usize(at) * width;
        if let Some(part) = parts.next() {
            to[at..at + width].copy_from_slice(part);
        }
    });
    result
}
