//! `set-dimension-size`: the operand, with another size of one dimension
//!
//! `result[i] = operand[i]` within the bounds; elements with `i[dimension] < size` are valid
//!
//! - In a shape whose dimension is not dynamic all elements are valid, whatever the size.
//! - Elements beyond the previous size may become valid again; their values are those that earlier
//!   ops left.
//! - A size below 0 or above the bound is `E0408`. XLA does not check it; there the values of such
//!   an array are undefined.
//!
//! Source: XLA operation semantics, `SetDimensionSize`.
use super::{Operand, build};
use hlo::op::SetDimensionSize;
use hlo::{ArrayShape, Dims, Literal};
use num::Result;
use num::error::Code;
use num::index::to_usize;

pub(super) fn set_dimension_size(
    op: &SetDimensionSize,
    operand: &Operand<'_>,
    size: &Operand<'_>,
    shape: &ArrayShape,
) -> Result<Literal> {
    let SetDimensionSize { dimensions } = op;
    let dim = to_usize(dimensions[0]);
    let mut sizes = Dims::from_slice(operand.sizes);
    sizes[dim] = checked_size(size, dim, shape)?;
    if !shape.is_dynamic(dim) {
        sizes[dim] = shape.dims[dim];
    }
    Ok(build(shape, |index| operand.at(index)).with_sizes(&sizes))
}

/// Returns the operand's size for dimension `dim` of an array with the bounds of `shape`.
pub(super) fn checked_size(size: &Operand<'_>, dim: usize, shape: &ArrayShape) -> Result<i64> {
    let (size, bound) = (size.integer_at(&[]), shape.dims[dim]);
    if (0..=bound).contains(&size) {
        return Ok(size);
    }
    let message = format!("dimension {dim} of {shape:#} cannot have size {size}");
    Err(Code::Trap { message }.into())
}
