//! Derivatives of ops that join the values of several devices, where each has an op that takes the cotangents back.
//!
//! All devices run the same program, and the cotangent of a value is that of the sum of what all of them give.
use super::reduction::two_operand_op;
use super::{Node, Tangent, leaves, ops};
use crate::{Builder, Result, Value};
use hlo::ir::Instruction;
use hlo::op::value::Pairs;
use hlo::op::{AllGather, AllReduce, AllToAll, Binary, CollectivePermute, ReduceScatter};
use hlo::{Arena, Op, Shape};

/// A channel that no instruction uses so far, if this one has a channel.
fn channel(b: &Builder, given: Option<i64>) -> Option<i64> {
    let given = given?;
    let state = b.state.borrow();
    let used = |all: &Arena<Instruction>| {
        all.iter().filter_map(|(_, instruction)| channel_of(&instruction.op)).max().unwrap_or(0)
    };
    let finished = state.finished.iter().map(|(_, computation)| used(&computation.instructions));
    let open = state.open.iter().map(|open| used(&open.instructions));
    Some(finished.chain(open).max().unwrap_or(given) + 1)
}
fn channel_of(op: &Op) -> Option<i64> {
    match op {
        Op::AllGather(op) => op.channel_id,
        Op::AllReduce(op) => op.channel_id,
        Op::AllToAll(op) => op.channel_id,
        Op::CollectivePermute(op) => op.channel_id,
        Op::ReduceScatter(op) => op.channel_id,
        _ => None,
    }
}

/// The op, on another channel, that takes tangents forward.
fn forward(node: &Node<'_>) -> Result<Op> {
    let b = node.result.builder();
    let adds = |id| Ok::<_, crate::Error>(two_operand_op(b, id)? == Some(Binary::Add));
    let only_sums = || node.refused("has a derivative rule here only where it adds");
    Ok(match &node.op {
        Op::AllGather(op) => {
            AllGather { channel_id: channel(b, op.channel_id), ..op.as_ref().clone() }.into()
        }
        Op::AllReduce(op) => {
            if let Some(id) = op.to_apply.0
                && !adds(id)?
            {
                return Err(only_sums());
            }
            AllReduce { channel_id: channel(b, op.channel_id), ..op.as_ref().clone() }.into()
        }
        Op::AllToAll(op) => {
            AllToAll { channel_id: channel(b, op.channel_id), ..op.as_ref().clone() }.into()
        }
        Op::CollectivePermute(op) if op.slice_sizes.is_empty() => {
            CollectivePermute { channel_id: channel(b, op.channel_id), ..op.as_ref().clone() }
                .into()
        }
        Op::ReduceScatter(op) => {
            if !adds(op.to_apply)? {
                return Err(only_sums());
            }
            ReduceScatter { channel_id: channel(b, op.channel_id), ..op.as_ref().clone() }.into()
        }
        _ => return Err(node.refused("has no derivative rule here in place")),
    })
}
/// The op that takes cotangents back. Sums of all come from all; blocks that are swapped are swapped again.
fn backward(node: &Node<'_>, c: Value<'_>) -> Result<Op> {
    Ok(match forward(node)? {
        Op::AllGather(op) => ReduceScatter {
            channel_id: op.channel_id,
            replica_groups: op.replica_groups,
            constrain_layout: op.constrain_layout,
            use_global_device_ids: op.use_global_device_ids,
            dimensions: op.dimensions,
            to_apply: ops::adder(c)?,
        }
        .into(),
        Op::ReduceScatter(op) => AllGather {
            channel_id: op.channel_id,
            replica_groups: op.replica_groups,
            constrain_layout: op.constrain_layout,
            dimensions: op.dimensions,
            use_global_device_ids: op.use_global_device_ids,
        }
        .into(),
        Op::CollectivePermute(op) => {
            let pairs = op.source_target_pairs.0.iter().map(|&(source, target)| (target, source));
            CollectivePermute { source_target_pairs: Pairs(pairs.collect()), ..*op }.into()
        }
        op => op,
    })
}

pub(super) fn push<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let tangents = ops::filled(node, tangents)?;
    let shape = Some(node.result.shape()?);
    Tangent::of(node.result.builder().emit(forward(node)?, &tangents, shape)?)
}
pub(super) fn pull<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let c = leaves::of(cotangent.filled(node.result)?)?;
    let Some(&first) = c.first() else { return Ok(node.zeros()) };
    let shapes = node.operands.iter().map(|operand| operand.shape()).collect::<Result<Vec<_>>>()?;
    let shape = match (shapes.as_slice(), node.result.shape()?) {
        ([one], Shape::Array(_)) => one.clone(),
        _ => Shape::Tuple(shapes),
    };
    let pulled = first.builder().emit(backward(node, first)?, &c, Some(shape))?;
    leaves::of(pulled)?.into_iter().map(Tangent::of).collect()
}
