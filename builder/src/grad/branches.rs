//! Derivatives of conditional: a conditional of the branches' derivatives.
use super::callee::{Callee, filled, traced};
use super::leaves;
use super::node::{Derivative, Node};
use super::tangent::Tangent;
use crate::{Result, Value};
use hlo::Shape;
use hlo::op::Conditional;

/// A conditional's branches.
struct Branches<'b> {
    on_pred: bool,
    callees: Vec<Callee<'b>>,
}

impl<'b> Branches<'b> {
    fn of(op: &Conditional, node: &Node<'b>) -> Result<Self> {
        let callees: Result<_> = op.branches.iter().map(|&id| Callee::of(node, id)).collect();
        Ok(Self { on_pred: op.on_pred, callees: callees? })
    }
    /// Returns the conditional on the same selector of computations that take the leaves of the
    /// branch's operand and `others`, and give tuples of `body`'s.
    fn derived(
        &self,
        node: &Node<'b>,
        what: &str,
        others: &[Vec<Value<'b>>],
        body: impl Fn(usize, &[Value<'b>], &[Value<'b>]) -> Result<Vec<Value<'b>>>,
    ) -> Result<Vec<Value<'b>>> {
        let b = node.result.builder();
        let (mut branches, mut operands) = (Vec::new(), vec![node.operand(0)?]);
        for (i, (callee, others)) in self.callees.iter().zip(others).enumerate() {
            let x = leaves::of(node.operand(i + 1)?)?;
            let operand = b.tuple(&[x.as_slice(), others].concat());
            branches.push(traced(b, &callee.named(what)?, &[operand.shape()?], |p| {
                let given = crate::ops::movement::elements(p[0])?;
                let (x, others) = given.split_at(x.len());
                body(i, x, others)
            })?);
            operands.push(operand);
        }
        let op = Conditional { branches, on_pred: self.on_pred };
        leaves::of(b.emit(op, &operands, None)?)
    }
}

impl Derivative for Conditional {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let (b, branches) = (node.result.builder(), Branches::of(self, node)?);
        let result = node.result.shape()?;
        let shapes: Vec<Shape> = result.leaves().into_iter().cloned().collect();
        let mut flowing = vec![false; shapes.len()];
        let mut given = Vec::new();
        for (callee, t) in branches.callees.iter().zip(tangents.iter().skip(1)) {
            let t = leaves::of_tangent(t, &callee.parameters[0]);
            flowing = leaves::either(&flowing, &callee.jvp_leaves(&leaves::present(&t))?);
            given.push(t);
        }
        if !flowing.contains(&true) {
            return Ok(Tangent::Zero);
        }
        let others: Vec<_> = given.iter().map(|t| leaves::kept(t)).collect();
        let pushed = branches.derived(node, "jvp", &others, |i, x, t| {
            let t = leaves::dealt(&leaves::present(&given[i]), t.iter().copied());
            filled(b, &branches.callees[i].jvp(x, &t)?, &shapes, &flowing)
        })?;
        Ok(leaves::tangent(&result, &mut leaves::dealt(&flowing, pushed).into_iter()))
    }
    fn vjp<'b>(&self, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        let (b, branches) = (node.result.builder(), Branches::of(self, node)?);
        let c = leaves::of_tangent(cotangent, &node.result.shape()?);
        let given = leaves::present(&c);
        // The selector is a leaf too, the first.
        let mut needed = node.needed_leaves().into_iter().skip(1);
        let mut needs = Vec::new();
        let mut flowing = Vec::new();
        for callee in &branches.callees {
            let these: Vec<bool> = needed.by_ref().take(callee.takes().len()).collect();
            let [flows, _] = callee.vjp_leaves(&given, &these)?;
            flowing.push(flows);
            needs.push(these);
        }
        if !flowing.concat().contains(&true) {
            return Ok(node.zeros());
        }
        // Each branch gives the cotangents of all operands, zeros for those of the others.
        let others = vec![leaves::kept(&c); branches.callees.len()];
        let pulled = branches.derived(node, "vjp", &others, |i, x, c| {
            let c = leaves::dealt(&given, c.iter().copied());
            let own = branches.callees[i].vjp(x, &c, &needs[i])?;
            let mut all = Vec::new();
            for (j, callee) in branches.callees.iter().enumerate() {
                let nothing = vec![None; flowing[j].len()];
                let these = if i == j { &own } else { &nothing };
                all.extend(filled(b, these, &callee.takes(), &flowing[j])?);
            }
            Ok(all)
        })?;
        let mut pulled = leaves::dealt(&flowing.concat(), pulled).into_iter();
        let of = |callee: &Callee<'b>| leaves::tangent(&callee.parameters[0], &mut pulled);
        Ok([Tangent::Zero].into_iter().chain(branches.callees.iter().map(of)).collect())
    }
}
