//! Derivatives of ops that move elements: tangents move like the values.
use super::node::{Derivative, Node};
use super::ops;
use super::tangent::Tangent;
use crate::arguments::others;
use crate::{Result, Value};
use hlo::ArrayShape;
use hlo::op::{Broadcast, GetTupleElement, Transpose};

/// An op whose result is its first operand, of any shape.
pub(super) struct Same;
impl Derivative for Same {
    fn jvp<'b>(&self, _: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        Ok(tangents.first().cloned().unwrap_or(Tangent::Zero))
    }
    fn vjp<'b>(&self, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        let mut cotangents = node.zeros();
        if let Some(first) = cotangents.first_mut() {
            *first = cotangent.clone();
        }
        Ok(cotangents)
    }
}

/// A linear op of one array that is its own transpose. Cotangents of `reduce-precision` are rounded
/// as the values are, as in JAX.
pub(super) struct Symmetric;
impl Derivative for Symmetric {}

/// An op that keeps the elements in row-major order.
pub(super) struct Reshaped;
impl Derivative for Reshaped {
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        Ok(node.first_only(c.reshape(&node.operand(0)?.dims()?)))
    }
}

/// A bitcast, which has a derivative where it is a reshape: with one element type and default
/// layouts.
pub(super) struct Bits;
impl Derivative for Bits {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        is_reshape(node)?;
        node.again_first(tangents)
    }
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        is_reshape(node)?;
        Reshaped.vjp_array(node, c)
    }
}
fn is_reshape(node: &Node<'_>) -> Result<()> {
    let (from, to) = (node.operand(0)?.array()?, node.result.array()?);
    if from.ty != to.ty {
        return Err(node.refused("has no derivative: it reads bits as another type"));
    }
    let plain =
        |shape: &ArrayShape| ArrayShape::new(shape.ty, shape.dims.clone()).layout == shape.layout;
    match plain(&from) && plain(&to) {
        true => Ok(()),
        false => Err(node.refused("has no derivative rule here for layouts of its own")),
    }
}

impl Derivative for Broadcast {
    /// Sums over the dimensions that were added.
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let added = others(c.rank()?, &self.dimensions);
        let sum = if added.is_empty() { c } else { c.reduce_sum(&added) };
        // The remaining dimensions are in increasing order of the result's dimensions.
        let order = ops::inverse(&ops::inverse(&self.dimensions));
        Ok(node.first_only(ops::transposed(sum, &order)))
    }
}

impl Derivative for Transpose {
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        Ok(node.first_only(ops::transposed(c, &ops::inverse(&self.dimensions))))
    }
}

impl Derivative for hlo::op::Tuple {
    fn jvp<'b>(&self, _: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        Ok(Tangent::Tuple(tangents.to_vec()))
    }
    fn vjp<'b>(&self, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        Ok((0..node.operands.len()).map(|i| cotangent.element(i)).collect())
    }
}

impl Derivative for GetTupleElement {
    fn jvp<'b>(&self, _: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        Ok(tangents.first().map_or(Tangent::Zero, |t| t.element(ops::at(self.index))))
    }
    fn vjp<'b>(&self, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        let count = node.operand(0)?.shape()?.tuple().map_or(0, <[_]>::len);
        let mut elements = vec![Tangent::Zero; count];
        if let Some(element) = elements.get_mut(ops::at(self.index)) {
            *element = cotangent.clone();
        }
        Ok(vec![Tangent::Tuple(elements)])
    }
}
