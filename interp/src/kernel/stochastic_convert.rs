//! `stochastic-convert`: `result[i] = trunc(operand[i])`, one further from zero if `random[i] < fraction * 2^bits`
//!
//! A float becomes a signed integer, rounded up or down by chance: `bits` is the width of the operand, `random` an
//! unsigned number of that width, and the fraction is that of the absolute value. So a number is rounded away from zero
//! as often as its fraction says, and an integer is unchanged.
//!
//! NaN gives 0. What lies beyond the result's type becomes its largest or smallest number, and so does what chance would
//! carry beyond it. XLA has no meaning for results that are no signed integers (its evaluator refuses them): `E0402`.
use super::build;
use crate::{Error, Result, num};
use hlo::{ArrayShape, Class, Literal};

pub(super) fn stochastic_convert(
    operand: &Literal,
    random: &Literal,
    shape: &ArrayShape,
) -> Result<Literal> {
    let from = operand.array_shape().expect("verified: an array").ty;
    if shape.ty.class() != Class::Signed {
        let message = format!("`stochastic-convert` to {} has no meaning in XLA", shape.ty);
        return Err(Error::unsupported(message));
    }
    Ok(build(shape, |i| {
        num::stochastic_convert(from, shape.ty, operand.get(i), random.get(i))
            .expect("the result is a signed integer")
    }))
}
