//! `get-dimension-size`, `set-dimension-size`, `dynamic-reshape`
use crate::{Error, Result};
use hlo::op::{GetDimensionSize, SetDimensionSize};
use hlo::{ArrayShape, Literal};

pub(super) fn get_dimension_size(_op: &GetDimensionSize, _operand: &Literal) -> Result<Literal> {
    Err(Error::unsupported("`get-dimension-size` cannot be run yet"))
}

pub(super) fn set_dimension_size(
    _op: &SetDimensionSize,
    _operand: &Literal,
    _size: &Literal,
    _shape: &ArrayShape,
) -> Result<Literal> {
    Err(Error::unsupported("`set-dimension-size` cannot be run yet"))
}

pub(super) fn dynamic_reshape(_operands: &[&Literal], _shape: &ArrayShape) -> Result<Literal> {
    Err(Error::unsupported("`dynamic-reshape` cannot be run yet"))
}
