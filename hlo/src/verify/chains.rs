//! What was started is ended: each `-done` belongs to the `-start` of its op, which nothing else uses.
//!
//! Between the two the value may pass through tuples, loops and calls; there the chain is not followed.
use crate::diag::{Error, Place};
use crate::ir::{Computation, Instruction};
use crate::op::check as rule;
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

/// Which op an op goes on with; `None` if it ends nothing.
fn continued(opcode: Opcode) -> Option<&'static [Opcode]> {
    Some(match opcode {
        Opcode::AllGatherDone => &[Opcode::AllGatherStart],
        Opcode::AllReduceDone => &[Opcode::AllReduceStart],
        Opcode::CollectivePermuteDone => &[Opcode::CollectivePermuteStart],
        Opcode::CopyDone => &[Opcode::CopyStart],
        Opcode::SendDone => &[Opcode::Send],
        Opcode::RecvDone => &[Opcode::Recv],
        Opcode::AsyncDone | Opcode::AsyncUpdate => &[Opcode::AsyncStart, Opcode::AsyncUpdate],
        _ => return None,
    })
}

/// Whether a value that was started may come through it.
fn passes_on(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Parameter
            | Opcode::GetTupleElement
            | Opcode::Tuple
            | Opcode::While
            | Opcode::Call
            | Opcode::Conditional
            | Opcode::OptBarrier
            | Opcode::AddDependency
            | Opcode::Domain
            | Opcode::Copy
    )
}

fn end(computation: &Computation, instruction: &Instruction) -> Result<()> {
    let opcode = instruction.opcode();
    let (Some(wanted), Some(&operand)) = (continued(opcode), instruction.operands.first()) else {
        return Ok(());
    };
    let before = &computation.instructions[operand];
    let found = before.opcode();
    rule(wanted.contains(&found) || passes_on(found), "done_of_start", || {
        format!("`{opcode}` goes on with a `{}`, not with a `{found:#}`", wanted[0])
    })
    .map_err(|e| e.on(Place::Operand(0)))?;
    let channels = match (&before.op, &instruction.op) {
        (Op::Send(a), Op::SendDone(b)) => {
            [(a.channel_id, a.is_host_transfer), (b.channel_id, b.is_host_transfer)]
        }
        (Op::Recv(a), Op::RecvDone(b)) => {
            [(a.channel_id, a.is_host_transfer), (b.channel_id, b.is_host_transfer)]
        }
        _ => return Ok(()),
    };
    rule(channels[0] == channels[1], "done_same_channel", || {
        format!("`{found:#}` and `{opcode}` have different `channel_id` or `is_host_transfer`")
    })
    .map_err(|e| e.on(Place::Operand(0)))
}

fn start(instruction: &Instruction, users: u32) -> Result<()> {
    let starts = matches!(
        instruction.opcode(),
        Opcode::AllGatherStart
            | Opcode::AllReduceStart
            | Opcode::CollectivePermuteStart
            | Opcode::CopyStart
            | Opcode::Send
            | Opcode::Recv
            | Opcode::AsyncStart
            | Opcode::AsyncUpdate
    );
    rule(!starts || users <= 1, "start_used_once", || {
        format!("what `{}` gives is used {users} times: only its end may", instruction.opcode())
    })
}
