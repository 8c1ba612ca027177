//! `ragged-all-to-all`: rows of each member's input, sent into the outputs of all members of a
//! group
//!
//! Operands of each member: input, output, input offsets, send sizes, output offsets, receive
//! sizes. The lists are `[n]`, `[n, updates]` or `[n * updates]`, for a group of n; member m's
//! entry r describes the rows that it sends to member r:
//!
//! `result_r[output_offsets_m[r] + i] = input_m[input_offsets_m[r] + i]` for
//! `0 <= i < send_sizes_m[r]`
//!
//! - Indices are row indices, in dimension 0. Output offsets refer to the receiver's array. Rows
//!   that are not sent keep the value they have in the receiver's output.
//! - Members, and the updates of each, come in group order: the order of the ids in
//!   `replica_groups`.
//! - Rows outside of an array, and a receive size that differs from the sender's send size, are
//!   `E0408`.
//!
//! Source: XLA operation semantics, `RaggedAllToAll`.
use hlo::op::RaggedAllToAll;
use hlo::{ArrayShape, Literal, Scalar};
use num::Result;
use num::error::Code;
use num::index::{count, to_i64, to_usize};
use std::ops::Range;

/// Rows that a member sends to a member of its group, by their positions in the group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// The sender.
    pub sender: usize,
    /// The receiver.
    pub receiver: usize,
    /// The bytes in the sender's input.
    pub from: Range<usize>,
    /// The bytes in the receiver's output.
    pub to: Range<usize>,
}

/// Returns the result of each member, of the operands of each.
pub fn ragged_all_to_all(op: &RaggedAllToAll, given: &[&[Literal]]) -> Result<Vec<Literal>> {
    let RaggedAllToAll {
        channel_id: _,     // Determines the groups.
        replica_groups: _, // Likewise.
        dimensions: _,     // Redundant: rows are in dimension 0.
    } = op;
    let mut outputs: Vec<Literal> = given.iter().map(|operands| operands[1].clone()).collect();
    let lists: Vec<&[Literal]> = given.iter().map(|operands| &operands[2..]).collect();
    each_rows((&given[0][0], &given[0][1]), &lists, |Rows { sender, receiver, from, to }| {
        outputs[receiver].bytes_mut()[to].copy_from_slice(&given[sender][0].bytes()[from]);
    })?;
    Ok(outputs)
}

/// Returns the rows that cross, in the order in which they are written; the members' inputs and
/// outputs have the shapes of these.
pub fn rows(arrays: (&Literal, &Literal), lists: &[&[Literal]]) -> Result<Vec<Rows>> {
    let mut rows = Vec::new();
    each_rows(arrays, lists, |next| rows.push(next))?;
    Ok(rows)
}

/// Calls `visit` with the rows that cross. A list of them would grow with the square of the number
/// of members.
fn each_rows(
    (input, output): (&Literal, &Literal),
    lists: &[&[Literal]],
    mut visit: impl FnMut(Rows),
) -> Result<()> {
    let [input, output] =
        [input, output].map(|array| array.array_shape().expect("verified: an array"));
    for (sender, own) in lists.iter().enumerate() {
        let [from, sizes, to, ..] = *own else { continue };
        let updates = updates(from, lists.len())?;
        for receiver in 0..lists.len() {
            for update in 0..updates {
                let at = receiver * updates + update;
                let size = number(sizes.get(at));
                let part = |what| format!("{what} of device {sender} to device {receiver}");
                let from = range(number(from.get(at)), size, input, || part("input"))?;
                let to = range(number(to.get(at)), size, output, || part("output"))?;
                visit(Rows { sender, receiver, from, to });
            }
        }
        check_received(lists, sender, updates)?;
    }
    Ok(())
}

/// Returns the number of updates sent to each member.
fn updates(list: &Literal, members: usize) -> Result<usize> {
    let shape = list.array_shape().expect("verified: an array");
    let found = to_usize(shape.dims[0]);
    // A list of one dimension can hold the rows of all members one after another.
    if shape.rank() == 1 && found > 0 && found.is_multiple_of(members) {
        return Ok(found / members);
    }
    if found != members {
        let message =
            format!("`ragged-all-to-all` has sizes for {found} devices in a group of {members}");
        return Err(Code::Trap { message }.into());
    }
    Ok(shape.dims.get(1).map_or(1, |&n| to_usize(n)))
}

/// Checks that the receive sizes of a member equal the sizes that the others send to it.
fn check_received(lists: &[&[Literal]], member: usize, updates: usize) -> Result<()> {
    let Some(stated) = lists[member].get(3) else { return Ok(()) };
    for (sender, own) in lists.iter().enumerate() {
        for update in 0..updates {
            let expected = number(stated.get(sender * updates + update));
            let sent = number(own[1].get(member * updates + update));
            if expected != sent {
                let message = format!(
                    "device {member} of the group expects {expected} rows from device {sender}, which sends {sent}"
                );
                return Err(Code::Trap { message }.into());
            }
        }
    }
    Ok(())
}

/// Returns an offset or a size; one that exceeds `i64` becomes its maximum, which exceeds every
/// array.
fn number(value: Scalar) -> i64 {
    match value {
        Scalar::Signed(value) => value,
        Scalar::Unsigned(value) => i64::try_from(value).unwrap_or(i64::MAX),
        Scalar::Pred(_) | Scalar::Float(_) | Scalar::Complex(..) => 0,
    }
}

/// Returns the bytes of these rows of an array.
fn range(
    start: i64,
    size: i64,
    shape: &ArrayShape,
    what: impl FnOnce() -> String,
) -> Result<Range<usize>> {
    let rows = to_usize(shape.dims[0]);
    let end = start.saturating_add(size);
    if start < 0 || size < 0 || end > to_i64(rows) {
        let what = what();
        let message =
            format!("{what}: {size} rows from row {start} exceed the {rows} rows of the array");
        return Err(Code::Trap { message }.into());
    }
    let row = count(&shape.dims[1..]) * shape.ty.storage_bytes();
    Ok(to_usize(start) * row..to_usize(end) * row)
}
