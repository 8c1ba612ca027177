//! `scaled-dot`
use crate::{Error, Result};
use hlo::op::ScaledDot;
use hlo::{ArrayShape, Literal};

pub(super) fn scaled_dot(
    _op: &ScaledDot,
    _operands: &[&Literal],
    _shape: &ArrayShape,
) -> Result<Literal> {
    Err(Error::unsupported("`scaled-dot` cannot be run yet"))
}
