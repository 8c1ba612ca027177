//! `ragged-dot`: a `dot` in which one dimension of the left operand is divided into groups
//!
//! Group g takes the indices of the ragged dimension from `sizes[0] + .. + sizes[g-1]` on,
//! `sizes[g]` of them, up to the end of the dimension. The kind of the dimension determines the
//! meaning of the groups:
//!
//! | `lhs_ragged_dims` names | result | the term k of a sum |
//! |---|---|---|
//! | a free dimension | `[b.., l.., r..]` | `lhs[b.., l.., k..] * rhs[g, b.., r.., k..]`, g the group of l; none if l is in no group |
//! | a contracting one | `[g, b.., l.., r..]` | that of `dot` if k is in group g, else none |
//! | a batch one | `[b.., l.., r..]` | that of `dot` if b is in a group, else none |
//!
//! - `rhs_group_dims` names the dimension g of the right operand.
//! - The array of group sizes has the dimension of groups, optionally preceded by dimensions with
//!   separate sizes: the batch dimensions, and those of the ragged one's kind that precede it. A
//!   negative size counts as 0.
//!
//! Dimensions, sums and types are those of [`dot`](super::dot). XLA:CPU rejects the op.
//!
//! Source: XLA operation semantics, `RaggedDot`; StableHLO's CHLO, `ragged_dot`.
use super::dot::{Side, parts};
use super::products::Products;
use super::{Operand, build, set};
use hlo::op::value::DotAlgorithm;
use hlo::op::{RaggedDot, RaggedMode};
use hlo::{ArrayShape, Dims, Literal};
use num::index::to_usize;

pub(super) fn ragged_dot(
    op: &RaggedDot,
    lhs: &Operand<'_>,
    rhs: &Operand<'_>,
    group_sizes: &Operand<'_>,
    shape: &ArrayShape,
) -> Literal {
    let RaggedDot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        lhs_ragged_dims,
        rhs_group_dims,
        operand_precision: _, // Permits backends to round the operands. They are never rounded here.
    } = op;
    let products = Products::new(lhs.shape.ty, rhs.shape.ty, DotAlgorithm::Unset, shape.ty);
    let left = Side::new(lhs, lhs_batch_dims, lhs_contracting_dims, &[]);
    let right = Side::new(rhs, rhs_batch_dims, rhs_contracting_dims, rhs_group_dims);
    let (mode, ragged) = (op.mode(), to_usize(lhs_ragged_dims[0]));
    let prefix = if group_sizes.rank() > 1 { op.prefix(lhs.rank()) } else { Vec::new() };
    // The group that an index of the left operand is in.
    let group_of = |l: &Dims| {
        let outer: Dims = prefix.iter().map(|&dim| l[to_usize(dim)]).collect();
        group(group_sizes, outer, l[ragged])
    };
    build(shape, |index| {
        let (own, index) = index.split_at(usize::from(mode == RaggedMode::Contracting));
        let (batch, l, r) = parts(index, &left);
        products.sum(left.terms().filter_map(|k| {
            let (l, mut r) = (left.index(batch, l, &k), right.index(batch, r, &k));
            let group = group_of(&l)?;
            match mode {
                RaggedMode::Free => set(&mut r, rhs_group_dims, &[group]),
                RaggedMode::Contracting if own != [group] => return None,
                RaggedMode::Contracting | RaggedMode::Batch => {}
            }
            Some((lhs.at(&l), rhs.at(&r)))
        }))
    })
}

/// Returns the group that contains `index`, where `outer` is the index into the leading dimensions
/// of the sizes.
fn group(sizes: &Operand<'_>, mut outer: Dims, index: i64) -> Option<i64> {
    let (mut end, last) = (0_i64, outer.len());
    outer.push(0);
    (0..sizes.shape.dims[last]).find(|&group| {
        outer[last] = group;
        // A size that exceeds i64 covers the rest.
        let size = sizes.at(&outer).as_i64().unwrap_or(i64::MAX);
        end = end.saturating_add(size.max(0));
        index < end
    })
}
