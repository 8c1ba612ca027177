//! `convert`: the operand's values in another element type
//!
//! `result[i] = operand[i]`, rounded once to the type of the result
//!
//! | from | to | result |
//! |---|---|---|
//! | integer | integer | modulo 2^n, of the value with its sign |
//! | integer, float | float | the nearest, ties to even; beyond the range infinity, NaN where the type has no infinity |
//! | float | integer | toward zero, clamped to the range; NaN gives 0 |
//! | any | `pred` | whether it is not 0; NaN is not 0 |
//! | `pred` | any | 0 or 1 |
//! | real | complex | the imaginary part is 0 |
//! | complex | real | the real part, converted |
//!
//! - `f4e2m1fn` has neither infinity nor NaN: it saturates at ±6, and NaN gives a zero of its sign.
//! - `f8e8m0fnu` holds powers of two: ties go up, 0 and negative numbers give NaN.
//! - Types without -0 make it +0.
//!
//! Source: StableHLO, `convert`. XLA rounds some pairs twice, through a type between; here every
//! pair is rounded once.
use super::{Operand, build};
use hlo::op::Convert;
use hlo::{ArrayShape, Literal};

pub(super) fn convert(op: &Convert, operand: &Operand<'_>, shape: &ArrayShape) -> Literal {
    let Convert {} = op;
    build(shape, |index| operand.at(index).convert(operand.shape.ty, shape.ty))
}
