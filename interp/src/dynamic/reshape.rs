//! `reshape` of what is smaller than its bounds: the elements that count are packed under the sizes
//! that the function in `spec` finds.
use crate::{Error, Result};
use hlo::ir::Instruction;
use hlo::{ArrayShape, Literal, Op};
use num::error::Code;
use num::index::count;

/// Returns the elements that count, under other sizes.
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
    let sizes = spec::result_sizes(op, bounds, operand.sizes(), shape)?;
    repacked(operand, &sizes, shape)
}
