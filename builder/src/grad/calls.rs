//! Derivatives of call, fusion, map and custom-call.
use super::callee::{Callee, traced};
use super::{Node, Tangent, leaves};
use crate::{Error, Result, Value};
use hlo::Op;
use hlo::op::{Call, Map};

fn callee<'b>(node: &Node<'b>) -> Result<Callee<'b>> {
    let id = match &node.op {
        Op::Call(op) => op.to_apply,
        Op::Fusion(op) => op.calls,
        Op::Map(op) => op.to_apply,
        _ => return Err(node.refused("calls no computation")),
    };
    Callee::of(node.result.builder(), id)
}

pub(super) fn push<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let (b, callee) = (node.result.builder(), callee(node)?);
    let tangents: Vec<_> = (tangents.iter().zip(&callee.parameters))
        .flat_map(|(t, shape)| leaves::of_tangent(t, shape))
        .collect();
    let (given, takes) = (leaves::present(&tangents), callee.takes());
    let flowing = callee.pushes(&given)?;
    if !flowing.contains(&true) {
        return Ok(Tangent::Zero);
    }
    let shapes = [takes.as_slice(), &leaves::marked(&takes, &given)].concat();
    let to_apply = traced(b, &callee.named("jvp")?, &shapes, |p| {
        let (x, t) = p.split_at(takes.len());
        let pushed = callee.push(x, &leaves::dealt(&given, t.iter().copied()))?;
        Ok(leaves::kept(&pushed))
    })?;
    let operands = [leaves::of_all(&node.operands)?, leaves::kept(&tangents)].concat();
    let pushed = b.emit(Call { to_apply, is_composite: false }, &operands, None)?;
    let pushed = leaves::dealt(&flowing, leaves::of(pushed)?);
    Ok(leaves::tangent(&callee.result, &mut pushed.into_iter()))
}

pub(super) fn pull<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let (b, callee) = (node.result.builder(), callee(node)?);
    let cotangents = leaves::of_tangent(cotangent, &callee.result);
    let (given, takes) = (leaves::present(&cotangents), callee.takes());
    let wanted = node.wanted_leaves();
    let [flowing, _] = callee.pulls(&given, &wanted)?;
    if !flowing.contains(&true) {
        return Ok(node.zeros());
    }
    let shapes = [takes.as_slice(), &leaves::marked(&callee.gives(), &given)].concat();
    let to_apply = traced(b, &callee.named("vjp")?, &shapes, |p| {
        let (x, c) = p.split_at(takes.len());
        let pulled = callee.pull(x, &leaves::dealt(&given, c.iter().copied()), &wanted)?;
        Ok(leaves::kept(&pulled))
    })?;
    let operands = [leaves::of_all(&node.operands)?, leaves::kept(&cotangents)].concat();
    let pulled = b.emit(Call { to_apply, is_composite: false }, &operands, None)?;
    let mut pulled = leaves::dealt(&flowing, leaves::of(pulled)?).into_iter();
    Ok(callee.parameters.iter().map(|shape| leaves::tangent(shape, &mut pulled)).collect())
}

/// The computation's derivative is mapped: it gives one scalar, as a map's computation must.
pub(super) fn push_map<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let (b, callee) = (node.result.builder(), callee(node)?);
    let tangents = tangents.iter().map(Tangent::array).collect::<Result<Vec<_>>>()?;
    let (given, takes) = (leaves::present(&tangents), callee.takes());
    if !callee.pushes(&given)?.contains(&true) {
        return Ok(Tangent::Zero);
    }
    let shapes = [takes.as_slice(), &leaves::marked(&takes, &given)].concat();
    let to_apply = b.trace(&callee.named("jvp")?, &shapes, |p| {
        let (x, t) = p.split_at(takes.len());
        b.record(|_| only(callee.push(x, &leaves::dealt(&given, t.iter().copied()))?, node))
    })?;
    let operands = [node.operands.as_slice(), &leaves::kept(&tangents)].concat();
    let op = Map { dimensions: Vec::new(), to_apply };
    Ok(Tangent::Array(b.emit(op, &operands, None)?))
}
pub(super) fn pull_map<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let (b, callee) = (node.result.builder(), callee(node)?);
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let shapes = [callee.takes(), callee.gives()].concat();
    let [flowing, _] = callee.pulls(&[true], &node.wanted_leaves())?;
    let mut cotangents = node.zeros();
    for (i, slot) in cotangents.iter_mut().enumerate().filter(|(i, _)| flowing[*i]) {
        let this: Vec<bool> = (0..flowing.len()).map(|other| other == i).collect();
        let to_apply = b.trace(&callee.named("vjp")?, &shapes, |p| {
            b.record(|_| {
                let (x, c) = p.split_at(flowing.len());
                let c: Vec<_> = c.iter().copied().map(Some).collect();
                only(callee.pull(x, &c, &this)?, node)
            })
        })?;
        let op = Map { dimensions: Vec::new(), to_apply };
        let operands = [node.operands.as_slice(), &[c]].concat();
        *slot = Tangent::Array(b.emit(op, &operands, None)?);
    }
    Ok(cotangents)
}
/// The one tangent there is.
fn only<'b>(tangents: Vec<Option<Value<'b>>>, node: &Node<'b>) -> Result<Value<'b>> {
    let found = tangents.into_iter().flatten().next();
    found.ok_or_else(|| node.refused("has lost its derivative"))
}

/// What a custom call does is not known.
fn unknown(node: &Node<'_>) -> Error {
    let target = match &node.op {
        Op::CustomCall(op) => op.custom_call_target.0.as_str(),
        _ => "",
    };
    node.refused(&format!("of `{target}` has no derivative rule here"))
}
pub(super) fn push_custom<'b>(node: &Node<'b>, _: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    Err(unknown(node))
}
pub(super) fn pull_custom<'b>(node: &Node<'b>, _: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    Err(unknown(node))
}
