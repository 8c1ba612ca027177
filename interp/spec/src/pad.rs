//! `pad`: the operand with a padding value around and between its elements
//!
//! `result[low + j * (interior + 1)] = operand[j]` in each dimension; every other element is the
//! padding value
//!
//! - A negative `low` or `high` removes elements of the operand and of interior padding, after the
//!   latter is inserted.
//! - The padding value is a scalar operand. The result of an empty operand is padding only.
//!
//! Source: StableHLO, `pad`.
use super::{Operand, build};
use hlo::op::Pad;
use hlo::op::value::PaddingDim;
use hlo::{ArrayShape, Dims, Literal};

pub(super) fn pad(
    op: &Pad,
    operand: &Operand<'_>,
    value: &Operand<'_>,
    shape: &ArrayShape,
) -> Literal {
    let Pad { padding } = op;
    build(shape, |index| {
        let dims = index.iter().zip(&padding.dims).zip(&operand.shape.dims);
        let source: Option<Dims> =
            dims.map(|((&i, padding), &size)| unpad(i, padding, size)).collect();
        source.map_or_else(|| value.at(&[]), |source| operand.at(&source))
    })
}

/// Returns the operand index, in one dimension, of the element at index `i` of the result; `None`
/// for padding.
fn unpad(i: i64, padding: &PaddingDim, size: i64) -> Option<i64> {
    let PaddingDim { low, high: _, interior } = padding; // The size of the result follows from `high`.
    // Padding may be as large as i64 allows, so differences may overflow it.
    let (distance, step) = (i128::from(i) - i128::from(*low), i128::from(*interior) + 1);
    let is_operand = distance % step == 0 && (0..i128::from(size)).contains(&(distance / step));
    is_operand.then(|| i64::try_from(distance / step).expect("below the size"))
}
