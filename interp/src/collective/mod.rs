//! What collective ops give each member of a group, of what all members gave.
//!
//! Members stand in group order: the order of the ids in `replica_groups`. Who belongs to a group, and when all have come, is
//! the affair of whoever runs the machines.
//!
//! | op | what member `i` gets |
//! |---|---|
//! | `all-reduce` | the members' values folded, element by element |
//! | `all-gather` | the members' values one after another along the dimension |
//! | `reduce-scatter` | part `i` of the folded values |
//! | `all-to-all` | part `i` of each member's value, one after another; of tuples element `i` of each |
//! | `collective-broadcast` | the value of the first member, or of the one its last operand names |
//! | `ragged-all-to-all` | its output, with the rows the members sent it |
//!
//! A device that is alone is a group of one. `collective-permute` has no groups: each device gets what its source sent.
//!
//! Source: `StableHLO`, "Collective ops"; XLA operation semantics.
mod alone;
mod parts;
mod permute;
mod ragged;
mod reduce;

pub(crate) use alone::{alone, device_id};
pub use permute::{received, sent};

use crate::context::RunContext;
use crate::error::Code;
use crate::value::{with_layouts, zeros};
use crate::{Error, Executable, Result, RunOptions};
use hlo::ir::Instruction;
use hlo::{Literal, Op, Shape};
use parts::{concatenated, split};

/// What each member gets. Folds take the members in group order, or in `order`, a list of their places.
///
/// # Errors
/// `E0408` if values do not fit the group; what a computation that folds may fail with.
pub fn exchange(
    executable: &Executable,
    options: &RunOptions,
    instruction: &Instruction,
    given: &[&[Literal]],
    order: Option<&[usize]>,
) -> Result<Vec<Literal>> {
    let results = arrays(&executable.context(options), instruction, given, order)?;
    let shape = result_shape(instruction);
    results.into_iter().map(|result| packed(result, shape, instruction)).collect()
}

/// The shape of what an op gives in the end: of a start, which gives it beside its operands, the second element.
pub fn result_shape(instruction: &Instruction) -> &Shape {
    let second = || instruction.shape.tuple().and_then(|parts| parts.get(1));
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others give their result at once")]
    match &instruction.op {
        Op::AllGatherStart(_) | Op::CollectivePermuteStart(_) | Op::AsyncStart(_) => {
            second().unwrap_or(&instruction.shape)
        }
        _ => &instruction.shape,
    }
}

/// Zeros of the result: what a device gets that nobody sends anything.
pub fn nothing(instruction: &Instruction) -> Literal {
    zeros(result_shape(instruction))
}

/// The arrays each member gets, one for each operand.
fn arrays(
    context: &RunContext,
    instruction: &Instruction,
    given: &[&[Literal]],
    order: Option<&[usize]>,
) -> Result<Vec<Vec<Literal>>> {
    let members = given.len();
    let folded = |reducer| reduce::all(context, reducer, columns(given), order);
    #[expect(clippy::wildcard_enum_match_arm, reason = "only these ops join groups")]
    Ok(match &instruction.op {
        Op::AllReduce(op) => repeat(folded(op.to_apply.0)?, members),
        Op::AllReduceStart(op) => repeat(folded(op.to_apply.0)?, members),
        Op::AllGather(op) => {
            repeat(columns(given).map(|c| concatenated(&c, op.dimensions[0])).collect(), members)
        }
        Op::AllGatherStart(op) => {
            repeat(columns(given).map(|c| concatenated(&c, op.dimensions[0])).collect(), members)
        }
        Op::ReduceScatter(op) => {
            let whole = folded(Some(op.to_apply))?;
            let parts: Result<Vec<_>> =
                whole.iter().map(|value| split(value, op.dimensions[0], members)).collect();
            transposed(&parts?, members)
        }
        Op::AllToAll(op) => match op.dimensions.first() {
            None => all_to_all(instruction, given)?,
            Some(&dim) => {
                let parts: Result<Vec<_>> =
                    given.iter().map(|g| split(&g[0], dim, members)).collect();
                let parts = transposed(&parts?, members);
                parts
                    .iter()
                    .map(|p| vec![concatenated(&p.iter().collect::<Vec<_>>(), dim)])
                    .collect()
            }
        },
        Op::CollectiveBroadcast(op) => match op.has_dynamic_root {
            false => repeat(given[0].to_vec(), members),
            true => repeat(rooted(given)?, members),
        },
        Op::RaggedAllToAll(_) => ragged::exchange(given)?.into_iter().map(|x| vec![x]).collect(),
        _ => {
            let message = format!("`{}` joins no group", instruction.opcode());
            return Err(Error::internal(message));
        }
    })
}

/// For each operand the members' values.
fn columns<'a>(given: &[&'a [Literal]]) -> impl Iterator<Item = Vec<&'a Literal>> {
    let count = given.first().map_or(0, |operands| operands.len());
    (0..count).map(|i| given.iter().map(|operands| &operands[i]).collect())
}
fn repeat(values: Vec<Literal>, members: usize) -> Vec<Vec<Literal>> {
    vec![values; members]
}
/// Rows become columns.
fn transposed(rows: &[Vec<Literal>], columns: usize) -> Vec<Vec<Literal>> {
    (0..columns).map(|i| rows.iter().map(|row| row[i].clone()).collect()).collect()
}

/// Of tuples: element `i` of each member.
fn all_to_all(instruction: &Instruction, given: &[&[Literal]]) -> Result<Vec<Vec<Literal>>> {
    if given.iter().any(|operands| operands.len() != given.len()) {
        let (found, wanted) = (instruction.operands.len(), given.len());
        let message = format!("`all-to-all` of {found} operands in a group of {wanted} devices");
        return Err(Code::Trap { message }.into());
    }
    let rows: Vec<Vec<Literal>> = given.iter().map(|operands| operands.to_vec()).collect();
    Ok(transposed(&rows, given.len()))
}

/// What a broadcast gives every member, whose last operand names the member each value comes from. A group has one root for
/// each value: members that name others do not mean the same broadcast.
fn rooted(given: &[&[Literal]]) -> Result<Vec<Literal>> {
    let trap = |message: String| Error::from(Code::Trap { message });
    let Some((roots, data)) = given.first().and_then(|first| first.split_last()) else {
        return Ok(Vec::new());
    };
    let differs = |operands: &&[Literal]| {
        let own = operands.last();
        (0..data.len()).any(|i| own.is_none_or(|own| own.get(i) != roots.get(i)))
    };
    if let Some(place) = given.iter().position(differs) {
        let message = format!("places 0 and {place} of the group name different roots");
        return Err(trap(message));
    }
    (0..data.len())
        .map(|i| {
            let root = roots.get(i).as_i64();
            let member = root.and_then(|root| given.get(usize::try_from(root).ok()?));
            let value = member.and_then(|operands| operands.get(i));
            value.cloned().ok_or_else(|| {
                let shown = root.map_or_else(|| "?".to_owned(), |root| root.to_string());
                trap(format!("root {shown} is no place in a group of {}", given.len()))
            })
        })
        .collect()
}

/// The arrays as the shape wants them: one as it is, several as a tuple; a tuple of one if it is stated.
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
