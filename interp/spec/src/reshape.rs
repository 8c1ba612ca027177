//! `reshape`: the operand's elements in other dimensions
//!
//! `result[i] = operand[j]` where i and j have the same number in row-major order
//!
//! Layouts have no effect. If the operand is smaller than its bounds, only elements within its
//! sizes are numbered, by the sizes of both arrays; those of the result follow from the bounds.
//! Both lists of bounds are split into the shortest groups that hold the same number of elements:
//! `[<=4,2,3]` to `[<=8,3]` is `<=4,2` to `<=8` and `3` to `3`. In each group:
//!
//! - If its bounds are equal on both sides, ignoring sizes of 1, each dimension keeps its size.
//! - Otherwise one dimension of the result is resized, and the others have their bounds as sizes.
//!   It is the `inferred_dimension`, else the only one that is dynamic in the stated shape, else
//!   the first that is larger than 1.
//! - Elements that do not fill whole rows of that dimension are `E0408`. Several dynamic
//!   dimensions, none of them inferred, are `E0402`.
//!
//! Source: StableHLO, `reshape`; for dynamic sizes XLA operation semantics, `DynamicReshape`.
use super::{Operand, build, index_of, position};
use hlo::op::Reshape;
use hlo::{ArrayShape, Dims, Literal, Scalar};
use num::error::Code;
use num::index::count;
use num::{Error, Result};
use std::ops::Range;

pub(super) fn reshape(op: &Reshape, operand: &Operand<'_>, shape: &ArrayShape) -> Result<Literal> {
    let sizes = result_sizes(op, &operand.shape.dims, operand.sizes, shape)?;
    renumber(operand, &sizes, shape)
}

/// Returns an array of the bounds of `shape` with the given sizes whose elements are those of
/// `operand`, in row-major order; elements beyond the sizes are 0.
pub(super) fn renumber(
    operand: &Operand<'_>,
    sizes: &[i64],
    shape: &ArrayShape,
) -> Result<Literal> {
    let (found, expected) = (count(operand.sizes), count(sizes));
    if found != expected {
        let message = format!("{found} elements cannot be reshaped to sizes {sizes:?}");
        return Err(Code::Trap { message }.into());
    }
    let result = build(shape, |index| {
        if index.iter().zip(sizes).all(|(i, size)| i < size) {
            operand.at(&index_of(operand.sizes, position(sizes, index)))
        } else {
            Scalar::zero(shape.ty)
        }
    });
    Ok(result.with_sizes(sizes))
}

/// Returns the sizes of the result of a reshape of an array with these bounds and sizes.
pub fn result_sizes(
    op: &Reshape,
    bounds: &[i64],
    sizes: &[i64],
    shape: &ArrayShape,
) -> Result<Dims> {
    let Reshape { inferred_dimension } = op;
    let mut result = shape.dims.clone();
    if bounds == sizes || shape.element_count() == Some(0) {
        return Ok(result);
    }
    for (from, to) in groups(bounds, &shape.dims) {
        let (bounds, sizes) = (&bounds[from.clone()], &sizes[from]);
        if bounds == sizes {
            continue;
        }
        let kept = to.clone().filter(|&d| shape.dims[d] > 1);
        let from = (0..bounds.len()).filter(|&d| bounds[d] > 1);
        let is_same = from.clone().map(|d| bounds[d]).eq(kept.clone().map(|d| shape.dims[d]));
        let ones_are_full = (0..bounds.len()).all(|d| bounds[d] > 1 || sizes[d] == 1);
        if is_same && ones_are_full {
            for (d, to) in from.zip(kept) {
                result[to] = sizes[d];
            }
            continue;
        }
        let dim = changing(*inferred_dimension, to.clone(), shape)?;
        let elements: i64 = sizes.iter().product();
        let row: i64 = to.filter(|&d| d != dim).map(|d| shape.dims[d]).product();
        if elements % row != 0 {
            let message = format!(
                "{elements} elements do not fill rows of {row} of dimension {dim} of {shape:#}"
            );
            return Err(Code::Trap { message }.into());
        }
        result[dim] = elements / row;
    }
    Ok(result)
}

/// Returns the dimension of a group of result dimensions that is resized.
fn changing(inferred_dimension: i64, group: Range<usize>, shape: &ArrayShape) -> Result<usize> {
    let inferred = usize::try_from(inferred_dimension).ok().filter(|d| group.contains(d));
    let dynamic: Vec<usize> = group.clone().filter(|&d| shape.is_dynamic(d)).collect();
    let stated = match dynamic.as_slice() {
        [] => group.clone().find(|&d| shape.dims[d] > 1).or(group.clone().next()),
        [only] => Some(*only),
        [_, _, ..] => None,
    };
    inferred.or(stated).ok_or_else(|| {
        let message = format!("the sizes of the dynamic dimensions of {shape:#} are ambiguous");
        Error::unsupported(message)
    })
}

/// Splits the dimensions of both sides into the shortest groups that hold the same number of
/// elements.
fn groups(from: &[i64], to: &[i64]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut groups = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < from.len() && j < to.len() {
        let (first, second) = (i, j);
        let (mut left, mut right) = (from[i], to[j]);
        (i, j) = (i + 1, j + 1);
        while left != right {
            // At the end both products are the total number of elements.
            let (product, next, dims) =
                if left < right { (&mut left, &mut i, from) } else { (&mut right, &mut j, to) };
            *product *= dims[*next];
            *next += 1;
        }
        groups.push((first..i, second..j));
    }
    // Only dimensions of size 1 remain.
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
    fn groups_hold_equal_numbers_of_elements() {
        assert_eq!(groups(&[4, 2, 3], &[8, 3]), [(0..2, 0..1), (2..3, 1..2)]);
        assert_eq!(groups(&[5, 1, 3], &[5, 3]), [(0..1, 0..1), (1..3, 1..2)]);
        assert_eq!(groups(&[6], &[2, 3, 1, 1]), [(0..1, 0..4)]);
        assert_eq!(groups(&[1, 1, 4], &[4]), [(0..3, 0..1)]);
        assert_eq!(groups(&[1], &[]), [(0..1, 0..0)]);
        assert!(groups(&[], &[1]).is_empty());
    }
}
