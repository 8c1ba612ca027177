//! Functions applied to all shapes and values of a candidate.
use crate::reduce::Candidate;
use crate::reduce::search::Edited;
use hlo::literal::ConstantValue;
use hlo::op::Constant;
use hlo::{ArrayShape, Literal, Op, Shape};

/// Applies functions to every shape, and to every constant and argument.
pub(super) fn mapped(
    candidate: &Candidate,
    shape: &dyn Fn(&ArrayShape) -> ArrayShape,
    value: &dyn Fn(&Literal) -> Literal,
) -> Edited {
    let mut module = candidate.module.module().clone();
    for (_, computation) in module.computations.iter_mut() {
        for (_, instruction) in computation.instructions.iter_mut() {
            instruction.shape = map_shape(&instruction.shape, shape);
            if let Op::Constant(Constant { value: constant }) = &mut instruction.op
                && let ConstantValue::Literal(literal) = &mut **constant
            {
                *literal = map_leaves(literal, value);
            }
        }
        computation.signature = None;
    }
    module.config.entry_layout = None;
    let arguments = candidate.arguments.iter();
    let arguments = arguments.map(|list| list.iter().map(|v| map_leaves(v, value)).collect());
    (module, arguments.collect())
}

/// Applies a function to the arrays of a shape.
fn map_shape(shape: &Shape, map: &dyn Fn(&ArrayShape) -> ArrayShape) -> Shape {
    match shape {
        Shape::Array(array) => map(array).into(),
        Shape::Tuple(parts) => {
            Shape::Tuple(parts.iter().map(|part| map_shape(part, map)).collect())
        }
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => shape.clone(),
    }
}

/// Applies a function to the arrays of a value.
pub(super) fn map_leaves(value: &Literal, map: &dyn Fn(&Literal) -> Literal) -> Literal {
    match value.elements() {
        Some(parts) => Literal::tuple(parts.iter().map(|part| map_leaves(part, map)).collect()),
        None => map(value),
    }
}
