//! `gather`: `result[batch, offset] = operand[clamp(start) + offset]`
use crate::index::{indices, strides, to_usize};
use hlo::op::Gather;
use hlo::{ArrayShape, Dims, Literal, Scalar};

/// Component `k` of the index vector at `batch`; an index beyond i64 is beyond every array.
pub(super) fn start_index(
    indices: &Literal,
    index_vector_dim: usize,
    batch: &[i64],
    k: i64,
) -> i64 {
    let shape = indices.array_shape().expect("verified: an array");
    let steps = strides(&shape.dims);
    let mut batch = batch.iter();
    let mut at = 0;
    for (d, &step) in steps.iter().enumerate() {
        let i = if d == index_vector_dim { k } else { batch.next().copied().unwrap_or(0) };
        at += i * step;
    }
    let scalar = indices.get(to_usize(at));
    match scalar {
        Scalar::Unsigned(_) => scalar.as_i64().unwrap_or(i64::MAX),
        _ => scalar.as_i64().unwrap_or(0),
    }
}

/// Which component of the batch index belongs to dimension `dim` of the indices.
pub(super) fn batch_component(dim: i64, index_vector_dim: i64) -> usize {
    to_usize(if dim > index_vector_dim { dim - 1 } else { dim })
}

pub(super) fn gather(
    op: &Gather,
    operand: &Literal,
    starts: &Literal,
    shape: &ArrayShape,
) -> Literal {
    let from = operand.array_shape().expect("verified: an array");
    let steps = strides(&from.dims);
    let left_out = [op.collapsed_slice_dims.as_slice(), &op.operand_batching_dims].concat();
    let window_dims = crate::index::others(from.rank(), &left_out);
    let batch_dims = crate::index::others(shape.rank(), &op.offset_dims);
    let width = shape.ty.storage_bytes();
    let mut result = Literal::zeros(shape.clone());
    let mut slots = result.bytes_mut().chunks_exact_mut(width);
    let bytes = operand.bytes();
    let vector_dim = to_usize(op.index_vector_dim);
    indices(&shape.dims, |index| {
        let batch: Dims = batch_dims.iter().map(|&d| index[to_usize(d)]).collect();
        let mut full_start = Dims::from_elem(0, from.rank());
        for (k, &dim) in (0i64..).zip(&op.start_index_map) {
            let d = to_usize(dim);
            let start = start_index(starts, vector_dim, &batch, k);
            full_start[d] = start.clamp(0, from.dims[d] - op.slice_sizes[d]);
        }
        for (&dim, &of) in op.operand_batching_dims.iter().zip(&op.start_indices_batching_dims) {
            full_start[to_usize(dim)] = batch[batch_component(of, op.index_vector_dim)];
        }
        let mut at: i64 = full_start.iter().zip(&steps).map(|(s, step)| s * step).sum();
        for (&offset, &dim) in op.offset_dims.iter().zip(&window_dims) {
            at += index[to_usize(offset)] * steps[to_usize(dim)];
        }
        let at = to_usize(at) * width;
        if let Some(slot) = slots.next() {
            slot.copy_from_slice(&bytes[at..at + width]);
        }
    });
    result
}
