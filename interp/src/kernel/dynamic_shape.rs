//! `get-dimension-size`, `set-dimension-size`, `dynamic-reshape`; and `reshape` of what is smaller than its bounds
//!
//! - `get-dimension-size`: `result = size of dimension d`, at run time.
//! - `set-dimension-size`: the data as it is, of which the operand `size` counts in dimension d. Elements that did not
//!   count before may count again: what they are is whatever the ops before left there.
//! - `dynamic-reshape`: the elements that count, in row-major order, under the sizes the operands give.
//!
//! A size below 0 or above its bound stops the run with `E0408`, and so do sizes of a `dynamic-reshape` that hold another
//! number of elements than count. XLA checks none of it: on XLA:CPU a size of 9 in a bound of 5 is read back as 9, and
//! what is computed from it is undefined.
//!
//! **`reshape`** tells no sizes, so they follow from the bounds. Both shapes are cut into the shortest groups of
//! dimensions that hold the same number of elements within the bounds: `[<=4,2,3]` to `[<=8,3]` is `<=4,2` to `<=8`, and
//! `3` to `3`. In a group of the same dimensions each keeps its size, those of size 1 aside. In any other group one
//! dimension of the result takes up all change: the one named by `inferred_dimension`, else the only one that is
//! dynamic in the stated shape, else the first that is larger than 1. If the elements do not fill whole rows of it the
//! run stops with `E0408`.
use crate::error::Code;
use crate::index::{count, to_usize};
use crate::{Error, Result};
use hlo::ir::Instruction;
use hlo::op::{GetDimensionSize, Reshape, SetDimensionSize};
use hlo::{ArrayShape, Dims, ElementType, Literal, Op, Scalar};
use std::ops::Range;

pub(super) fn get_dimension_size(op: &GetDimensionSize, operand: &Literal) -> Literal {
    let size = operand.sizes()[to_usize(op.dimensions[0])];
    Literal::scalar(ElementType::S32, Scalar::Signed(size))
}

pub(super) fn set_dimension_size(
    op: &SetDimensionSize,
    operand: &Literal,
    size: &Literal,
    shape: &ArrayShape,
) -> Result<Literal> {
    let at = to_usize(op.dimensions[0]);
    let mut sizes = Dims::from_slice(operand.sizes());
    sizes[at] = size_within(size, at, shape)?;
    Ok(operand.with_shape(shape.clone()).with_sizes(&sizes))
}

pub(super) fn dynamic_reshape(operands: &[&Literal], shape: &ArrayShape) -> Result<Literal> {
    let (operand, sizes) = operands.split_first().expect("verified: an operand");
    let sizes = sizes.iter().enumerate().map(|(d, size)| size_within(size, d, shape));
    let sizes: Dims = sizes.collect::<Result<_>>()?;
    repacked(operand, &sizes, shape)
}

/// A size given by an operand.
fn size_within(size: &Literal, at: usize, shape: &ArrayShape) -> Result<i64> {
    let (size, bound) = (size.get(0).as_wrapping(), shape.dims[at]);
    if (0..=bound).contains(&size) {
        return Ok(size);
    }
    let message = format!("dimension {at} of {shape:#} cannot have size {size}");
    Err(Code::Trap { message }.into())
}

/// The elements that count, under other sizes.
fn repacked(operand: &Literal, sizes: &[i64], shape: &ArrayShape) -> Result<Literal> {
    let (found, wanted) = (count(operand.sizes()), count(sizes));
    if found != wanted {
        let message = format!("{found} elements cannot be reshaped to sizes {sizes:?}");
        return Err(Code::Trap { message }.into());
    }
    let packed = operand.cut().with_shape(ArrayShape::new(shape.ty, sizes));
    Ok(packed.widened(shape))
}

