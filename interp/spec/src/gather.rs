//! `gather`: slices of the operand at start indices given by values
//!
//! `result[i] = operand[start + offset]`
//!
//! **`offset`**: the components of i in `offset_dims`, one for each dimension of the operand that
//! is neither collapsed nor batching, in order; 0 in those. The other components of i are the batch
//! index: one for each dimension of `start_indices` but `index_vector_dim`, in order. Along that
//! dimension lies `vector`, the index vector of the batch.
//!
//! **`start[d]`**:
//! - `clamp(0, vector[k], operand size[d] - slice_sizes[d])`, if `start_index_map[k]` is d: the
//!   slice lies in the operand;
//! - the component of the batch index for the paired dimension of `start_indices`, if d is in
//!   `operand_batching_dims`;
//! - 0 otherwise.
//!
//! **Edges**:
//! - An unsigned component is not negative, however large. If `index_vector_dim` is the rank of
//!   `start_indices`, each of its elements is a vector of one component.
//! - A collapsed or batching dimension may have slices of size 0 only if the result has no
//!   elements; else that is `E0408`.
//!
//! Source: StableHLO, `gather`.
use super::{Operand, try_build};
use hlo::op::Gather;
use hlo::{ArrayShape, Dims, Literal};
use num::Result;
use num::error::Code;
use num::index::{others, to_usize};

pub(super) fn gather(
    op: &Gather,
    operand: &Operand<'_>,
    start_indices: &Operand<'_>,
    shape: &ArrayShape,
) -> Result<Literal> {
    let Gather {
        offset_dims,
        collapsed_slice_dims,
        start_index_map,
        operand_batching_dims,
        start_indices_batching_dims,
        index_vector_dim,
        slice_sizes,
        indices_are_sorted: _, // An assertion about the indices that does not affect the result.
    } = op;
    let batch_dims = others(shape.rank(), offset_dims);
    let left_out = [collapsed_slice_dims.as_slice(), operand_batching_dims].concat();
    let window_dims = others(operand.rank(), &left_out);
    let empty = left_out.iter().find(|&&d| slice_sizes[to_usize(d)] == 0);
    try_build(shape, |index| {
        if let Some(dim) = empty {
            let of = operand.shape;
            let message = format!("slices of size 0 in dimension {dim} of {of:#} have no elements");
            return Err(Code::Trap { message }.into());
        }
        let batch: Dims = batch_dims.iter().map(|&d| index[to_usize(d)]).collect();
        let mut source = Dims::from_elem(0, operand.rank());
        for (k, &dim) in (0..).zip(start_index_map) {
            let component = vector_index(&batch, *index_vector_dim, k, start_indices);
            let start = start_indices.integer_at(&component);
            source[to_usize(dim)] = start.clamp(0, operand.size(dim) - slice_sizes[to_usize(dim)]);
        }
        for (&dim, &paired) in operand_batching_dims.iter().zip(start_indices_batching_dims) {
            source[to_usize(dim)] = batch[batch_position(paired, *index_vector_dim)];
        }
        for (&dim, &offset_dim) in window_dims.iter().zip(offset_dims) {
            source[to_usize(dim)] += index[to_usize(offset_dim)];
        }
        Ok(operand.at(&source))
    })
}

/// Returns the index in `start_indices` of component `k` of the index vector of a batch.
pub(super) fn vector_index(
    batch: &[i64],
    index_vector_dim: i64,
    k: i64,
    start_indices: &Operand<'_>,
) -> Dims {
    let mut index = Dims::from_slice(batch);
    if to_usize(index_vector_dim) < start_indices.rank() {
        index.insert(to_usize(index_vector_dim), k);
    }
    index
}

/// Returns the component of the batch index that belongs to dimension `dim` of the indices.
pub(super) fn batch_position(dim: i64, index_vector_dim: i64) -> usize {
    to_usize(if dim > index_vector_dim { dim - 1 } else { dim })
}
