//! Collective operations on one device: every group has one member, device 0
//!
//! | op | result |
//! |---|---|
//! | `all-reduce`, `all-gather`, `reduce-scatter`, `all-to-all`, `collective-broadcast` | the operand |
//! | `collective-permute` | the operand if `{0,0}` is a pair, else zeros |
//! | `ragged-all-to-all` | the output, with the rows device 0 sends itself |
//! | `...-start` | what its `-done` will give, beside the operand where the shape has it |
//!
//! A fold of one value is that value, whatever the reducer: nothing is added to it, and -0 stays -0.
//!
//! What joins more devices than one is refused with the devices it joins, since device 0 alone cannot know the result. So
//! are `partition-id` and `replica-id` in a module for several: every answer would be right for one device and
//! wrong for the others.
use crate::context::Context;
use crate::error::Code;
use crate::index::{to_i64, to_usize};
use crate::interpreter::with_layouts;
use crate::{Error, Result};
use hlo::ir::{Instruction, ModuleConfig};
use hlo::op::GroupMode;
use hlo::op::value::ReplicaGroups;
use hlo::{ElementType, Literal, Op, Scalar, Shape};

/// The value of a collective op on the only device there is.
pub(super) fn alone(
    instruction: &Instruction,
    operands: &[&Literal],
    context: &Context<'_>,
) -> Result<Literal> {
    let shape = &instruction.shape;
    one_device(instruction, &context.module().config)?;
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "this function is called for these ops only"
    )]
    match &instruction.op {
        Op::AllGatherDone(_) | Op::CollectivePermuteDone(_) => {
            Ok(operands[0].elements().expect("verified: a tuple")[1].clone())
        }
        Op::AllReduceDone(_) => Ok(operands[0].clone()),
        Op::AllGather(_)
        | Op::AllReduce(_)
        | Op::AllReduceStart(_)
        | Op::AllToAll(_)
        | Op::ReduceScatter(_) => same(instruction, operands, shape),
        Op::CollectiveBroadcast(op) => {
            let mut data = operands;
            if let (true, [rest @ .., roots]) = (op.has_dynamic_root, operands) {
                let wrong =
                    (0..roots.len()).map(|i| roots.get(i)).find(|&r| r != Scalar::Signed(0));
                if let Some(wrong) = wrong {
                    let root = Literal::scalar(ElementType::S32, wrong);
                    let message = format!("the root {root} is no place in a group of one device");
                    return Err(Code::Trap { message }.into());
                }
                data = rest;
            }
            same(instruction, data, shape)
        }
        Op::AllGatherStart(_) => started(instruction, operands, operands),
        Op::CollectivePermute(op) => {
            in_place(&op.slice_sizes)?;
            let results = received(&op.source_target_pairs.0, operands);
            same(instruction, &results.iter().collect::<Vec<_>>(), shape)
        }
        Op::CollectivePermuteStart(op) => {
            in_place(&op.slice_sizes)?;
            let results = received(&op.source_target_pairs.0, operands);
            started(instruction, operands, &results.iter().collect::<Vec<_>>())
        }
        Op::RaggedAllToAll(_) => ragged(operands).map(|value| with_layouts(&value, shape)),
        _ => Err(Error::internal("no collective op")),
    }
}

/// 0: the only partition, the only replica
pub(super) fn device_id(instruction: &Instruction, context: &Context<'_>) -> Result<Literal> {
    one_device(instruction, &context.module().config)?;
    Ok(Literal::scalar(ElementType::U32, Scalar::Unsigned(0)))
}