/// `reshape` of an operand that is smaller than its bounds.
pub(super) fn reshape(instruction: &Instruction, operand: &Literal) -> Result<Literal> {
    let (Op::Reshape(op), Some(shape)) = (&instruction.op, instruction.shape.array()) else {
        return Err(Error::internal("no reshape"));
    };
    let bounds = &operand.array_shape().expect("verified: an array").dims;
    let (sizes, mut result) = (operand.sizes(), shape.dims.clone());
    if shape.element_count() != Some(0) {
        for (from, to) in groups(bounds, &shape.dims) {
            let from = (&bounds[from.clone()], &sizes[from]);
            group(op, from, to, shape, &mut result)?;
        }
    }
    repacked(operand, &result, shape)
}

/// Finds the sizes of dimensions `to` of the result, which hold what dimensions of these bounds and sizes held.
fn group(
    op: &Reshape,
    (bounds, sizes): (&[i64], &[i64]),
    to: Range<usize>,
    shape: &ArrayShape,
    result: &mut Dims,
) -> Result<()> {
    if bounds == sizes {
        return Ok(());
    }
    let large = |d: &usize| shape.dims[*d] > 1;
    let kept: Vec<usize> = to.clone().filter(large).collect();
    let old: Vec<usize> = (0..bounds.len()).filter(|&i| bounds[i] > 1).collect();
    let same = old.iter().map(|&i| bounds[i]).eq(kept.iter().map(|&d| shape.dims[d]));
    let ones_stay = (0..bounds.len()).all(|i| bounds[i] > 1 || sizes[i] == 1);
    if same && ones_stay {
        for (&i, &d) in old.iter().zip(&kept) {
            result[d] = sizes[i];
        }
        return Ok(());
    }
    let inferred = to_index(op.inferred_dimension).filter(|d| to.contains(d));
    let flagged: Vec<usize> = to.clone().filter(|&d| shape.is_dynamic(d)).collect();
    let only = (flagged.len() == 1).then(|| flagged[0]);
    let first = || kept.first().copied().or(to.clone().next()).filter(|_| flagged.len() < 2);
    let Some(at) = inferred.or(only).or_else(first) else {
        let message = format!("which dimensions of {shape:#} take what sizes cannot be told");
        return Err(Error::unsupported(message));
    };
    let elements: i64 = sizes.iter().product();
    let row: i64 = to.filter(|&d| d != at).map(|d| shape.dims[d]).product();
    if elements % row != 0 {
        let message =
            format!("{elements} elements do not fill rows of {row} of dimension {at} of {shape:#}");
        return Err(Code::Trap { message }.into());
    }
    result[at] = elements / row;
    Ok(())
}

fn to_index(d: i64) -> Option<usize> {
    usize::try_from(d).ok()
}

/// The shortest runs of dimensions on both sides that hold equally many elements; none is empty.
fn groups(from: &[i64], to: &[i64]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut groups = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < from.len() && j < to.len() {
        let (first, second) = (i, j);
        let (mut left, mut right) = (from[i], to[j]);
        (i, j) = (i + 1, j + 1);
        while left != right {
            // Both products reach the number of all elements in the end.
            let (side, at, dims) =
                if left < right { (&mut left, &mut i, from) } else { (&mut right, &mut j, to) };
            *side *= dims[*at];
            *at += 1;
        }
        groups.push((first..i, second..j));
    }
    // Only dimensions of size 1 are left.
    if let Some((last_from, last_to)) = groups.last_mut() {
        (last_from.end, last_to.end) = (from.len(), to.len());
    } else if !from.is_empty() {
        groups.push((0..from.len(), 0..to.len()));
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_equally_many() {
        assert_eq!(groups(&[4, 2, 3], &[8, 3]), [(0..2, 0..1), (2..3, 1..2)]);
        assert_eq!(groups(&[5, 1, 3], &[5, 3]), [(0..1, 0..1), (1..3, 1..2)]);
        assert_eq!(groups(&[6], &[2, 3, 1, 1]), [(0..1, 0..4)]);
        assert_eq!(groups(&[1, 1, 4], &[4]), [(0..3, 0..1)]);
        assert_eq!(groups(&[1], &[]), [(0..1, 0..0)]);
        assert!(groups(&[], &[1]).is_empty());
    }
}
