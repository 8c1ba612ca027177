//! `ragged-all-to-all`: rows sent to each member, as many as the operands say
//!
//! Operands of each member: input, output, input offsets, send sizes, output offsets, receive sizes; the lists are `[n]` or
//! `[n, updates]` for a group of `n`. Rows `input[in_off[j]..][..size[j]]` of a member become rows from `out_off[j]` on of
//! member `j`'s output: the offset counts in the receiver's array. Other rows keep their value.
use crate::Result;
use crate::error::Code;
use crate::index::{count, to_i64, to_usize};
use hlo::{Literal, Scalar};
use std::ops::Range;

pub(super) fn exchange(given: &[&[Literal]]) -> Result<Vec<Literal>> {
    let mut outputs: Vec<Literal> = given.iter().map(|operands| operands[1].clone()).collect();
    for (sender, operands) in given.iter().enumerate() {
        let [input, _, from, sizes, to, ..] = *operands else { continue };
        let updates = updates(from, given.len())?;
        for (receiver, output) in outputs.iter_mut().enumerate() {
            for update in 0..updates {
                let at = receiver * updates + update;
                let size = number(sizes.get(at));
                let place = |what| format!("{what} of device {sender} to device {receiver}");
                let from = range(number(from.get(at)), size, input, || place("input"))?;
                let to = range(number(to.get(at)), size, output, || place("output"))?;
                output.bytes_mut()[to].copy_from_slice(&input.bytes()[from]);
            }
        }
        let received = operands.get(5);
        check_received(received, given, sender, updates)?;
    }
    Ok(outputs)
}

/// How many updates go to each member.
fn updates(list: &Literal, members: usize) -> Result<usize> {
    let shape = list.array_shape().expect("verified: an array");
    if to_usize(shape.dims[0]) != members {
        let message = format!(
            "`ragged-all-to-all` has sizes for {} devices in a group of {members}",
            shape.dims[0]
        );
        return Err(Code::Trap { message }.into());
    }
    Ok(shape.dims.get(1).map_or(1, |&n| to_usize(n)))
}

/// What a member is told to receive is what the others send it.
fn check_received(
    stated: Option<&Literal>,
    given: &[&[Literal]],
    member: usize,
    updates: usize,
) -> Result<()> {
    let Some(stated) = stated else { return Ok(()) };
    for (sender, operands) in given.iter().enumerate() {
        for update in 0..updates {
            let wanted = number(stated.get(sender * updates + update));
            let sent = number(operands[3].get(member * updates + update));
            if wanted != sent {
                let message = format!(
                    "device {member} of the group is to receive {wanted} rows of device {sender}, which sends {sent}"
                );
                return Err(Code::Trap { message }.into());
            }
        }
    }
    Ok(())
}

/// An offset or a size; beyond `i64` it is beyond every array.
fn number(value: Scalar) -> i64 {
    match value {
        Scalar::Signed(value) => value,
        Scalar::Unsigned(value) => i64::try_from(value).unwrap_or(i64::MAX),
        Scalar::Pred(_) | Scalar::Float(_) | Scalar::Complex(..) => 0,
    }
}

/// The bytes of these rows of an array.
fn range(
    start: i64,
    size: i64,
    array: &Literal,
    what: impl FnOnce() -> String,
) -> Result<Range<usize>> {
    let shape = array.array_shape().expect("verified: an array");
    let rows = to_usize(shape.dims[0]);
    let end = start.saturating_add(size);
    if start < 0 || size < 0 || end > to_i64(rows) {
        let what = what();
        let message = format!("{what}: {size} rows from row {start} on do not lie in {rows} rows");
        return Err(Code::Trap { message }.into());
    }
    let row = count(&shape.dims[1..]) * shape.ty.storage_bytes();
    Ok(to_usize(start) * row..to_usize(end) * row)
}
