//! `rng-bit-generator`
use crate::{Error, Result};
use hlo::op::RngBitGenerator;
use hlo::{Literal, Shape};

pub(super) fn rng_bit_generator(
    _op: &RngBitGenerator,
    _state: &Literal,
    _shape: &Shape,
) -> Result<Literal> {
    Err(Error::unsupported("`rng-bit-generator` cannot be run yet"))
}
