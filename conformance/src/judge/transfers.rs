//! What a device receives from itself, on a channel of one `send` and one `recv-done`.
use hlo::ir::{Computation, Instruction, InstructionId};
use hlo::{Module, Op};

/// Returns the value that a `recv-done` returns, if each device has sent it to itself before.
pub(super) fn received(
    module: &Module,
    computation: &Computation,
    at: InstructionId,
) -> Option<InstructionId> {
    let Op::RecvDone(done) = &computation.instructions[at].op else { return None };
    let is_sent = |op: &Op| matches!(op, Op::Send(send) if send.channel_id == done.channel_id);
    let is_received =
        |op: &Op| matches!(op, Op::RecvDone(other) if other.channel_id == done.channel_id);
    let all = || module.computations.iter().flat_map(|(_, c)| c.instructions.iter());
    let count = |is: &dyn Fn(&Op) -> bool| all().filter(|(_, i)| is(&i.op)).count();
    let mut before = computation.instructions.iter().take_while(|(id, _)| *id != at);
    let (_, send) = before.find(|(_, instruction)| is_sent(&instruction.op))?;
    // Pairs may name other devices.
    let states_pairs = all().any(|(_, instruction)| has_pairs(instruction));
    let is_only = count(&is_sent) == 1 && count(&is_received) == 1;
    if is_only && !states_pairs { send.operands.first().copied() } else { None }
}

fn has_pairs(instruction: &Instruction) -> bool {
    let attributes = instruction.common.iter().map(|common| &common.frontend_attributes);
    attributes
        .flatten()
        .flat_map(|list| list.0.iter())
        .any(|(key, _)| key == "_xla_send_recv_source_target_pairs")
}
