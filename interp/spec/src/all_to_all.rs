//! `all-to-all`: each member of a group gets a part of the array of every member
//!
//! With `dimensions={d}`, along d, where n is the size of d divided by the number of members:
//!
//! `result_m[.., i, ..] = x_s[.., m * n + i mod n, ..]`, s = i / n
//!
//! m and s are positions in the group: the order of the ids in `replica_groups`. Without
//! `dimensions` each member has as many operands as the group has members, and the result is a
//! tuple: `result_m[s] = x_s[m]`.
//!
//! Source: StableHLO, `all_to_all`; XLA operation semantics, `AllToAll`.
use super::reduce_scatter::part_size;
use super::{Operand, build};
use hlo::op::AllToAll;
use hlo::{Dims, Literal};
use num::Result;
use num::error::Code;
use num::index::{to_i64, to_usize};

/// Returns the dimension, if there is one; the other attributes determine the groups.
pub fn dimension(op: &AllToAll) -> Option<i64> {
    let AllToAll {
        channel_id: _,
        replica_groups: _,
        dimensions,
        constrain_layout: _, // Layouts do not affect the result.
    } = op;
    dimensions.first().copied()
}

/// Returns the result of each member.
pub fn all_to_all(dimension: i64, members: &[Operand<'_>]) -> Result<Vec<Literal>> {
    let (dim, shape) = (to_usize(dimension), members[0].shape);
    let n = part_size(shape, dimension, members.len())?;
    let result = |member: i64| {
        build(shape, |index| {
            let mut source = Dims::from_slice(index);
            source[dim] = member * n + index[dim] % n;
            members[to_usize(index[dim] / n)].at(&source)
        })
    };
    Ok((0..to_i64(members.len())).map(result).collect())
}

/// Returns the result of each member, of the operands of each.
pub fn all_to_all_of_tuples(operands: &[&[Literal]]) -> Result<Vec<Vec<Literal>>> {
    let members = operands.len();
    if let Some(other) = operands.iter().map(|own| own.len()).find(|&count| count != members) {
        let message = format!("`all-to-all` of {other} operands in a group of {members} devices");
        return Err(Code::Trap { message }.into());
    }
    let result = |member: usize| operands.iter().map(|own| own[member].clone()).collect();
    Ok((0..members).map(result).collect())
}
