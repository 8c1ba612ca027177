//! `compare`: whether a relation holds, element by element
//!
//! `result[i] = lhs[i] direction rhs[i]`
//!
//! The order is that of the type unless `type` says otherwise: `FLOAT` of floats and complex
//! numbers, `SIGNED` and `UNSIGNED` of integers, `UNSIGNED` of `pred` (false < true).
//!
//! - `FLOAT`: NaN is not equal to anything, so only `NE` holds; -0 equals +0. Complex numbers are
//!   ordered by the real part, then the imaginary part.
//! - `TOTALORDER`: by the bits, so that -NaN < -infinity < ... < -0 < +0 < ... < infinity < NaN.
//!   Numbers are equal if their bits are. The one NaN of a type without -0 is the smallest number;
//!   `f8e8m0fnu` has no sign, its NaN is the largest.
//!
//! Source: StableHLO, `compare`.
use super::{Operand, build};

use hlo::op::Compare;
use hlo::{ArrayShape, Literal, Scalar};

pub(super) fn compare(
    op: &Compare,
    lhs: &Operand<'_>,
    rhs: &Operand<'_>,
    shape: &ArrayShape,
) -> Literal {
    let Compare { direction, ty: _ } = op; // `order` reads `ty` and has the default of each type.
    let order = op.order(lhs.shape.ty);
    build(shape, |index| {
        let (lhs_element, rhs_element) = (lhs.at(index), rhs.at(index));
        Scalar::Pred(num::compare(*direction, order, lhs.shape.ty, lhs_element, rhs_element))
    })
}
