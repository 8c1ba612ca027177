//! Steps of a collective op whose members are in several processes, none of which has all operands.
//!
//! | op | what moves | what a process computes |
//! |---|---|---|
//! | `all-reduce`, `reduce-scatter` | a range of the elements of each operand, then the reduced ranges | [`reduced`] of its range, then [`of_reduced`] |
//! | `all-to-all` | to each member its part | [`parts`] of its operands, then [`of_parts`] |
//! | `ragged-all-to-all` | the lists of offsets and sizes, then to each member the rows it gets | [`ragged_rows`], then [`of_rows`] |
//! | the others | the operands | [`exchange`](super::exchange) |
//!
//! No operand is smaller than its bounds. The results have the bits of
//! [`exchange`](super::exchange): a reduction combines elements with the same index only.
use super::parts::{concatenated, split};
use super::{columns, packed, reduce, repeat, result_shape, transposed};
use crate::{Executable, Result, RunOptions};
use hlo::ir::{ComputationId, Instruction};
use hlo::{Literal, Op};
pub use spec::ragged_all_to_all::Rows;
use spec::{all_reduce, all_to_all, ragged_all_to_all, reduce_scatter};

/// The values that processes send each other for an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traffic {
    /// Ranges of the operands, which are reduced element by element.
    Ranges,
    /// To each member its part of the operands.
    Parts,
    /// The lists of all members, then to each member its rows.
    Rows,
    /// The operands of the first member.
    First,
    /// The operands of all members.
    Operands,
}

impl Traffic {
    /// Returns what processes send each other for an op.
    pub fn of(op: &Op) -> Self {
        if let Op::AllReduce(_) | Op::AllReduceStart(_) | Op::ReduceScatter(_) = op {
            return Self::Ranges;
        }
        if let Op::AllToAll(_) = op {
            return Self::Parts;
        }
        if let Op::RaggedAllToAll(_) = op {
            return Self::Rows;
        }
        if let Op::CollectiveBroadcast(op) = op
            && !op.has_dynamic_root
        {
            return Self::First;
        }
        Self::Operands
    }
}

/// Returns the computation of an op that reduces; `None` if it is the sum.
fn reducer(op: &Op) -> Option<ComputationId> {
    if let Op::AllReduce(op) = op {
        return all_reduce::reducer(op);
    }
    if let Op::AllReduceStart(op) = op {
        return op.to_apply.0;
    }
    if let Op::ReduceScatter(op) = op {
        return Some(reduce_scatter::dimension_and_reducer(op).1);
    }
    None
}

/// Returns the members' arrays reduced element by element. The arrays may be ranges of the
/// operands.
///
/// # Errors
/// The errors of the reducer.
pub fn reduced(
    executable: &Executable,
    options: &RunOptions,
    instruction: &Instruction,
    given: &[&[Literal]],
    order: Option<&[usize]>,
) -> Result<Vec<Literal>> {
    let context = executable.context(options);
    reduce::all(&context, reducer(&instruction.op), columns(given), order)
}

/// Returns the result of each member, of the reduced operands.
///
/// # Errors
/// `E0408` if the results do not fit the group.
pub fn of_reduced(
    executable: &Executable,
    options: &RunOptions,
    instruction: &Instruction,
    whole: Vec<Literal>,
    members: usize,
) -> Result<Vec<Literal>> {
    let each = if let Op::ReduceScatter(op) = &instruction.op {
        let context = executable.context(options);
        let (dim, _) = reduce_scatter::dimension_and_reducer(op);
        let parts: Result<Vec<_>> =
            whole.iter().map(|x| split(&context, x, dim, members)).collect();
        transposed(&parts?, members)
    } else {
        repeat(whole, members)
    };
    let shape = result_shape(instruction);
    each.into_iter().map(|result| packed(result, shape, instruction)).collect()
}

/// Returns what a member of an `all-to-all` sends to each member.
///
/// # Errors
/// `E0408` if the operands do not fit the group.
pub fn parts(
    executable: &Executable,
    options: &RunOptions,
    instruction: &Instruction,
    own: &[Literal],
    members: usize,
) -> Result<Vec<Literal>> {
    if let Some(dim) = dimension(&instruction.op) {
        return split(&executable.context(options), &own[0], dim, members);
    }
    // Checks the number of operands.
    all_to_all::all_to_all_of_tuples(&vec![own; members])?;
    Ok(own.to_vec())
}

/// Returns the result of a member of an `all-to-all`, of what it got from each member.
///
/// # Errors
/// `E0408` if the result does not fit the group.
pub fn of_parts(
    executable: &Executable,
    options: &RunOptions,
    instruction: &Instruction,
    parts: Vec<Literal>,
) -> Result<Literal> {
    let arrays = match dimension(&instruction.op) {
        Some(dim) => {
            let parts: Vec<&Literal> = parts.iter().collect();
            vec![concatenated(&executable.context(options), &parts, dim)]
        }
        None => parts,
    };
    packed(arrays, result_shape(instruction), instruction)
}

/// Returns the rows that cross in a `ragged-all-to-all`, in the order in which they are written, of
/// the input and the output of a member, and of the other operands of each.
///
/// # Errors
/// `E0408` if rows are outside of an array, or the lists of two members do not match.
pub fn ragged_rows(arrays: (&Literal, &Literal), lists: &[&[Literal]]) -> Result<Vec<Rows>> {
    ragged_all_to_all::rows(arrays, lists)
}

/// Returns the result of a member of a `ragged-all-to-all`, of its output with the rows that it
/// got.
///
/// # Errors
/// `E0408` if the result does not have the stated shape.
pub fn of_rows(instruction: &Instruction, output: Literal) -> Result<Literal> {
    packed(vec![output], result_shape(instruction), instruction)
}

/// Returns the dimension of an `all-to-all`.
fn dimension(op: &Op) -> Option<i64> {
    let Op::AllToAll(op) = op else { return None };
    all_to_all::dimension(op)
}
