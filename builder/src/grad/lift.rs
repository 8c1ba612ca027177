//! Scalar computations applied to arrays element by element.
use crate::arguments::cast;
use crate::{Builder, Code, Error, Result, Value, edits, implicit};
use hlo::ir::{ComputationId, Instruction};
use hlo::op::{Call, Kind};
use hlo::{ArrayShape, Dims, Op, Opcode, Shape};

/// Emits a scalar computation on arrays of these sizes. Returns `None` if it contains an op that is
/// not elementwise.
pub(super) fn lifted<'b>(
    b: &'b Builder,
    id: ComputationId,
    arguments: &[Value<'b>],
    dims: &Dims,
) -> Result<Option<Value<'b>>> {
    let computation = b.state.borrow().finished.get(id).ok_or(Code::Invalid {})?.clone();
    let mut copies: Vec<Value<'b>> = Vec::with_capacity(computation.instructions.len());
    for (_, instruction) in computation.instructions.iter() {
        let operands: Vec<Value<'b>> =
            instruction.operands.iter().map(|id| copies[id.index()]).collect();
        let Some(shape) = on_arrays(&instruction.shape, dims) else { return Ok(None) };
        let op = &instruction.op;
        let copy = if let Op::Parameter(p) = op {
            let number = usize::try_from(p.number).ok();
            let given = number.and_then(|n| arguments.get(n)).copied();
            typed(given.ok_or(Code::Invalid {})?, &instruction.shape)?
        } else if let (Op::Constant(_), Shape::Array(array)) = (op, &shape) {
            let scalar = b.emit(op.clone(), &[], Some(instruction.shape.clone()))?;
            if array.rank() > 0 { implicit::splat(scalar, array)? } else { scalar }
        } else if let Op::Call(call) = op {
            let Some(result) = called(b, call, instruction, &operands, dims)? else {
                return Ok(None);
            };
            result
        } else if is_elementwise(op) {
            b.emit(op.clone(), &operands, Some(shape))?
        } else {
            return Ok(None);
        };
        copies.push(copy);
    }
    let root = copies.get(computation.root.index()).copied();
    root.map(Some).ok_or_else(|| Error::from(Code::Invalid {}))
}

/// As [`lifted`], of a call. A composite stays one, whose derivative is known by its name.
fn called<'b>(
    b: &'b Builder,
    call: &Call,
    instruction: &Instruction,
    operands: &[Value<'b>],
    dims: &Dims,
) -> Result<Option<Value<'b>>> {
    if !call.is_composite {
        return lifted(b, call.to_apply, operands, dims);
    }
    let name = b.state.borrow().finished[call.to_apply].name.clone();
    let shapes = operands.iter().map(|operand| operand.shape()).collect::<Result<Vec<_>>>()?;
    let mut elementwise = true;
    let to_apply = b.trace(&name, &shapes, |p| {
        b.record(|b| {
            let result = lifted(b, call.to_apply, p, dims)?;
            elementwise = result.is_some();
            Ok(result.unwrap_or(b.tuple(&[])))
        })
    })?;
    if !elementwise {
        return Ok(None);
    }
    let result = b.emit(Call { to_apply, is_composite: true }, operands, None)?;
    edits::carry(result, instruction)?;
    Ok(Some(result))
}

/// Returns whether the op does to arrays, element by element, what it does to scalars.
fn is_elementwise(op: &Op) -> bool {
    let opcode = op.opcode();
    let passes_on = opcode.carries_values() && opcode.kind() == Kind::Value;
    opcode.is_elementwise() || passes_on || opcode == Opcode::BitcastConvert
}

/// Returns the shape with arrays in place of scalars.
fn on_arrays(shape: &Shape, dims: &Dims) -> Option<Shape> {
    match shape {
        Shape::Array(array) if array.rank() == 0 => {
            Some(ArrayShape::new(array.ty, dims.clone()).into())
        }
        Shape::Tuple(elements) => {
            elements.iter().map(|e| on_arrays(e, dims)).collect::<Option<_>>().map(Shape::Tuple)
        }
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => None,
    }
}

/// Returns the array in the element type of a parameter: precisions may differ.
fn typed<'b>(value: Value<'b>, parameter: &Shape) -> Result<Value<'b>> {
    match parameter.element_type() {
        Some(ty) => cast(value, ty),
        None => Ok(value),
    }
}
