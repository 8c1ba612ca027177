//! `all-gather`: the arrays of all members of a group, one after another along a dimension; each
//! member gets the result
//!
//! `result[.., i, ..] = x_m[.., i mod n, ..]`, where m = i / n counts the members in group order
//! and n is the size of the dimension. Group order is the order of the ids in `replica_groups`.
//! Several operands are gathered independently.
//!
//! Source: StableHLO, `all_gather`.
use super::{Operand, build};
use hlo::op::AllGather;
use hlo::{ArrayShape, Dims, Literal};
use num::index::{to_i64, to_usize};

/// Returns the dimension; the other attributes determine the groups. `all-gather-start` has the
/// same ones.
pub fn dimension(op: &AllGather) -> i64 {
    let AllGather {
        channel_id: _,
        replica_groups: _,
        constrain_layout: _, // Layouts do not affect the result.
        dimensions,
        use_global_device_ids: _,
    } = op;
    dimensions[0]
}

/// Returns the arrays of the members, concatenated along a dimension.
pub fn all_gather(dimension: i64, members: &[Operand<'_>]) -> Literal {
    let (dim, size) = (to_usize(dimension), members[0].size(dimension));
    let mut shape = ArrayShape::new(members[0].shape.ty, members[0].shape.dims.clone());
    shape.dims[dim] = size * to_i64(members.len());
    build(&shape, |index| {
        let mut source = Dims::from_slice(index);
        source[dim] = index[dim] % size;
        members[to_usize(index[dim] / size)].at(&source)
    })
}
