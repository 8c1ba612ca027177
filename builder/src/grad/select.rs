//! Derivatives of choices and conversions.
use super::node::first;
use super::{Node, Tangent, ops};
use crate::{Result, Value};

pub(super) fn push_select<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let [_, on_true, on_false] = tangents else { return Err(node.refused("is no select")) };
    let chosen =
        [node.operand(0)?, on_true.filled(node.operand(1)?)?, on_false.filled(node.operand(2)?)?];
    Tangent::of(node.again(&chosen, None)?)
}
pub(super) fn pull_select<'b>(
    node: &Node<'b>,
    cotangent: &Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    let pred = node.operand(0)?;
    let mut cotangents = node.zeros();
    if node.wants(1) {
        cotangents[1] = cotangent.map(&|c| chosen(pred, c, ops::zeros_like(c)?))?;
    }
    if node.wants(2) {
        cotangents[2] = cotangent.map(&|c| chosen(pred, ops::zeros_like(c)?, c))?;
    }
    Ok(cotangents)
}
fn chosen<'b>(pred: Value<'b>, on_true: Value<'b>, on_false: Value<'b>) -> Result<Value<'b>> {
    pred.builder().emit(hlo::op::Select {}, &[pred, on_true, on_false], None)
}

/// Where the result is the lower bound, the operand, the upper bound and nothing else: on a bound nothing flows to the
/// operand, as in JAX. Of bounds that cross the upper one wins.
fn places<'b>(node: &Node<'b>) -> Result<[Value<'b>; 3]> {
    let x = node.operand(1)?;
    let shape = x.array()?;
    let low = ops::like_array(node.operand(0)?, &shape)?;
    let high = ops::like_array(node.operand(2)?, &shape)?;
    Ok([low.gt(x) & low.lt(high), x.gt(low) & x.lt(high), high.lt(x.max(low))])
}
pub(super) fn push_clamp<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let shape = node.result.array()?;
    let mut sum = Tangent::Zero;
    for (tangent, place) in tangents.iter().zip(places(node)?) {
        if let Some(t) = tangent.array()? {
            let t = ops::like_array(t, &shape)?;
            sum = sum.plus(Tangent::Array(place.select(t, ops::zeros_like(t)?)))?;
        }
    }
    Ok(sum)
}
pub(super) fn pull_clamp<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let mut cotangents = node.zeros();
    for (i, place) in places(node)?.into_iter().enumerate().filter(|(i, _)| node.wants(*i)) {
        let kept = place.select(c, ops::zeros_like(c)?);
        let scalar = node.operand(i)?.rank()? < c.rank()?;
        cotangents[i] = Tangent::Array(if scalar { ops::total(kept)? } else { kept });
    }
    Ok(cotangents)
}

/// Between floats and complex numbers: the real part of the one is the other's cotangent.
pub(super) fn push_convert<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let Some(t) = first(tangents)? else { return Ok(Tangent::Zero) };
    Ok(Tangent::Array(t.convert_element_type(node.result.element_type()?)))
}
pub(super) fn pull_convert<'b>(
    node: &Node<'b>,
    cotangent: &Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    Ok(vec![Tangent::Array(c.convert_element_type(node.operand(0)?.element_type()?))])
}
