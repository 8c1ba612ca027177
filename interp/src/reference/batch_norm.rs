//! `batch-norm-training`, `batch-norm-inference`, `batch-norm-grad`
use crate::{Error, Result};
use hlo::op::{BatchNormGrad, BatchNormInference, BatchNormTraining};
use hlo::{ArrayShape, Literal, Shape};

pub(super) fn training(
    _op: &BatchNormTraining,
    _operands: &[&Literal],
    _shape: &Shape,
) -> Result<Literal> {
    Err(Error::unsupported("`batch-norm-training` cannot be run yet"))
}

pub(super) fn inference(
    _op: &BatchNormInference,
    _operands: &[&Literal],
    _shape: &ArrayShape,
) -> Result<Literal> {
    Err(Error::unsupported("`batch-norm-inference` cannot be run yet"))
}

pub(super) fn grad(_op: &BatchNormGrad, _operands: &[&Literal], _shape: &Shape) -> Result<Literal> {
    Err(Error::unsupported("`batch-norm-grad` cannot be run yet"))
}
