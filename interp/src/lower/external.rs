//! Instructions whose values come from elsewhere than their operands: from the host, from a custom
//! call, from the number of the device, from the random state of the run.
use crate::context::RunContext;
use crate::custom_call::custom_call;
use crate::state::Site;
use crate::{Error, Result, collective, host, rng};
use hlo::ir::Instruction;
use hlo::{Literal, Op};

/// Returns the value of an external instruction.
#[expect(clippy::wildcard_enum_match_arm, reason = "the kind of an op has chosen it")]
pub(super) fn evaluate(
    site: Site,
    instruction: &Instruction,
    operands: &[&Literal],
    context: &RunContext,
) -> Result<Literal> {
    let shape = &instruction.shape;
    match &instruction.op {
        Op::CustomCall(op) => custom_call(op, instruction, operands, context),
        Op::Infeed(_) => host::infeed(operands, shape, context),
        Op::Outfeed(_) => host::outfeed(operands[0], context),
        Op::Send(op) => host::send(op, operands, context),
        Op::SendDone(_) => Ok(host::send_done(shape)),
        Op::Recv(op) => host::recv(op, shape, site, context),
        Op::RecvDone(op) => host::recv_done(op, shape, context),
        Op::PartitionId(_) | Op::ReplicaId(_) => collective::device_id(instruction, context),
        Op::Rng(op) => {
            let array = shape.array().ok_or_else(|| Error::internal("numbers are an array"))?;
            rng::rng(site, op, operands, array, context)
        }
        Op::RngGetAndUpdateState(op) => rng::get_and_update_state(site, op, context),
        _ => Err(Error::internal("the value follows from the operands")),
    }
}
