//! `clamp`: the operand, limited to a range
//!
//! `result[i] = minimum(maximum(operand[i], min[i]), max[i])`
//!
//! - A scalar `min` or `max` is that bound at every index.
//! - Where `min` is above `max`, the result is `max`.
//! - NaN in any of the three gives NaN.
//!
//! Source: StableHLO, `clamp`.
use super::{Operand, build};

use hlo::op::Clamp;
use hlo::{ArrayShape, Literal};

pub(super) fn clamp(
    op: &Clamp,
    min: &Operand<'_>,
    operand: &Operand<'_>,
    max: &Operand<'_>,
    shape: &ArrayShape,
) -> Literal {
    let Clamp {} = op;
    build(shape, |index| {
        let bound = |array: &Operand<'_>| array.at(if array.rank() == 0 { &[] } else { index });
        num::clamp(shape.ty, bound(min), operand.at(index), bound(max))
    })
}
