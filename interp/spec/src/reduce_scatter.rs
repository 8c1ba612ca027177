//! `reduce-scatter`: the arrays of all members of a group, folded as by `all-reduce`; member m gets
//! part m of the result
//!
//! `result_m[.., i, ..] = folded[.., m * n + i, ..]`, where n is the size of the dimension divided
//! by the number of members, and m the position of the member in the group: the order of the ids in
//! `replica_groups`.
//!
//! Source: StableHLO, `reduce_scatter`.
use super::{Operand, build};
use hlo::ir::ComputationId;
use hlo::op::ReduceScatter;
use hlo::{ArrayShape, Dims, Literal};
use num::Result;
use num::error::Code;
use num::index::{to_i64, to_usize};

/// Returns the dimension and the reducer; the other attributes determine the groups.
pub fn dimension_and_reducer(op: &ReduceScatter) -> (i64, ComputationId) {
    let ReduceScatter {
        channel_id: _,
        replica_groups: _,
        constrain_layout: _, // Layouts do not affect the result.
        use_global_device_ids: _,
        dimensions,
        to_apply,
    } = op;
    (dimensions[0], *to_apply)
}

/// Returns the parts of the members; `folded` is the result of `all-reduce`.
pub fn reduce_scatter(
    dimension: i64,
    folded: &Operand<'_>,
    members: usize,
) -> Result<Vec<Literal>> {
    let n = part_size(folded.shape, dimension, members)?;
    let dim = to_usize(dimension);
    let mut shape = ArrayShape::new(folded.shape.ty, folded.shape.dims.clone());
    shape.dims[dim] = n;
    let part = |member: i64| {
        build(&shape, |index| {
            let mut source = Dims::from_slice(index);
            source[dim] = member * n + index[dim];
            folded.at(&source)
        })
    };
    Ok((0..to_i64(members)).map(part).collect())
}

/// Returns the size of a part of `shape` along a dimension, of as many parts as there are members.
pub(super) fn part_size(shape: &ArrayShape, dimension: i64, members: usize) -> Result<i64> {
    let (size, members) = (shape.dims[to_usize(dimension)], to_i64(members));
    if members == 0 || size % members != 0 {
        let message =
            format!("dimension {dimension} of {shape:#} cannot be split for {members} devices");
        return Err(Code::Trap { message }.into());
    }
    Ok(size / members)
}
