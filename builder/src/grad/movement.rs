//! Derivatives of ops that move elements: what moves a value moves its tangent.
#![expect(clippy::unnecessary_wraps, reason = "all rules have one signature")]
use super::{Node, Tangent, ops};
use crate::{Result, Value};
use hlo::{Op, Shape};

/// The rules of ops that give their first operand, of any shape.
pub(super) fn push_same<'b>(_: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    Ok(tangents.first().cloned().unwrap_or(Tangent::Zero))
}
pub(super) fn pull_same<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let mut cotangents = node.zeros();
    if let Some(first) = cotangents.first_mut() {
        *first = cotangent.clone();
    }
    Ok(cotangents)
}

/// The rules of linear ops of one array, whose other operands are no numbers, and of those that are their own transpose.
pub(super) fn push_again<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    node.again_first(tangents)
}
pub(super) fn pull_again<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    pull_array(node, cotangent, |c| node.again(&[c], None))
}

/// Bits read as another type have no derivative; read as the type they have, in the order they have, they are a reshape.
fn bits_are_kept(node: &Node<'_>) -> Result<()> {
    let (from, to) = (node.operand(0)?.array()?, node.result.array()?);
    if from.ty != to.ty {
        return Err(node.refused("has no derivative: it reads bits as another type"));
    }
    let plain = |shape: &hlo::ArrayShape| {
        hlo::ArrayShape::new(shape.ty, shape.dims.clone()).layout == shape.layout
    };
    if !plain(&from) || !plain(&to) {
        return Err(node.refused("has no derivative rule here for layouts of its own"));
    }
    Ok(())
}
pub(super) fn push_bitcast<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    bits_are_kept(node)?;
    node.again_first(tangents)
}
pub(super) fn pull_bitcast<'b>(
    node: &Node<'b>,
    cotangent: &Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    bits_are_kept(node)?;
    pull_reshape(node, cotangent)
}

/// The rule of an op whose cotangent's array becomes that of its first operand.
fn pull_array<'b>(
    node: &Node<'b>,
    cotangent: &Tangent<'b>,
    back: impl FnOnce(Value<'b>) -> Result<Value<'b>>,
) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    Ok(node.first_only(back(c)?))
}
pub(super) fn pull_reshape<'b>(
    node: &Node<'b>,
    cotangent: &Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    pull_array(node, cotangent, |c| Ok(c.reshape(&node.operand(0)?.dims()?)))
}
/// Sums over the dimensions that were made.
pub(super) fn pull_broadcast<'b>(
    node: &Node<'b>,
    cotangent: &Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    let Op::Broadcast(op) = &node.op else { return Err(node.refused("is no broadcast")) };
    pull_array(node, cotangent, |c| {
        let made = ops::others(c.rank()?, &op.dimensions);
        // What is left stands in growing order of the result's dimensions.
        let order = ops::inverse(&ops::inverse(&op.dimensions));
        Ok(ops::transposed(ops::sum(c, &made)?, &order))
    })
}
pub(super) fn pull_transpose<'b>(
    node: &Node<'b>,
    cotangent: &Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    let Op::Transpose(op) = &node.op else { return Err(node.refused("is no transpose")) };
    pull_array(node, cotangent, |c| Ok(ops::transposed(c, &ops::inverse(&op.dimensions))))
}
pub(super) fn push_tuple<'b>(_: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    Ok(Tangent::Tuple(tangents.to_vec()))
}
pub(super) fn pull_tuple<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    Ok((0..node.operands.len()).map(|i| cotangent.element(i)).collect())
}
pub(super) fn push_element<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let Op::GetTupleElement(op) = &node.op else { return Err(node.refused("is no element")) };
    Ok(tangents.first().map_or(Tangent::Zero, |t| t.element(ops::at(op.index))))
}
pub(super) fn pull_element<'b>(
    node: &Node<'b>,
    cotangent: &Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    let Op::GetTupleElement(op) = &node.op else { return Err(node.refused("is no element")) };
    let count = match node.operand(0)?.shape()? {
        Shape::Tuple(elements) => elements.len(),
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => 0,
    };
    let mut elements = vec![Tangent::Zero; count];
    if let Some(element) = elements.get_mut(ops::at(op.index)) {
        *element = cotangent.clone();
    }
    Ok(vec![Tangent::Tuple(elements)])
}
