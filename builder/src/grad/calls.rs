//! Derivatives of call, fusion, map and custom-call.
use super::callee::{Callee, traced};
use super::node::{Derivative, Node};
use super::tangent::Tangent;
use super::{leaves, library};
use crate::{Error, Result, Value};
use hlo::ir::ComputationId;
use hlo::op::{Call, CustomCall, Fusion, Map};

/// Calls the JVP of a computation.
fn jvp<'b>(node: &Node<'b>, id: ComputationId, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let (b, callee) = (node.result.builder(), Callee::of(node, id)?);
    let tangents: Vec<_> = (tangents.iter().zip(&callee.parameters))
        .flat_map(|(t, shape)| leaves::of_tangent(t, shape))
        .collect();
    let (given, takes) = (leaves::present(&tangents), callee.takes());
    let flowing = callee.jvp_leaves(&given)?;
    if !flowing.contains(&true) {
        return Ok(Tangent::Zero);
    }
    let shapes = [takes.as_slice(), &leaves::marked(&takes, &given)].concat();
    let to_apply = traced(b, &callee.named("jvp")?, &shapes, |p| {
        let (x, t) = p.split_at(takes.len());
        let pushed = callee.jvp(x, &leaves::dealt(&given, t.iter().copied()))?;
        Ok(leaves::kept(&pushed))
    })?;
    let operands = [leaves::of_all(&node.operands)?, leaves::kept(&tangents)].concat();
    let pushed = b.emit(Call { to_apply, is_composite: false }, &operands, None)?;
    let pushed = leaves::dealt(&flowing, leaves::of(pushed)?);
    Ok(leaves::tangent(&callee.result, &mut pushed.into_iter()))
}

/// Calls the VJP of a computation.
fn vjp<'b>(
    node: &Node<'b>,
    id: ComputationId,
    cotangent: &Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    let (b, callee) = (node.result.builder(), Callee::of(node, id)?);
    let cotangents = leaves::of_tangent(cotangent, &callee.result);
    let (given, takes) = (leaves::present(&cotangents), callee.takes());
    let needed = node.needed_leaves();
    let [flowing, _] = callee.vjp_leaves(&given, &needed)?;
    if !flowing.contains(&true) {
        return Ok(node.zeros());
    }
    let shapes = [takes.as_slice(), &leaves::marked(&callee.gives(), &given)].concat();
    let to_apply = traced(b, &callee.named("vjp")?, &shapes, |p| {
        let (x, c) = p.split_at(takes.len());
        let pulled = callee.vjp(x, &leaves::dealt(&given, c.iter().copied()), &needed)?;
        Ok(leaves::kept(&pulled))
    })?;
    let operands = [leaves::of_all(&node.operands)?, leaves::kept(&cotangents)].concat();
    let pulled = b.emit(Call { to_apply, is_composite: false }, &operands, None)?;
    let mut pulled = leaves::dealt(&flowing, leaves::of(pulled)?).into_iter();
    Ok(callee.parameters.iter().map(|shape| leaves::tangent(shape, &mut pulled)).collect())
}

impl Derivative for Map {
    /// Maps the derivative of the computation, which returns one scalar.
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let (b, callee) = (node.result.builder(), Callee::of(node, self.to_apply)?);
        let tangents = tangents.iter().map(Tangent::array).collect::<Result<Vec<_>>>()?;
        let (given, takes) = (leaves::present(&tangents), callee.takes());
        if !callee.jvp_leaves(&given)?.contains(&true) {
            return Ok(Tangent::Zero);
        }
        let shapes = [takes.as_slice(), &leaves::marked(&takes, &given)].concat();
        let to_apply = b.trace(&callee.named("jvp")?, &shapes, |p| {
            let (x, t) = p.split_at(takes.len());
            b.record(|_| only(callee.jvp(x, &leaves::dealt(&given, t.iter().copied()))?, node))
        })?;
        let operands = [node.operands.as_slice(), &leaves::kept(&tangents)].concat();
        let op = Map { dimensions: Vec::new(), to_apply };
        Ok(Tangent::Array(b.emit(op, &operands, None)?))
    }
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let (b, callee) = (node.result.builder(), Callee::of(node, self.to_apply)?);
        let shapes = [callee.takes(), callee.gives()].concat();
        let [flowing, _] = callee.vjp_leaves(&[true], &node.needed_leaves())?;
        let mut cotangents = node.zeros();
        for (i, slot) in cotangents.iter_mut().enumerate().filter(|(i, _)| flowing[*i]) {
            let this: Vec<bool> = (0..flowing.len()).map(|other| other == i).collect();
            let to_apply = b.trace(&callee.named("vjp")?, &shapes, |p| {
                b.record(|_| {
                    let (x, c) = p.split_at(flowing.len());
                    let c: Vec<_> = c.iter().copied().map(Some).collect();
                    only(callee.vjp(x, &c, &this)?, node)
                })
            })?;
            let op = Map { dimensions: Vec::new(), to_apply };
            let operands = [node.operands.as_slice(), &[c]].concat();
            *slot = Tangent::Array(b.emit(op, &operands, None)?);
        }
        Ok(cotangents)
    }
}
/// Returns the one tangent there is.
fn only<'b>(tangents: Vec<Option<Value<'b>>>, node: &Node<'b>) -> Result<Value<'b>> {
    let found = tangents.into_iter().flatten().next();
    found.ok_or_else(|| node.refused("has lost its derivative"))
}

macro_rules! calls {
    ($($op:ident $computation:ident;)*) => {
        $(impl Derivative for $op {
            fn jvp<'b>(&self, node: &Node<'b>, t: &[Tangent<'b>]) -> Result<Tangent<'b>> {
                jvp(node, self.$computation, t)
            }
            fn vjp<'b>(&self, node: &Node<'b>, c: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
                vjp(node, self.$computation, c)
            }
        })*
    };
}
calls! { Fusion calls; }

impl Derivative for Call {
    fn jvp<'b>(&self, node: &Node<'b>, t: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        match library::rule(node)? {
            Some(rule) => rule.jvp(node, t),
            None => jvp(node, self.to_apply, t),
        }
    }
    fn vjp<'b>(&self, node: &Node<'b>, c: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        match library::rule(node)? {
            Some(rule) => rule.vjp(node, c),
            None => vjp(node, self.to_apply, c),
        }
    }
}

impl Derivative for CustomCall {
    fn jvp<'b>(&self, node: &Node<'b>, _: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        Err(unknown(self, node))
    }
    fn vjp<'b>(&self, node: &Node<'b>, _: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        Err(unknown(self, node))
    }
}
fn unknown(op: &CustomCall, node: &Node<'_>) -> Error {
    node.refused(&format!("of `{}` has no derivative rule here", op.custom_call_target.0))
}
