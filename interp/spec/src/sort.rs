//! `sort`: elements along a dimension, ordered by a comparator
//!
//! Along `dimensions`, which names one dimension (the last if it names none), the elements of all
//! operands are permuted alike, so that no element comes after one that it must precede:
//! `to_apply(lhs, rhs)` returns whether `lhs` must precede `rhs`. It takes two elements of each
//! operand: those of operand 0, then those of operand 1, and so on.
//!
//! - The order of elements neither of which must precede the other is kept, whether or not
//!   `is_stable` is set.
//! - A comparator that is not a strict weak order, such as `<` with a NaN, is called in a fixed
//!   sequence, that of a merge sort of runs of 1, 2, 4, .. elements; so its result is deterministic
//!   but not meaningful.
//! - Texts until 2019 have no comparator: the first operand ascends, floats in their total order.
//!
//! Source: StableHLO, `sort`.
use super::{Computations, Operand, Output, ScalarComputation, indices, pack};
use hlo::op::value::{ComparisonType, Direction};
use hlo::op::{Compare, Sort};
use hlo::{Class, Dims, ElementType, Literal, Scalar, Shape};
use num::Result;
use num::clock::Stop;
use num::index::to_i64;
use smallvec::SmallVec;

pub(super) fn sort(
    op: &Sort,
    operands: &[Operand<'_>],
    shape: &Shape,
    call: Computations<'_>,
) -> Result<Literal> {
    let Sort {
        dimensions: _, // Read by `dimension`, which has the default.
        is_stable: _,  // Every sort is stable.
        to_apply,
    } = op;
    let comparator = to_apply.map(|computation| call.function(computation)).transpose()?;
    let dim = op.dimension(operands[0].rank());
    let shapes = shape.leaves().into_iter().filter_map(Shape::array);
    let mut results: Vec<Output> = operands
        .iter()
        .zip(shapes)
        .map(|(operand, shape)| Output::copy_of(operand, shape))
        .collect();

    let mut lines = operands[0].shape.dims.clone();
    let Some(size) = lines.get_mut(dim).map(|size| std::mem::replace(size, 1.min(*size))) else {
        // A scalar is sorted.
        return Ok(pack(shape, results.into_iter().map(Output::into_literal).collect()));
    };
    let stop = Stop::current();
    for line in indices(&lines) {
        let at = |i: i64| {
            let mut index = line.clone();
            index[dim] = i;
            index
        };
        let order = merge_sort((0..size).collect(), &mut |lhs, rhs| {
            precedes(comparator.as_ref(), operands, &at(lhs), &at(rhs))
        })?;
        for (result, operand) in results.iter_mut().zip(operands) {
            for (i, &from) in order.iter().enumerate().take_while(|_| !stop.is_set()) {
                result.set(&at(to_i64(i)), operand.at(&at(from)));
            }
        }
    }
    Ok(pack(shape, results.into_iter().map(Output::into_literal).collect()))
}

/// Returns whether the elements at `lhs` must precede those at `rhs`.
fn precedes(
    comparator: Option<&ScalarComputation<'_>>,
    operands: &[Operand<'_>],
    lhs: &Dims,
    rhs: &Dims,
) -> Result<bool> {
    let Some(comparator) = comparator else {
        let ty = operands[0].shape.ty;
        return Ok(is_less(ty, operands[0].at(lhs), operands[0].at(rhs)));
    };
    let arguments: SmallVec<[Scalar; 8]> =
        operands.iter().flat_map(|operand| [operand.at(lhs), operand.at(rhs)]).collect();
    Ok(comparator.call(&arguments)?[0] == Scalar::Pred(true))
}

/// Returns whether `a < b`; floats are in their total order: -NaN, -inf, .., -0, +0, .., +inf,
/// +NaN.
pub(super) fn is_less(ty: ElementType, a: Scalar, b: Scalar) -> bool {
    let order = match ty.class() {
        Class::Float => ComparisonType::TotalOrder,
        Class::Pred | Class::Signed | Class::Unsigned | Class::Complex => Compare::default_type(ty),
    };
    num::compare(Direction::Lt, order, ty, a, b)
}

/// Sorts a list: neighboring runs of 1, 2, 4, .. elements are merged. An element of the right run
/// comes first only if it must precede that of the left one. When the run is to stop, the list is
/// returned as it is then.
pub(super) fn merge_sort(
    mut list: Vec<i64>,
    precedes: &mut impl FnMut(i64, i64) -> Result<bool>,
) -> Result<Vec<i64>> {
    let stop = Stop::current();
    let mut size = 1;
    while size < list.len() {
        let mut merged = Vec::with_capacity(list.len());
        for runs in list.chunks(2 * size) {
            let (mut left, mut right) = runs.split_at(size.min(runs.len()));
            while let (Some((&l, after_l)), Some((&r, after_r))) =
                (left.split_first(), right.split_first())
            {
                if stop.is_set() {
                    return Ok(list);
                }
                if precedes(r, l)? {
                    merged.push(r);
                    right = after_r;
                } else {
                    merged.push(l);
                    left = after_l;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        list = merged;
        size *= 2;
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num::index::to_usize;

    #[test]
    fn sorts_stably() {
        let keys = [3, 1, 1, 3, 2, 1];
        let key = |i| keys[to_usize(i)];
        let order = merge_sort((0..6).collect(), &mut |a, b| Ok(key(a) < key(b)));
        assert_eq!(order.unwrap(), [1, 2, 5, 4, 0, 3]);
        assert!(merge_sort(Vec::new(), &mut |_, _| Ok(true)).unwrap().is_empty());
    }
}
