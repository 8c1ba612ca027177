//! Derivatives of elementwise ops, each written once: both directions multiply by it.
use super::{Node, Tangent};
use crate::{Result, Value};
use hlo::op::{Binary, Unary};

/// The derivative of a one-operand op at `x`, where it gives `y`; nothing if it is zero wherever it exists.
fn derivative<'b>(op: Unary, x: Value<'b>, y: Value<'b>) -> Option<Value<'b>> {
    match op {
        Unary::Exponential => Some(y),
        Unary::Sine => Some(x.cos()),
        Unary::Negate => Some(super::rules::like(x, -1.0)),
        Unary::Floor => None,
        _ => None,
    }
}

/// The derivatives of a two-operand op by each operand at `(x, y)`, where it gives `z`.
fn derivatives<'b>(
    op: Binary,
    x: Value<'b>,
    y: Value<'b>,
    _z: Value<'b>,
) -> [Option<Value<'b>>; 2] {
    match op {
        Binary::Add => [Some(super::rules::like(x, 1.0)), Some(super::rules::like(x, 1.0))],
        Binary::Multiply => [Some(y), Some(x)],
        _ => [None, None],
    }
}

pub(super) fn push_unary<'b>(op: Unary, node: &Node<'b>, t: &Tangent<'b>) -> Result<Tangent<'b>> {
    let Some(t) = t.array()? else { return Ok(Tangent::Zero) };
    let d = derivative(op, node.operand(0)?, node.result);
    Ok(d.map_or(Tangent::Zero, |d| Tangent::Array(t * d)))
}

pub(super) fn push_binary<'b>(
    op: Binary,
    node: &Node<'b>,
    t: &[Tangent<'b>],
) -> Result<Tangent<'b>> {
    let d = derivatives(op, node.operand(0)?, node.operand(1)?, node.result);
    let mut sum = Tangent::Zero;
    for (t, d) in t.iter().zip(d) {
        if let Some((t, d)) = t.array()?.zip(d) {
            sum = sum.plus(Tangent::Array(t * d))?;
        }
    }
    Ok(sum)
}

pub(super) fn pull_unary<'b>(op: Unary, node: &Node<'b>, c: Value<'b>) -> Result<Tangent<'b>> {
    let d = derivative(op, node.operand(0)?, node.result);
    Ok(d.map_or(Tangent::Zero, |d| Tangent::Array(c * d)))
}

pub(super) fn pull_binary<'b>(
    op: Binary,
    node: &Node<'b>,
    c: Value<'b>,
) -> Result<Vec<Tangent<'b>>> {
    let d = derivatives(op, node.operand(0)?, node.operand(1)?, node.result);
    Ok(d.into_iter().map(|d| d.map_or(Tangent::Zero, |d| Tangent::Array(c * d))).collect())
}
