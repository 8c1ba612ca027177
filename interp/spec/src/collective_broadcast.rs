//! `collective-broadcast`: the values of one member of a group, for each member
//!
//! `result_m = x_root`, where the root is the first member in the order of the ids in
//! `replica_groups`. With `has_dynamic_root` the last operand is an array of roots, one for each of
//! the others: a root is a position in the group.
//!
//! - A group has one root for each value: members that name different ones are `E0408`, and so is a
//!   root outside the group.
//! - A device in no group gets zeros.
//!
//! Source: StableHLO, `collective_broadcast`; XLA operation semantics, `CollectiveBroadcast`.
use super::Operand;
use hlo::Literal;
use hlo::op::CollectiveBroadcast;
use num::error::Code;
use num::index::to_i64;
use num::{Error, Result};

/// Returns the result of each member, from the operands of all.
pub fn collective_broadcast(
    op: &CollectiveBroadcast,
    operands: &[&[Literal]],
) -> Result<Vec<Literal>> {
    let CollectiveBroadcast {
        channel_id: _,     // Determines the groups.
        replica_groups: _, // Likewise.
        has_dynamic_root,
    } = op;
    let Some((first, others)) = operands.split_first() else { return Ok(Vec::new()) };
    let (true, Some((roots, values))) = (*has_dynamic_root, first.split_last()) else {
        return Ok(first.to_vec());
    };
    let trap = |message: String| Error::from(Code::Trap { message });
    let root = |roots: &Literal, i: usize| Operand::of(roots).integer_at(&[to_i64(i)]);
    let differs = |own: &&[Literal]| {
        own.last().is_none_or(|own| (0..values.len()).any(|i| root(own, i) != root(roots, i)))
    };
    if let Some(other) = others.iter().position(differs) {
        let other = other + 1;
        return Err(trap(format!("members 0 and {other} of the group name different roots")));
    }
    let value = |i: usize| {
        let root = root(roots, i);
        let member = usize::try_from(root).ok().and_then(|root| operands.get(root));
        member.map(|own| own[i].clone()).ok_or_else(|| {
            trap(format!("root {root} is not a member of a group of {}", operands.len()))
        })
    };
    (0..values.len()).map(value).collect()
}
