//! Asynchronous ops: each `-done` takes the value of a `-start` of its op, which nothing else uses.
//!
//! Between the two the value may pass through tuples, loops and calls, through which it is not followed.
use crate::diag::{Error, Place};
use crate::ir::{Computation, Instruction};
use crate::op::{AsyncRole, Kind, check as rule};
use crate::{Module, Op, Opcode, Result};

pub(super) fn check(module: &Module, errors: &mut Vec<Error>) {
    for (_, computation) in module.computations.iter() {
        let mut users = vec![0u32; computation.instructions.len()];
        for (_, instruction) in computation.instructions.iter() {
            for operand in &instruction.operands {
                users[operand.index()] += 1;
            }
        }
        for (id, instruction) in computation.instructions.iter() {
            let result =
                end(computation, instruction).and_then(|()| start(instruction, users[id.index()]));
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

fn start(instruction: &Instruction, users: u32) -> Result<()> {
    let starts = match instruction.opcode().async_role() {
        Some(AsyncRole::Start(_) | AsyncRole::Update(_)) => true,
        Some(AsyncRole::Done(_)) | None => false,
    };
    rule(!starts || users <= 1, "start_used_once", || {
        format!("the value of `{}` has {users} users, expected at most 1", instruction.opcode())
    })
}
