//! `get-dimension-size`, `set-dimension-size`, `dynamic-reshape`; and `reshape` of what is smaller than its bounds
//!
//! - `get-dimension-size`: `result = size of dimension d`, at run time.
//! - `set-dimension-size`: the data as it is, of which the operand `size` counts in dimension d. Elements that did not
//!   count before may count again: what they are is whatever the ops before left there.
//! - `dynamic-reshape`: the elements that count, in row-major order, under the sizes the operands give.
//!
//! A size below 0 or above its bound stops the run with `E0408`, and so do sizes of a `dynamic-reshape` that hold another
//! number of elements than count. XLA checks none of it: on XLA:CPU a size of 9 in a bound of 5 is read back as 9, and
//! what is computed from it is undefined.
//!
//! The sizes of a `reshape` are those that its page in `spec` finds.
use crate::error::Code;
use crate::index::{count, to_usize};
use crate::{Error, Result};
use hlo::ir::Instruction;
use hlo::op::{GetDimensionSize, SetDimensionSize};
use hlo::{ArrayShape, Dims, ElementType, Literal, Op, Scalar};

pub(super) fn get_dimension_size(op: &GetDimensionSize, operand: &Literal) -> Literal {
    let size = operand.sizes()[to_usize(op.dimensions[0])];
    Literal::scalar(ElementType::S32, Scalar::Signed(size))
}

pub(super) fn set_dimension_size(
    op: &SetDimensionSize,
    operand: &Literal,
    size: &Literal,
    shape: &ArrayShape,
) -> Result<Literal> {
    let at = to_usize(op.dimensions[0]);
    let mut sizes = Dims::from_slice(operand.sizes());
    sizes[at] = size_within(size, at, shape)?;
    Ok(operand.with_shape(shape.clone()).with_sizes(&sizes))
}

pub(super) fn dynamic_reshape(operands: &[&Literal], shape: &ArrayShape) -> Result<Literal> {
    let (operand, sizes) = operands.split_first().expect("verified: an operand");
    let sizes = sizes.iter().enumerate().map(|(d, size)| size_within(size, d, shape));
    let sizes: Dims = sizes.collect::<Result<_>>()?;
    repacked(operand, &sizes, shape)
}

/// A size given by an operand.
fn size_within(size: &Literal, at: usize, shape: &ArrayShape) -> Result<i64> {
    let (size, bound) = (size.get(0).as_wrapping(), shape.dims[at]);
    if (0..=bound).contains(&size) {
        return Ok(size);
    }
    let message = format!("dimension {at} of {shape:#} cannot have size {size}");
    Err(Code::Trap { message }.into())
}

/// The elements that count, under other sizes.
fn repacked(operand: &Literal, sizes: &[i64], shape: &ArrayShape) -> Result<Literal> {
    let (found, wanted) = (count(operand.sizes()), count(sizes));
    if found != wanted {
        let message = format!("{found} elements cannot be reshaped to sizes {sizes:?}");
        return Err(Code::Trap { message }.into());
    }
    let packed = operand.to_static().with_shape(ArrayShape::new(shape.ty, sizes));
    Ok(packed.to_bounded_dynamic(shape))
}

/// `reshape` of an operand that is smaller than its bounds.
pub(super) fn reshape(instruction: &Instruction, operand: &Literal) -> Result<Literal> {
    let (Op::Reshape(op), Some(shape)) = (&instruction.op, instruction.shape.array()) else {
        return Err(Error::internal("no reshape"));
    };
    let bounds = &operand.array_shape().expect("verified: an array").dims;
    let sizes = crate::spec::result_sizes(op, bounds, operand.sizes(), shape)?;
    repacked(operand, &sizes, shape)
}
