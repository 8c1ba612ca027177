//! `stochastic-convert`: a float as a signed integer, rounded up or down by a random number
//!
//! `result[i] = sign(x) * (trunc(abs(x)) + up)` with `x = operand[i]`, and `up` 1 if
//! `random[i] < fraction(abs(x)) * 2^bits`, else 0
//!
//! `random` has unsigned integers of as many bits as the operand. If they are uniform, a number is
//! rounded away from zero with the probability of its fraction, and an integer is not changed.
//!
//! - NaN gives 0. The result is clamped to the range of its type, also if rounding would exceed it.
//! - XLA defines only signed integers as results; all others are `E0402`.
//!
//! Source: XLA's evaluator; XLA operation semantics name the op only.
use super::{Operand, try_build};
use hlo::op::StochasticConvert;
use hlo::{ArrayShape, Literal};
use num::{Error, Result};

pub(super) fn stochastic_convert(
    op: &StochasticConvert,
    operand: &Operand<'_>,
    random: &Operand<'_>,
    shape: &ArrayShape,
) -> Result<Literal> {
    let StochasticConvert {} = op;
    try_build(shape, |index| {
        let (element, random) = (operand.at(index), random.at(index));
        num::stochastic_convert(operand.shape.ty, shape.ty, element, random).ok_or_else(|| {
            let message = format!("`stochastic-convert` to {} is not defined by XLA", shape.ty);
            Error::unsupported(message)
        })
    })
}
