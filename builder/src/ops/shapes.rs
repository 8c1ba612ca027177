//! Checks and inference of shapes.
use crate::{Builder, Error, Result, Value};
use hlo::diag::quantity;
use hlo::{ArrayShape, Dims, Op, Shape};

/// Returns the sizes; fails if one is negative.
pub(crate) fn sizes(given: &[i64]) -> Result<Dims> {
    match given.iter().find(|&&size| size < 0) {
        None => Ok(Dims::from_slice(given)),
        Some(size) => Err(Error::argument(format!("the size {size} in {given:?} is negative"))
            .with_help("write every size out: none is counted from the others")),
    }
}

/// Fails unless there are as many entries as the array has dimensions.
pub(crate) fn one_each(name: &str, count: usize, shape: &ArrayShape) -> Result<()> {
    if count == shape.rank() {
        return Ok(());
    }
    let message =
        format!("`{name}` has {}, {shape:#} has rank {}", quantity(count, "entry"), shape.rank());
    Err(Error::argument(message).with_help("give one entry for each dimension"))
}

/// Returns the shape the op gives by its own rule. `stated` may be a shape of which the rule uses
/// only the element type.
pub(crate) fn inferred(
    b: &Builder,
    op: &Op,
    operands: &[Value<'_>],
    stated: Option<&Shape>,
) -> Result<Shape> {
    operands.iter().try_for_each(|&operand| b.owns(operand))?;
    let shapes = b.shapes(operands)?;
    let shapes: Vec<&Shape> = shapes.iter().collect();
    Ok(op.shape(&shapes, stated, &*b.state.borrow())?)
}

/// Returns the result of an op of which the user chooses the element type, and a rule the rest.
pub(crate) fn emit_of_type<'b>(
    b: &'b Builder,
    op: impl Into<Op>,
    operands: &[Value<'b>],
    ty: Option<hlo::ElementType>,
) -> Result<Value<'b>> {
    let op = op.into();
    // A rule that fails here fails again where the instruction is made, and is reported from there.
    let stated = ty.map(|ty| {
        let scalar = Shape::scalar(ty);
        inferred(b, &op, operands, Some(&scalar)).unwrap_or(scalar)
    });
    b.emit(op, operands, stated)
}
