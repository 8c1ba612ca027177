//! Derivatives of called computations, as new computations.
//!
//! Derivative computations take and return leaves, so that a leaf without a derivative needs no
//! tangent. Tracing a trial computation, which is then dropped, shows which leaves have
//! derivatives.
use super::node::{Node, Rules};
use super::sweep::{Inputs, forward, index, reverse};
use super::{leaves, tangent};
use crate::{Builder, Code, Result, Value};
use hlo::Shape;
use hlo::ir::ComputationId;

/// A computation that is to be differentiated.
#[derive(Debug, Clone)]
pub(super) struct Callee<'b> {
    b: &'b Builder,
    rules: Rules,
    id: ComputationId,
    pub(super) parameters: Vec<Shape>,
    pub(super) result: Shape,
}

impl<'b> Callee<'b> {
    pub(super) fn of(node: &Node<'b>, id: ComputationId) -> Result<Self> {
        let b = node.result.builder();
        let (parameters, result) = b.signature(id)?;
        Ok(Self { b, rules: node.rules, id, parameters, result })
    }
    /// Returns a name of a computation made of it.
    pub(super) fn named(&self, what: &str) -> Result<String> {
        let state = self.b.state.borrow();
        let computation = state.finished.get(self.id).ok_or(Code::Invalid {})?;
        Ok(format!("{what}_{}", computation.name))
    }
    /// Shapes of the leaves of its parameters.
    pub(super) fn takes(&self) -> Vec<Shape> {
        self.parameters.iter().flat_map(Shape::leaves).cloned().collect()
    }
    /// Shapes of the leaves of its result.
    pub(super) fn gives(&self) -> Vec<Shape> {
        self.result.leaves().into_iter().cloned().collect()
    }
    /// Returns its instructions, copied to here, on the leaves of its parameters.
    pub(super) fn inlined(&self, x: &[Value<'b>]) -> Result<Value<'b>> {
        let mut x = x.iter().copied();
        let parameters: Result<Vec<_>> =
            self.parameters.iter().map(|shape| leaves::value(self.b, shape, &mut x)).collect();
        self.b.inlined(self.id, &parameters?)
    }
    /// Tangents of the result's leaves at `x` from those of the parameters' leaves.
    pub(super) fn jvp(
        &self,
        x: &[Value<'b>],
        tangents: &[Option<Value<'b>>],
    ) -> Result<Vec<Option<Value<'b>>>> {
        Ok(self.value_and_jvp(x, tangents)?.1)
    }
    /// As [`Callee::jvp`], with the result's leaves.
    pub(super) fn value_and_jvp(
        &self,
        x: &[Value<'b>],
        tangents: &[Option<Value<'b>>],
    ) -> Result<(Vec<Value<'b>>, Vec<Option<Value<'b>>>)> {
        let output = self.inlined(x)?;
        let by = leaves::marked(x, &leaves::present(tangents));
        let seeds: Vec<_> =
            leaves::kept(tangents).into_iter().map(tangent::Tangent::Array).collect();
        let pushed = forward(self.b, self.rules, output, &by, &seeds, Inputs::Leaves)?;
        Ok((leaves::of(output)?, leaves::of_tangent(&pushed, &self.result)))
    }
    /// Cotangents of the leaves of the parameters that are `needed`, at `x`, from those of the
    /// result's leaves.
    pub(super) fn vjp(
        &self,
        x: &[Value<'b>],
        cotangents: &[Option<Value<'b>>],
        needed: &[bool],
    ) -> Result<Vec<Option<Value<'b>>>> {
        let output = self.inlined(x)?;
        let cotangent = leaves::tangent(&self.result, &mut cotangents.iter().copied());
        let by = leaves::marked(x, needed);
        let pulled = reverse(self.b, self.rules, output, &by, cotangent, Inputs::Leaves)?;
        let pulled = leaves::dealt(needed, pulled).into_iter();
        pulled.map(|tangent| tangent.map_or(Ok(None), |tangent| tangent.array())).collect()
    }

    /// Returns which leaves of the result have tangents if these of the parameters have.
    pub(super) fn jvp_leaves(&self, flowing: &[bool]) -> Result<Vec<bool>> {
        let (x, all) = (self.takes().len(), self.takes());
        let shapes = [all.as_slice(), &leaves::marked(&all, flowing)].concat();
        trial(self.b, &shapes, |p| {
            let (x, t) = p.split_at(x);
            Ok(leaves::present(&self.jvp(x, &leaves::dealt(flowing, t.iter().copied()))?))
        })
    }
    /// Returns which of the `needed` leaves of the parameters have cotangents if these of the
    /// result have; and on which leaves of the parameters those depend.
    pub(super) fn vjp_leaves(&self, flowing: &[bool], needed: &[bool]) -> Result<[Vec<bool>; 2]> {
        let (x, all) = (self.takes().len(), self.takes());
        let shapes = [all.as_slice(), &leaves::marked(&self.gives(), flowing)].concat();
        trial(self.b, &shapes, |p| {
            let (x, c) = p.split_at(x);
            let pulled = self.vjp(x, &leaves::dealt(flowing, c.iter().copied()), needed)?;
            Ok([leaves::present(&pulled), used(self.b, &leaves::kept(&pulled), x)?])
        })
    }
}

/// Returns which of the inputs the values are made from.
fn used<'b>(b: &'b Builder, values: &[Value<'b>], inputs: &[Value<'b>]) -> Result<Vec<bool>> {
    let roots = values.iter().map(|&value| index(value)).collect::<Result<Vec<_>>>()?;
    let inputs = inputs.iter().map(|&value| index(value)).collect::<Result<Vec<_>>>()?;
    let state = b.state.borrow();
    let open = state.open.last().ok_or(Code::Invalid {})?;
    let mut used = vec![false; open.instructions.len()];
    for root in roots {
        used[root] = true;
    }
    for (id, instruction) in open.instructions.iter().rev() {
        if used[id.index()] {
            instruction.operands.iter().for_each(|operand| used[operand.index()] = true);
        }
    }
    Ok(inputs.into_iter().map(|at| used[at]).collect())
}

/// Returns the result of `find` in a computation that is dropped afterwards.
fn trial<'b, T>(
    b: &'b Builder,
    parameters: &[Shape],
    find: impl FnOnce(&[Value<'b>]) -> Result<T>,
) -> Result<T> {
    let before = b.state.borrow().finished.len();
    let mut found = Err(Code::Invalid {}.into());
    let traced = b.trace("trial", parameters, |p| {
        found = find(p);
        b.tuple(&[])
    });
    b.state.borrow_mut().forget_after(before);
    let found = found?;
    traced.map(|_| found)
}

/// Traces a computation whose result is the tuple of the values that `body` returns.
pub(super) fn traced<'b>(
    b: &'b Builder,
    name: &str,
    parameters: &[Shape],
    body: impl FnOnce(&[Value<'b>]) -> Result<Vec<Value<'b>>>,
) -> Result<ComputationId> {
    b.trace(name, parameters, |p| b.record(|b| Ok(b.tuple(&body(p)?))))
}

/// Tangents of those leaves that are marked, zeros where there are none.
pub(super) fn filled<'b>(
    b: &'b Builder,
    tangents: &[Option<Value<'b>>],
    shapes: &[Shape],
    marks: &[bool],
) -> Result<Vec<Value<'b>>> {
    let filled = |((tangent, shape), &mark): ((&Option<Value<'b>>, &Shape), &bool)| {
        mark.then(|| tangent.map_or_else(|| tangent::zeros(b, shape), Ok))
    };
    tangents.iter().zip(shapes).zip(marks).filter_map(filled).collect()
}
