//! Derivatives of ops that are rewritten as simpler ops.
use super::node::{Derivative, Node};
use super::sweep::{Inputs, forward, reverse};
use super::tangent::Tangent;
use crate::{Result, Value};

/// An op that other ops of the same operands can express.
pub(super) trait Rewrite {
    fn rewritten<'b>(&self, node: &Node<'b>) -> Result<Value<'b>>;
}

pub(super) fn jvp<'b>(
    node: &Node<'b>,
    output: Value<'b>,
    tangents: &[Tangent<'b>],
) -> Result<Tangent<'b>> {
    let b = output.builder();
    forward(b, node.rules, output, &node.operands, tangents, Inputs::Leaves)
}
pub(super) fn vjp<'b>(
    node: &Node<'b>,
    output: Value<'b>,
    cotangent: &Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    let b = output.builder();
    reverse(b, node.rules, output, &node.operands, cotangent.clone(), Inputs::Leaves)
}

impl<T: Rewrite> Derivative for T {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        jvp(node, self.rewritten(node)?, tangents)
    }
    fn vjp<'b>(&self, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        vjp(node, self.rewritten(node)?, cotangent)
    }
}
