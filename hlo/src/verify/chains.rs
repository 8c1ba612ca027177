//! Asynchronous ops: each `-done` takes the value of a `-start` of its op, which nothing else uses, and an asynchronous computation
//! has one op.
//!
//! Between the two the value may pass through tuples, loops and calls, through which it is not followed.
use crate::diag::{Code, Error, Place};
use crate::ir::{Computation, Instruction};
use crate::op::{AsyncRole, Kind, check as rule};
use crate::{Module, Op, Opcode, Result};

/// The frontend attribute of a start whose computation is a group of collectives.
const GROUP: &str = "_collectives_group";

pub(super) fn check(module: &Module, errors: &mut Vec<Error>) {
    for (_, computation) in module.computations.iter() {
        let mut users = vec![0u32; computation.instructions.len()];
        for (_, instruction) in computation.instructions.iter() {
            for operand in &instruction.operands {
                users[operand.index()] += 1;
            }
        }
        for (id, instruction) in computation.instructions.iter() {
            let result = end(computation, instruction)
                .and_then(|()| start(instruction, users[id.index()]))
                .and_then(|()| wrapped(module, instruction));
            if let Err(error) = result {
                errors.push(error.at(computation.span(id)));
            }
        }
    }
}

/// Fails unless an update or a done takes the value of its start, or a value that may have come from there.
fn end(computation: &Computation, instruction: &Instruction) -> Result<()> {
    let opcode = instruction.opcode();
    let start = match opcode.async_role() {
        Some(AsyncRole::Update(start) | AsyncRole::Done(start)) => start,
        Some(AsyncRole::Start(_)) | None => return Ok(()),
    };
    let Some(&operand) = instruction.operands.first() else { return Ok(()) };
    let before = &computation.instructions[operand];
    let found = before.opcode();
    let continues = found == start || found.async_role() == Some(AsyncRole::Update(start));
    // A tuple is not the value of a start, but may hold it.
    let may_carry = found.carries_values() && found != Opcode::Tuple;
    rule(continues || may_carry, "done_of_start", || {
        format!("`{opcode}` must take the value of `{start}`, found that of `{found:#}`")
    })
    .map_err(|e| e.on(Place::Operand(0)))?;
    if found != start || opcode.kind() != Kind::Transfer {
        return Ok(());
    }
    let channel = |op: &Op| (op.channel_id(), op.is_host_transfer());
    rule(channel(&before.op) == channel(&instruction.op), "done_same_channel", || {
        format!("`{found:#}` and `{opcode}` have different `channel_id` or `is_host_transfer`")
    })
    .map_err(|e| e.on(Place::Operand(0)))
}

/// Fails unless the computation of an asynchronous op has one op, only elements of parameters, or only sends and receives.
fn wrapped(module: &Module, instruction: &Instruction) -> Result<()> {
    let Op::AsyncStart(start) = &instruction.op else { return Ok(()) };
    let callee = &module.computations[start.calls];
    let attributes = instruction.common.as_ref().and_then(|c| c.frontend_attributes.as_ref());
    let is_group = attributes.is_some_and(|all| all.0.iter().any(|(key, _)| key == GROUP));
    if !callee.execution_thread.is_empty() || is_group || only_transfers(callee) {
        return Ok(());
    }
    let mut others = callee.instructions.iter().filter(|(id, _)| *id != callee.root);
    let is_simple = |one: &Instruction| {
        let element = matches!(one.op, Op::GetTupleElement(_));
        element || matches!(one.op, Op::Parameter(_))
    };
    let Some((_, found)) = others.find(|(_, one)| !is_simple(one)) else { return Ok(()) };
    let message = format!(
        "the asynchronous computation `{}` has a `{}` besides its root",
        callee.name,
        found.opcode()
    );
    Err(Error::from(Code::AsyncComputation { message }).on(Place::Attribute("calls")))
}

/// Returns whether a computation only sends and receives: a group that a GPU starts together.
fn only_transfers(callee: &Computation) -> bool {
    callee.instructions.iter().all(|(_, one)| {
        let opcode = one.opcode();
        let transfers = opcode.kind() == Kind::Transfer
            && matches!(opcode.async_role(), Some(AsyncRole::Start(_)));
        transfers || matches!(one.op, Op::Parameter(_)) || matches!(one.op, Op::Tuple(_))
    })
}

fn start(instruction: &Instruction, users: u32) -> Result<()> {
    let starts = match instruction.opcode().async_role() {
        Some(AsyncRole::Start(_) | AsyncRole::Update(_)) => true,
        Some(AsyncRole::Done(_)) | None => false,
    };
    rule(!starts || users <= 1, "start_used_once", || {
        format!("the value of `{}` has {users} users, expected at most 1", instruction.opcode())
    })
}
