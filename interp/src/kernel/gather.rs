//! `gather`: `result[batch, offset] = operand[clamp(start) + offset]`
use crate::Result;
use crate::error::Code;
use crate::index::{indices, offset_list, others, pick, strides, to_usize};
use hlo::op::Gather;
use hlo::{Dims, Literal, Scalar};

/// Component `k` of the index vector at `batch`; an index beyond i64 is beyond every array.
pub(super) fn start_index(
    indices: &Literal,
    index_vector_dim: usize,
    batch: &[i64],
    k: i64,
) -> i64 {
    let shape = indices.array_shape().expect("verified: an array");
    let strides = strides(&shape.dims);
    let mut batch = batch.iter();
    let mut at = 0;
    for (d, &stride) in strides.iter().enumerate() {
        let i = if d == index_vector_dim { k } else { batch.next().copied().unwrap_or(0) };
        at += i * stride;
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

pub(super) fn gather_into(
    op: &Gather,
    operand: &Literal,
    starts: &Literal,
    result: &mut Literal,
) -> Result<()> {
    let shape = &result.array_shape().expect("a kernel computes arrays").clone();
    let from = operand.array_shape().expect("verified: an array");
    let strides = strides(&from.dims);
    let left_out = [op.collapsed_slice_dims.as_slice(), &op.operand_batching_dims].concat();
    if let Some(dim) = left_out.iter().find(|&&d| op.slice_sizes[to_usize(d)] == 0) {
        // The rules allow it; a result without elements is never computed.
        let message =
            format!("slices of size 0 in dimension {dim} of {from:#} have no elements to give");
        return Err(Code::Trap { message }.into());
    }
    let (_, window_strides) = pick(from, &others(from.rank(), &left_out));
    let (window, result_strides) = pick(shape, &op.offset_dims);
    let (batch_sizes, batch_strides) = pick(shape, &others(shape.rank(), &op.offset_dims));
    // Offsets of a window's runs of neighbours, in the operand and in the result.
    let is_run = window_strides.last() == Some(&1) && result_strides.last() == Some(&1);
    let outer = if is_run { window.len() - 1 } else { window.len() };
    let run = if is_run { to_usize(window[outer]) } else { 1 };
    let sources = offset_list(&window[..outer], &window_strides[..outer]);
    let targets = offset_list(&window[..outer], &result_strides[..outer]);
    let width = shape.ty.storage_bytes();
    let (to, bytes) = (result.bytes_mut(), operand.bytes());
    let vector_dim = to_usize(op.index_vector_dim);
    let mut full_start = Dims::from_elem(0, from.rank());
    indices(&batch_sizes, |batch| {
        for (k, &dim) in (0i64..).zip(&op.start_index_map) {
            let d = to_usize(dim);
            let start = start_index(starts, vector_dim, batch, k);
            full_start[d] = start.clamp(0, from.dims[d] - op.slice_sizes[d]);
        }
        for (&dim, &of) in op.operand_batching_dims.iter().zip(&op.start_indices_batching_dims) {
            full_start[to_usize(dim)] = batch[batch_component(of, op.index_vector_dim)];
        }
        let base = to_usize(full_start.iter().zip(&strides).map(|(s, stride)| s * stride).sum());
        let target = to_usize(batch.iter().zip(&batch_strides).map(|(i, stride)| i * stride).sum());
        for (&source, &place) in sources.iter().zip(&targets) {
            let (source, place) = ((base + source) * width, (target + place) * width);
            to[place..place + run * width].copy_from_slice(&bytes[source..source + run * width]);
        }
    });
    Ok(())
}
