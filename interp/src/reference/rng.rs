//! `rng`, `rng-get-and-update-state`
use crate::context::Context;
use crate::{Error, Result};
use hlo::op::{Rng, RngGetAndUpdateState};
use hlo::{ArrayShape, Literal};

pub(super) fn rng(
    _op: &Rng,
    _operands: &[&Literal],
    _shape: &ArrayShape,
    _context: &Context<'_>,
) -> Result<Literal> {
    Err(Error::unsupported("`rng` cannot be run yet"))
}

pub(super) fn get_and_update_state(
    _op: &RngGetAndUpdateState,
    _shape: &ArrayShape,
    _context: &Context<'_>,
) -> Result<Literal> {
    Err(Error::unsupported("`rng-get-and-update-state` cannot be run yet"))
}
