//! Which rule an op has: one line an op, exhaustive.
use super::{Node, Tangent, elementwise};
use crate::{Code, Error, Result, Value};
use hlo::Op;

/// The tangent of the result from those of the operands.
pub(crate) fn push<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    if tangents.iter().all(Tangent::is_zero) {
        return Ok(Tangent::Zero);
    }
    match &node.op {
        Op::Unary(op) => elementwise::push_unary(*op, node, &tangents[0]),
        Op::Binary(op) => elementwise::push_binary(*op, node, tangents),
        _ => Err(node.refused("has no derivative rule yet")),
    }
}

/// The cotangents of the operands from that of the result, which is not zero.
pub(crate) fn pull<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    match &node.op {
        Op::Unary(op) => {
            let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
            Ok(vec![elementwise::pull_unary(*op, node, c)?])
        }
        Op::Binary(op) => {
            let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
            elementwise::pull_binary(*op, node, c)
        }
        _ => Err(node.refused("has no derivative rule yet")),
    }
}

/// The number as a scalar of `value`'s type.
pub(super) fn like(value: Value<'_>, number: f64) -> Value<'_> {
    value.builder().record(|_| crate::operand::number(value, crate::operand::Number::Float(number)))
}

/// Why no derivative of `output` by `input` flows: nothing leads from one to the other, or only ops whose derivative is
/// zero.
pub(super) fn why_zero(output: Value<'_>, input: Value<'_>) -> Result<Error> {
    let message = format!(
        "the result ({:#}) does not depend on the input ({:#})",
        output.shape()?,
        input.shape()?
    );
    Ok(Code::Disconnected { message }.into())
}
