//! Control flow: `while`, `case`, `if`, `optimization_barrier`.
use super::region::{ArgumentForm, RegionBody};
use super::scope::Scope;
use super::sharding;
use crate::error::Result;
use crate::ir::{Op, Region, ValueId};
use hlo::Shape;
use hlo::ir::{ComputationId, InstructionId};
use hlo::op::{Conditional, OptBarrier, While};

/// Converts `stablehlo.while`: the values that its regions use from outside are carried unchanged.
pub(crate) fn while_<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    let (condition, body) = (scope.region(op, 0)?, scope.region(op, 1)?);
    let captured = scope.captured(op, &[condition, body])?;
    let mut carried = scope.operands(op)?;
    let arguments: Vec<Shape> = carried.iter().map(|&id| scope.shape(id).clone()).collect();
    for &value in &captured {
        carried.push(scope.value(op, value)?);
    }
    let of = |region, returns_captured| RegionBody {
        region,
        take: ArgumentForm::Together,
        arguments: &arguments,
        captured: &captured,
        returns_captured,
    };
    let body = scope.computation_of(op, &of(body, true))?;
    let condition = scope.computation_of(op, &of(condition, false))?;
    let common = scope.cx.common(op);
    scope.set_common(common);
    let initial = together(scope, op, &carried)?;
    let id = scope.emit(op, While { condition, body }, &[initial])?;
    match carried.len() {
        1 => bind_one(scope, op, id),
        _ => scope.bind_tuple(op, id),
    }?;
    if let (false, Some(results)) = (captured.is_empty(), scope.cx.sharding_of(op)?) {
        scope.common_of(id).sharding = Some(sharding::of_carried(results, carried.len()));
    }
    Ok(())
}

/// Binds the only value that a loop carries, which is a result unless it is captured.
fn bind_one(scope: &mut Scope<'_, '_>, op: &Op, id: InstructionId) -> Result<()> {
    match op.results.is_empty() {
        true => Ok(()),
        false => scope.bind(op, id),
    }
}

/// Returns the values as one operand: a tuple, unless there is one value.
fn together(scope: &mut Scope<'_, '_>, op: &Op, values: &[InstructionId]) -> Result<InstructionId> {
    match values {
        [one] => Ok(*one),
        _ => scope.tuple(op, values),
    }
}

/// Converts a branch; returns its computation and its operand.
fn branch<'p>(
    scope: &mut Scope<'_, 'p>,
    op: &'p Op,
    region: &'p Region,
) -> Result<(ComputationId, InstructionId)> {
    let captured: Vec<ValueId> = scope.captured(op, &[region])?;
    let body = RegionBody {
        region,
        take: ArgumentForm::Together,
        arguments: &[],
        captured: &captured,
        returns_captured: false,
    };
    let computation = scope.computation_of(op, &body)?;
    let common = scope.cx.common(op);
    scope.set_common(common);
    let mut values = Vec::with_capacity(captured.len());
    for value in captured {
        values.push(scope.value(op, value)?);
    }
    Ok((computation, together(scope, op, &values)?))
}

/// Converts `stablehlo.case`.
pub(crate) fn case<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    conditional(scope, op, false)
}
/// Converts `stablehlo.if`.
pub(crate) fn if_<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    conditional(scope, op, true)
}

fn conditional<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op, on_pred: bool) -> Result<()> {
    let [selector] = scope.exactly(op)?;
    let (mut branches, mut operands) = (Vec::new(), vec![selector]);
    for i in 0..op.regions.len() {
        let region = scope.region(op, i)?;
        let (computation, operand) = branch(scope, op, region)?;
        branches.push(computation);
        operands.push(operand);
    }
    let id = scope.emit(op, Conditional { branches, on_pred }, &operands)?;
    match op.results.len() {
        1 => scope.bind(op, id),
        _ => scope.bind_tuple(op, id),
    }
}

/// Converts `stablehlo.optimization_barrier`.
pub(crate) fn optimization_barrier(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    if operands.is_empty() {
        return Ok(());
    }
    let x = together(scope, op, &operands)?;
    let id = scope.emit(op, OptBarrier {}, &[x])?;
    match operands.len() {
        1 => scope.bind(op, id),
        _ => scope.bind_tuple(op, id),
    }
}