/// Refuses what more devices than one take part in.
fn one_device(instruction: &Instruction, config: &ModuleConfig) -> Result<()> {
    let opcode = instruction.opcode();
    let needs = |what: String| {
        let message = format!("`{opcode}` {what}, but a run has one device");
        Err(Error::unsupported(message))
    };
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
        // Of the spellings that count, only the count is asked: their lists could be longer than memory.
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

/// The ids up to this one.
fn numbered(mode: GroupMode, last: i64) -> String {
    format!("{}s 0 to {last}", mode.id_noun())
}

/// The operands, if the result has their shapes: blocks of more devices would make it larger or smaller.
fn same(instruction: &Instruction, operands: &[&Literal], shape: &Shape) -> Result<Literal> {
    let value = pack(shape, operands.iter().map(|&o| o.clone()).collect());
    let found = value.shape();
    if !found.compatible(shape) {
        let opcode = instruction.opcode();
        let message = format!(
            "`{opcode}` makes {shape} of {found}, which takes several devices, but a run has one device"
        );
        return Err(Error::unsupported(message));
    }
    Ok(with_layouts(&value, shape))
}

/// `(operands, results, ...)`, with zeros for what the backend adds
fn started(
    instruction: &Instruction,
    operands: &[&Literal],
    results: &[&Literal],
) -> Result<Literal> {
    let Some([first, second, rest @ ..]) = instruction.shape.tuple() else {
        return Err(Error::internal("a start gives a tuple"));
    };
    let mut elements =
        vec![same(instruction, operands, first)?, same(instruction, results, second)?];
    elements.extend(rest.iter().map(super::zeros));
    Ok(Literal::tuple(elements))
}

/// One array as it is, several as a tuple; so is one, if the shape is a tuple.
fn pack(shape: &Shape, mut arrays: Vec<Literal>) -> Literal {
    match (shape, arrays.len()) {
        (Shape::Array(_), 1) => arrays.swap_remove(0),
        _ => Literal::tuple(arrays),
    }
}

/// What device 0 receives: its own values, or zeros if it is nobody's target.
fn received(pairs: &[(i64, i64)], operands: &[&Literal]) -> Vec<Literal> {
    let own = pairs.contains(&(0, 0));
    let value = |&operand: &&Literal| match own {
        true => operand.clone(),
        false => super::zeros(&operand.shape()),
    };
    operands.iter().map(value).collect()
}

fn in_place(slice_sizes: &[Vec<i64>]) -> Result<()> {
    if slice_sizes.is_empty() {
        return Ok(());
    }
    Err(Error::unsupported("`collective-permute` with `slice_sizes` cannot be run yet"))
}

/// `result[output_offset[u] + k] = input[input_offset[u] + k]` for `k < send_size[u]`, updates in order; else the output
fn ragged(operands: &[&Literal]) -> Result<Literal> {
    let (input, output) = (operands[0], operands[1]);
    let shape = output.array_shape().expect("verified: an array");
    let rows = |value: &Literal| value.array_shape().map_or(0, |shape| to_usize(shape.dims[0]));
    let row: usize = shape.dims[1..].iter().map(|&d| to_usize(d)).product();
    let row = row * shape.ty.storage_bytes();
    let lists = operands[2].array_shape().expect("verified: an array");
    if lists.dims[0] != 1 {
        let message = format!(
            "`ragged-all-to-all` with sizes for {} devices, but a run has one device",
            lists.dims[0]
        );
        return Err(Error::unsupported(message));
    }
    let mut result = output.clone();
    for u in 0..operands[2].len() {
        let size = range_part(operands[3].get(u));
        let from = range(range_part(operands[2].get(u)), size, rows(input), u, "input")?;
        let to = range(range_part(operands[4].get(u)), size, rows(output), u, "output")?;
        let bytes = &input.bytes()[from.start * row..from.end * row];
        result.bytes_mut()[to.start * row..to.end * row].copy_from_slice(bytes);
    }
    Ok(result)
}

/// An offset or a size; beyond `i64` it is beyond every array.
fn range_part(value: Scalar) -> i64 {
    match value {
        Scalar::Signed(value) => value,
        Scalar::Unsigned(value) => i64::try_from(value).unwrap_or(i64::MAX),
        Scalar::Pred(_) | Scalar::Float(_) | Scalar::Complex(..) => 0,
    }
}

fn range(
    start: i64,
    size: i64,
    rows: usize,
    u: usize,
    what: &str,
) -> Result<std::ops::Range<usize>> {
    let end = start.saturating_add(size);
    if start < 0 || size < 0 || end > to_i64(rows) {
        let message = format!(
            "update {u}: {size} rows from row {start} on do not lie in the {rows} rows of the {what}"
        );
        return Err(Code::Trap { message }.into());
    }
    Ok(to_usize(start)..to_usize(end))
}
