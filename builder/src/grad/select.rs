//! Derivatives of choices and conversions.
use super::node::{Derivative, Node, first};
use super::ops;
use super::tangent::Tangent;
use crate::{Result, Value};
use hlo::op::{Clamp, Convert, Select};

impl Derivative for Select {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let mut chosen = node.filled(tangents)?;
        chosen[0] = node.operand(0)?;
        Tangent::of(node.again(&chosen)?)
    }
    fn vjp<'b>(&self, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        let pred = node.operand(0)?;
        let mut cotangents = node.zeros();
        if node.needs(1) {
            cotangents[1] = cotangent.map(&|c| Ok(pred.select(c, 0)))?;
        }
        if node.needs(2) {
            cotangents[2] = cotangent.map(&|c| Ok(pred.select(0, c)))?;
        }
        Ok(cotangents)
    }
}

/// Returns where the result is the lower bound, the operand, the upper bound and nothing else: on a
/// bound no derivative flows to the operand, as in JAX. If the bounds cross, the result is the
/// upper one.
fn sources<'b>(node: &Node<'b>) -> Result<[Value<'b>; 3]> {
    let x = node.operand(1)?;
    let shape = x.array()?;
    let low = ops::like_array(node.operand(0)?, &shape)?;
    let high = ops::like_array(node.operand(2)?, &shape)?;
    Ok([low.gt(x) & low.lt(high), x.gt(low) & x.lt(high), high.lt(x.max(low))])
}
impl Derivative for Clamp {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let mut sum = Tangent::Zero;
        for (tangent, source) in tangents.iter().zip(sources(node)?) {
            if let Some(t) = tangent.array()? {
                sum = sum.plus(Tangent::Array(source.select(t, 0)))?;
            }
        }
        Ok(sum)
    }
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let sources = sources(node)?;
        node.each_needed(|i| {
            let kept = sources[i].select(c, 0);
            let scalar = node.operand(i)?.rank()? < c.rank()?;
            Ok(if scalar { ops::total(kept) } else { kept })
        })
    }
}

/// Between floats and complex numbers: the cotangent of the real part is real.
impl Derivative for Convert {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let Some(t) = first(tangents)? else { return Ok(Tangent::Zero) };
        Ok(Tangent::Array(t.convert_element_type(node.result.element_type()?)))
    }
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        Ok(node.first_only(c.convert_element_type(node.operand(0)?.element_type()?)))
    }
}
