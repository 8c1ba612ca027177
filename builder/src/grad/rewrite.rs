//! Ops that are differentiated as the simpler ops they stand for.
use super::sweep::{Inputs, pull_through, push_through};
use super::{Node, Tangent};
use crate::{Result, Value};

/// Writes the result in other ops of the same operands.
pub(super) type Rewrite = for<'b> fn(&Node<'b>) -> Result<Value<'b>>;

pub(super) fn push<'b>(
    node: &Node<'b>,
    tangents: &[Tangent<'b>],
    rewrite: Rewrite,
) -> Result<Tangent<'b>> {
    let output = rewrite(node)?;
    push_through(node.result.builder(), output, &node.operands, tangents, Inputs::Leaves)
}
pub(super) fn pull<'b>(
    node: &Node<'b>,
    cotangent: &Tangent<'b>,
    rewrite: Rewrite,
) -> Result<Vec<Tangent<'b>>> {
    let output = rewrite(node)?;
    let b = node.result.builder();
    pull_through(b, output, &node.operands, cotangent.clone(), Inputs::Leaves)
}
