//! Ops that only move elements: each result element is one operand element, its bits unchanged.
use crate::index::{offsets, rows, strides, to_usize};
use hlo::op::{Reverse, Slice, Transpose};
use hlo::{ArrayShape, Dims, Literal};

/// The array whose element at index i is the operand's element at `base + sum of i[d] * strides[d]`.
pub(crate) fn affine(operand: &Literal, shape: &ArrayShape, base: i64, strides: &[i64]) -> Literal {
    let width = shape.ty.storage_bytes();
    let from = operand.bytes();
    let mut result = Literal::zeros(shape.clone());
    let to = result.bytes_mut();
    let mut next = 0;
    if strides.last() == Some(&1) {
        rows(&shape.dims, base, strides, |at, count| {
            let (at, bytes) = (to_usize(at) * width, count * width);
            to[next..next + bytes].copy_from_slice(&from[at..at + bytes]);
            next += bytes;
        });
    } else if strides.last() == Some(&0) {
        // Rows of one element repeated, as broadcasts have them.
        let (&inner, outer) = shape.dims.split_last().expect("as many strides as dimensions");
        let row = to_usize(inner) * width;
        if row > 0 {
            offsets(outer, base, &strides[..outer.len()], |at| {
                let at = to_usize(at) * width;
                repeat(&from[at..at + width], &mut to[next..next + row]);
                next += row;
            });
        }
    } else {
        offsets(&shape.dims, base, strides, |at| {
            let at = to_usize(at) * width;
            to[next..next + width].copy_from_slice(&from[at..at + width]);
            next += width;
        });
    }
    result
}

/// Fills `to` with copies of `element`: each copy doubles what is there.
fn repeat(element: &[u8], to: &mut [u8]) {
    let mut done = element.len();
    to[..done].copy_from_slice(element);
    while done < to.len() {
        let part = done.min(to.len() - done);
        to.copy_within(..part, done);
        done += part;
    }
}

fn dims(operand: &Literal) -> &ArrayShape {
    operand.array_shape().expect("verified: an array")
}

/// `result[i] = operand[j]` with `j[permutation[d]] = i[d]`
pub(super) fn transpose(op: &Transpose, operand: &Literal, shape: &ArrayShape) -> Literal {
    let from = strides(&dims(operand).dims);
    let moved: Dims = op.dimensions.iter().map(|&d| from[to_usize(d)]).collect();
    affine(operand, shape, 0, &moved)
}

/// `result[i] = operand[j]` with `j[d] = size[d] - 1 - i[d]` for the dimensions turned around
pub(super) fn reverse(op: &Reverse, operand: &Literal, shape: &ArrayShape) -> Literal {
    let mut steps = strides(&shape.dims);
    let mut base = 0;
    for &d in &op.dimensions {
        let d = to_usize(d);
        base += steps[d] * (shape.dims[d] - 1).max(0);
        steps[d] = -steps[d];
    }
    affine(operand, shape, base, &steps)
}

/// `result[i] = operand[start + i * stride]`
pub(super) fn slice(op: &Slice, operand: &Literal, shape: &ArrayShape) -> Literal {
    let mut steps = strides(&dims(operand).dims);
    let mut base = 0;
    for (range, step) in op.ranges.0.iter().zip(&mut steps) {
        base += range.start * *step;
        // A stride beyond the dimension takes one element, so its size never matters.
        *step = step.saturating_mul(range.stride);
    }
    affine(operand, shape, base, &steps)
}

/// The strides of an array as it lies in memory: of its layout, not of its dimensions' order.
pub(super) fn physical_strides(shape: &ArrayShape) -> Dims {
    let mut steps = Dims::from_elem(1, shape.rank());
    let mut step = 1i64;
    for &d in &shape.layout.minor_to_major {
        steps[to_usize(d)] = step;
        step = step.saturating_mul(shape.dims[to_usize(d)].max(1));
    }
    steps
}

/// The elements one after the other as they lie in memory.
pub(super) fn in_memory_order(operand: &Literal, shape: &ArrayShape) -> Literal {
    if shape.layout.is_descending() {
        return operand.clone();
    }
    let logical = strides(&shape.dims);
    let major_to_minor: Vec<usize> =
        shape.layout.minor_to_major.iter().rev().map(|&d| to_usize(d)).collect();
    let sizes: Dims = major_to_minor.iter().map(|&d| shape.dims[d]).collect();
    let steps: Dims = major_to_minor.iter().map(|&d| logical[d]).collect();
    affine(operand, &ArrayShape::new(shape.ty, sizes), 0, &steps)
}

/// The operand's bits as another type, the least significant part first.
pub(super) fn bitcast_convert(operand: &Literal, shape: &ArrayShape) -> Literal {
    let from = dims(operand).ty;
    let to = shape.ty;
    if from.bits() == to.bits() && from.bits() >= 8 && to != hlo::ElementType::Pred {
        return operand.with_shape(shape.clone());
    }
    // Through one string of bits: narrow types are packed as they count, not as they are stored.
    let (from_bits, to_bits) = (from.bits(), to.bits());
    let (from_width, to_width) = (from.storage_bytes(), to.storage_bytes());
    let mut parts =
        operand.bytes().chunks_exact(from_width).map(|bytes| hlo::Scalar::bits(from, bytes));
    let mut result = Literal::zeros(shape.clone());
    let mut pending = (0u128, 0u32);
    for slot in result.bytes_mut().chunks_exact_mut(to_width) {
        while pending.1 < to_bits {
            let part = parts.next().unwrap_or(0);
            pending.0 |= part << pending.1;
            pending.1 += from_bits;
        }
        let mask = if to_bits == 128 { u128::MAX } else { (1 << to_bits) - 1 };
        hlo::Scalar::set_bits(to, pending.0 & mask, slot);
        pending.0 = if to_bits == 128 { 0 } else { pending.0 >> to_bits };
        pending.1 -= to_bits;
    }
    result
}
