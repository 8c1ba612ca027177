//! The results of collective ops for each member of a group, from the operands of all members.
//!
//! Members are in group order: the order of the ids in `replica_groups`. The caller determines
//! which devices form a group and when all have joined.
//!
//! The result of each op is defined by its function in `spec`; reducing, gathering and splitting
//! have kernels too, which the engine `exact` uses.
//!
//! A single device is a group of one. `collective-permute` has no groups: each device gets the
//! value that its source sent.
//!
//! Source: `StableHLO`, "Collective ops"; XLA operation semantics.
mod alone;
pub mod distributed;
mod parts;
mod permute;
mod reduce;

pub use crate::dynamic::refused;
pub(crate) use alone::{alone, device_id};
pub use permute::{received, sent};

use crate::context::RunContext;
use crate::dynamic::is_among;
use crate::{Error, Executable, Result, RunOptions};
use hlo::ir::Instruction;
use hlo::{Literal, Op, Shape};
use num::array::{with_layouts, zeros};
use num::error::Code;
use parts::{concatenated, exchanged, split};
use spec::{
    all_gather, all_reduce, all_to_all, collective_broadcast, ragged_all_to_all, reduce_scatter,
};

/// Returns the result of each member. Reductions take the members in group order, or in `order`, a
/// list of their positions.
///
/// # Errors
/// `E0408` if values do not fit the group; the errors of the reducer.
pub fn exchange(
    executable: &Executable,
    options: &RunOptions,
    instruction: &Instruction,
    given: &[&[Literal]],
    order: Option<&[usize]>,
) -> Result<Vec<Literal>> {
    let context = executable.context(options);
    let entered = context.stop().enter();
    let results = arrays(&context, instruction, given, order)?;
    drop(entered);
    context.check_time()?;
    let shape = result_shape(instruction);
    results.into_iter().map(|result| packed(result, shape, instruction)).collect()
}

/// Returns the shape of the result of the whole op: for a start whose shape includes its operands,
/// the second element.
pub fn result_shape(instruction: &Instruction) -> &Shape {
    let second = instruction.shape.tuple().and_then(|elements| elements.get(1));
    second.filter(|_| instruction.opcode().holds_operands()).unwrap_or(&instruction.shape)
}

/// Returns zeros of the result's shape, for a device that receives nothing.
pub fn nothing(instruction: &Instruction) -> Literal {
    zeros(result_shape(instruction))
}

/// Returns the arrays of each member's result, one for each operand. The caller evaluates the
/// attributes that form groups.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other op exchanges nothing in groups")]
fn arrays(
    context: &RunContext,
    instruction: &Instruction,
    given: &[&[Literal]],
    order: Option<&[usize]>,
) -> Result<Vec<Vec<Literal>>> {
    if given.iter().any(|operands| is_among(&operands.iter().collect::<Vec<_>>())) {
        return Err(refused(instruction));
    }
    let members = given.len();
    let folded = |reducer| reduce::all(context, reducer, columns(given), order);
    let gathered = |dim| columns(given).map(|column| concatenated(context, &column, dim)).collect();
    Ok(match &instruction.op {
        Op::AllReduce(op) => repeat(folded(all_reduce::reducer(op))?, members),
        Op::AllReduceStart(op) => repeat(folded(op.to_apply.0)?, members),
        Op::AllGather(op) => repeat(gathered(all_gather::dimension(op)), members),
        Op::AllGatherStart(op) => repeat(gathered(op.dimensions[0]), members),
        Op::ReduceScatter(op) => {
            let (dim, reducer) = reduce_scatter::dimension_and_reducer(op);
            let whole = folded(Some(reducer))?;
            let parts: Result<Vec<_>> =
                whole.iter().map(|x| split(context, x, dim, members)).collect();
            transposed(&parts?, members)
        }
        Op::AllToAll(op) => match all_to_all::dimension(op) {
            None => all_to_all::all_to_all_of_tuples(given)?,
            Some(dim) => {
                let operands: Vec<&Literal> = given.iter().map(|own| &own[0]).collect();
                exchanged(context, &operands, dim)?.into_iter().map(|x| vec![x]).collect()
            }
        },
        Op::CollectiveBroadcast(op) => {
            repeat(collective_broadcast::collective_broadcast(op, given)?, members)
        }
        Op::RaggedAllToAll(op) => {
            let outputs = ragged_all_to_all::ragged_all_to_all(op, given)?;
            outputs.into_iter().map(|x| vec![x]).collect()
        }
        _ => {
            let message = format!("`{}` joins no group", instruction.opcode());
            return Err(Error::internal(message));
        }
    })
}

/// Returns the members' values of each operand.
fn columns<'a>(given: &[&'a [Literal]]) -> impl Iterator<Item = Vec<&'a Literal>> {
    let count = given.first().map_or(0, |operands| operands.len());
    (0..count).map(|i| given.iter().map(|operands| &operands[i]).collect())
}
fn repeat(values: Vec<Literal>, members: usize) -> Vec<Vec<Literal>> {
    vec![values; members]
}
/// Returns the transpose: rows become columns.
fn transposed(rows: &[Vec<Literal>], columns: usize) -> Vec<Vec<Literal>> {
    (0..columns).map(|i| rows.iter().map(|row| row[i].clone()).collect()).collect()
}

/// Returns the arrays in the form of the shape: one as it is, several as a tuple; a tuple of one if
/// it is stated.
pub(crate) fn packed(
    mut arrays: Vec<Literal>,
    shape: &Shape,
    instruction: &Instruction,
) -> Result<Literal> {
    let value = match (shape, arrays.len()) {
        (Shape::Array(_), 1) => arrays.swap_remove(0),
        _ => Literal::tuple(arrays),
    };
    let found = value.shape();
    if !found.compatible(shape) {
        let opcode = instruction.opcode();
        let message = format!("`{opcode}` gives {found:#} here, but {shape:#} is stated");
        return Err(Error::from(Code::Trap { message })
            .with_help("the stated shape is that of groups of another size"));
    }
    Ok(with_layouts(value, shape))
}
