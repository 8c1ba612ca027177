//! `ragged-dot`
use crate::{Error, Result};
use hlo::op::RaggedDot;
use hlo::{ArrayShape, Literal};

pub(super) fn ragged_dot(
    _op: &RaggedDot,
    _operands: &[&Literal],
    _shape: &ArrayShape,
) -> Result<Literal> {
    Err(Error::unsupported("`ragged-dot` cannot be run yet"))
}
