//! `fft`
use crate::{Error, Result};
use hlo::op::Fft;
use hlo::{ArrayShape, Literal};

pub(super) fn fft(_op: &Fft, _operand: &Literal, _shape: &ArrayShape) -> Result<Literal> {
    Err(Error::unsupported("`fft` cannot be run yet"))
}
