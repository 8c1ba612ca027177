//! Collective ops on one device: every group has one member, device 0
//!
//! Reducing one value returns that value, whatever the reducer: nothing is added to it, and -0
//! stays -0.
//!
//! An op that involves several devices is rejected with a list of them, since device 0 cannot
//! compute its result. So are `partition-id` and `replica-id` in a module for several devices: any
//! value would be right for one device and wrong for the others.
use super::{arrays, packed, permute, result_shape};
use crate::context::RunContext;
use crate::{Error, Result};
use hlo::ir::Instruction;
use hlo::op::GroupMode;
use hlo::op::value::ReplicaGroups;
use hlo::{ElementType, Literal, Op, Scalar, Shape};

/// Returns the result of a collective op on the only device there is; of a start, the result of its
/// done.
pub(crate) fn alone(
    instruction: &Instruction,
    operands: &[&Literal],
    context: &RunContext,
) -> Result<Literal> {
    one_device(instruction, context)?;
    let operands: Vec<Literal> = operands.iter().map(|&operand| operand.clone()).collect();
    // With groups, a list can hold several updates for the one device.
    if let (Op::RaggedAllToAll(op), Some(devices)) = (&instruction.op, lists(&operands))
        && op.replica_groups.is_empty()
    {
        return Err(several(instruction, &format!("has sizes for {devices} devices")));
    }
    if let Some((_, pairs)) = instruction.op.pairs() {
        let sent = match pairs.contains(&(0, 0)) {
            true => Some(permute::sent(instruction, &operands)?),
            false => None,
        };
        return permute::received(instruction, &operands, sent);
    }
    let mut results = arrays(context, instruction, &[&operands], None)?;
    let (result, shape) = (results.swap_remove(0), result_shape(instruction));
    let found = Shape::Tuple(result.iter().map(Literal::shape).collect());
    packed(result, shape, instruction).map_err(|_| {
        let found = found.tuple().filter(|all| all.len() == 1).map_or(&found, |all| &all[0]);
        several(instruction, &format!("makes {shape:#} of {found:#}"))
    })
}

/// Returns the number of devices that the size lists of a `ragged-all-to-all` describe, if it is
/// not one.
fn lists(operands: &[Literal]) -> Option<i64> {
    let devices = *operands.get(2)?.array_shape()?.dims.first()?;
    (devices != 1).then_some(devices)
}

/// Returns the error of an op that involves several devices.
fn several(instruction: &Instruction, what: &str) -> Error {
    let opcode = instruction.opcode();
    Error::unsupported(format!("`{opcode}` {what}, but a run has one device"))
}

/// Returns the partition or replica id; 0 on a single device.
pub(crate) fn device_id(instruction: &Instruction, context: &RunContext) -> Result<Literal> {
    let number = match (context.place(), &instruction.op) {
        (Some((device, _)), Op::ReplicaId(_)) => device.replica,
        (Some((device, _)), _) => device.partition,
        (None, _) => {
            one_device(instruction, context)?;
            0
        }
    };
    let number = u64::try_from(number).expect("a number of devices fits 64 bits");
    Ok(Literal::scalar(ElementType::U32, Scalar::Unsigned(number)))
}

/// Rejects an op that involves several devices.
fn one_device(instruction: &Instruction, context: &RunContext) -> Result<()> {
    let opcode = instruction.opcode();
    let config = &context.module().config;
    if context.is_nested() && (config.replica_count > 1 || config.num_partitions > 1) {
        let message = format!("`{opcode}` in a computation that is called for each element");
        return Err(Error::unsupported(message));
    }
    let needs = |what: String| Err(several(instruction, &what));
    let (replicas, partitions) = (config.replica_count, config.num_partitions);
    if replicas > 1 || partitions > 1 {
        let plural = |n: i64| if n == 1 { "" } else { "s" };
        return needs(format!(
            "runs on the module's {replicas} replica{} of {partitions} partition{}",
            plural(replicas),
            plural(partitions)
        ));
    }
    if let Some((mode, groups)) = instruction.op.groups() {
        // Groups given as a count are checked by the count: the expanded lists could exceed memory.
        let last = match groups {
            ReplicaGroups::List(groups) => groups.iter().flatten().copied().max(),
            ReplicaGroups::Iota(tiling) => Some(tiling.ids().count() - 1),
            ReplicaGroups::Mesh(groups) => Some(groups.mesh().device_count() - 1),
        };
        if let Some(last @ 1..) = last {
            return needs(format!("joins {}", numbered(mode, last)));
        }
    }
    if let Some((mode, pairs)) = instruction.op.pairs() {
        let last = pairs.iter().map(|&(from, to)| from.max(to)).max();
        if let Some(last @ 1..) = last {
            return needs(format!("sends between {}", numbered(mode, last)));
        }
    }
    Ok(())
}

/// Returns a description of the ids from 0 to `last`.
fn numbered(mode: GroupMode, last: i64) -> String {
    format!("{}s 0 to {last}", mode.id_noun())
}
