//! `dynamic-reshape`: the operand's elements under sizes given by values
//!
//! `result[i] = operand[j]` where i and j have the same number in row-major order
//!
//! Elements within the dynamic sizes are numbered: in the operand by its sizes, in the result by
//! the sizes that the other operands give, one scalar for each dimension.
//!
//! - A size below 0 or above its bound is `E0408`, and so are sizes with a different number of
//!   elements.
//!
//! Source: XLA operation semantics, `DynamicReshape`; StableHLO, `dynamic_reshape`.
use super::Operand;
use super::reshape::renumber;
use super::set_dimension_size::checked_size;
use hlo::op::DynamicReshape;
use hlo::{ArrayShape, Dims, Literal};
use num::Result;

pub(super) fn dynamic_reshape(
    op: &DynamicReshape,
    operand: &Operand<'_>,
    sizes: &[Operand<'_>],
    shape: &ArrayShape,
) -> Result<Literal> {
    let DynamicReshape {} = op;
    let sizes = sizes.iter().enumerate().map(|(dim, size)| checked_size(size, dim, shape));
    let sizes: Dims = sizes.collect::<Result<_>>()?;
    renumber(operand, &sizes, shape)
}
