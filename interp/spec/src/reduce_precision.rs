//! `reduce-precision`: the operand, rounded to a narrower float format and kept in its type
//!
//! `result[i] = operand[i]`, rounded to a sign, `exponent_bits` and `mantissa_bits`
//!
//! - Ties go to the even mantissa. A field that is at least as wide as that of the type does not
//!   change.
//! - Values beyond the range of the narrower exponent become infinity, below it zero, with their
//!   sign: the format has no denormals.
//! - NaN stays NaN, also without mantissa bits.
//!
//! Source: StableHLO, `reduce_precision`.
use super::{Operand, build};

use hlo::op::ReducePrecision;
use hlo::{ArrayShape, Literal};

/// More bits than the exponent or mantissa of any type, so larger numbers have the same effect.
const ALL: i64 = 64;

pub(super) fn reduce_precision(
    op: &ReducePrecision,
    operand: &Operand<'_>,
    shape: &ArrayShape,
) -> Literal {
    let ReducePrecision { exponent_bits, mantissa_bits } = op;
    let bits = |bits: i64| u32::try_from(bits.min(ALL)).expect("verified: not negative");
    let (exponent, mantissa) = (bits(*exponent_bits), bits(*mantissa_bits));
    build(shape, |index| num::reduce_precision(shape.ty, exponent, mantissa, operand.at(index)))
}
