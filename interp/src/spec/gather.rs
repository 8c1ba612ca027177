//! `gather`: slices of the operand at start indices that are values
//!
//! A result index consists of a batch index, which selects a start index from `start_indices`, and an offset index, which
//! selects an element of the slice that starts there. Each start index is clamped so that the slice lies in the operand.
//!
//! Source: StableHLO, "gather".
use super::{Array, build};
use crate::index::to_usize;
use hlo::op::Gather;
use hlo::{ArrayShape, Dims, Literal, Scalar};

pub(super) fn gather(
    op: &Gather,
    operand: &Array<'_>,
    start_indices: &Array<'_>,
    shape: &ArrayShape,
) -> Literal {
    let Gather {
        offset_dims,
        collapsed_slice_dims,
        start_index_map,
        operand_batching_dims,
        start_indices_batching_dims,
        index_vector_dim,
        slice_sizes,
        indices_are_sorted: _, // A promise about the operand, without an effect on the result.
    } = op;
    let is_offset = |d: usize| offset_dims.iter().any(|&o| to_usize(o) == d);
    build(shape, |index| {
        let batch: Dims = (0..index.len()).filter(|&d| !is_offset(d)).map(|d| index[d]).collect();
        let mut at = Dims::from_elem(0, operand.rank());
        // The start index: component k belongs to dimension `start_index_map[k]`.
        for (k, &dim) in (0..).zip(start_index_map) {
            let mut position = batch.clone();
            if to_usize(*index_vector_dim) < start_indices.rank() {
                position.insert(to_usize(*index_vector_dim), k);
            }
            let last = operand.size(dim) - slice_sizes[to_usize(dim)];
            at[to_usize(dim)] = start(start_indices.at(&position)).clamp(0, last);
        }
        // A batching dimension of the operand has the batch index of its partner in `start_indices`.
        for (&dim, &partner) in operand_batching_dims.iter().zip(start_indices_batching_dims) {
            let component = if partner > *index_vector_dim { partner - 1 } else { partner };
            at[to_usize(dim)] = batch[to_usize(component)];
        }
        // The offset index: one component per dimension that is neither collapsed nor batching, in order.
        let is_kept =
            |d: &i64| !collapsed_slice_dims.contains(d) && !operand_batching_dims.contains(d);
        let kept = (0..crate::index::to_i64(operand.rank())).filter(is_kept);
        for (dim, &offset) in kept.zip(offset_dims) {
            at[to_usize(dim)] += index[to_usize(offset)];
        }
        operand.at(&at)
    })
}

/// A start index as a number; one beyond `i64` is beyond every array.
pub(super) fn start(index: Scalar) -> i64 {
    match index {
        Scalar::Signed(index) => index,
        Scalar::Unsigned(index) => i64::try_from(index).unwrap_or(i64::MAX),
        Scalar::Pred(_) | Scalar::Float(_) | Scalar::Complex(..) => 0,
    }
}
