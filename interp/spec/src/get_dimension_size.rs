//! `get-dimension-size`: the size of a dimension at run time
//!
//! `result[] = size[dimension]`
//!
//! - For a dynamic dimension, that is the current size and not the bound.
//!
//! Source: StableHLO, `get_dimension_size`.
use super::{Operand, build};
use hlo::op::GetDimensionSize;
use hlo::{ArrayShape, Literal, Scalar};
use num::index::to_usize;

pub(super) fn get_dimension_size(
    op: &GetDimensionSize,
    operand: &Operand<'_>,
    shape: &ArrayShape,
) -> Literal {
    let GetDimensionSize { dimensions } = op;
    build(shape, |_| Scalar::Signed(operand.sizes[to_usize(dimensions[0])]))
}
