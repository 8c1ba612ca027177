//! `gather`: `result[batch, offset] = operand[clamp(start) + offset]`
use crate::Kernel;
use crate::cost_model::MOVED_BYTES;
use crate::function::writes_with;
use crate::op::{ArrayOp, Site, linear, needs_whole_operands};
use hlo::op::Gather;
use hlo::{Array, Dims, IndexSpace, Scalar};
use num::Result;
use num::error::Code;
use num::index::{
    count, indices, offset_list, others, pick, saturating_count, strides, to_i64, to_usize,
};
use num::parallel::parts;
use num::scalar_program::ScalarPrograms;

/// The start indices of slices.
pub(super) struct StartIndices<'a> {
    indices: &'a Array,
    /// Strides of the batch dimensions.
    strides: Dims,
    /// The stride of the components of an index vector.
    vector_stride: i64,
}

impl<'a> StartIndices<'a> {
    pub(super) fn new(indices: &'a Array, index_vector_dim: i64) -> Self {
        let shape = indices.shape();
        let mut strides = strides(&shape.dims);
        let dim = to_usize(index_vector_dim);
        let vector_stride = if dim < strides.len() { strides.remove(dim) } else { 0 };
        Self { indices, strides, vector_stride }
    }
    /// Component `k` of the index vector at `batch`; an index beyond i64 is beyond every array.
    pub(super) fn component(&self, batch: &[i64], k: i64) -> i64 {
        let at = batch.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum::<i64>();
        let scalar = self.indices.get(to_usize(at + k * self.vector_stride));
        let is_unsigned = matches!(scalar, Scalar::Unsigned(_));
        scalar.as_i64().unwrap_or(if is_unsigned { i64::MAX } else { 0 })
    }
}

/// Which component of the batch index belongs to dimension `dim` of the indices.
pub(super) fn batch_component(dim: i64, index_vector_dim: i64) -> usize {
    to_usize(if dim > index_vector_dim { dim - 1 } else { dim })
}

impl ArrayOp for Gather {
    fn kernel(&self, _: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        // The offsets of a slice's elements in the operand and in the result.
        let offsets = saturating_count(&self.slice_sizes).saturating_mul(2 * size_of::<usize>());
        let op = self.clone();
        Some(writes_with(offsets, move |_, inputs, outputs| {
            gather_into(&op, inputs[0], inputs[1], &mut outputs[0])
        }))
    }
    linear!();
    needs_whole_operands!();
}

fn gather_into(op: &Gather, operand: &Array, starts: &Array, result: &mut Array) -> Result<()> {
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
    let shape = &result.shape().clone();
    let from = operand.shape();
    let strides = strides(&from.dims);
    let left_out = [collapsed_slice_dims.as_slice(), operand_batching_dims].concat();
    if let Some(dim) = left_out.iter().find(|&&d| slice_sizes[to_usize(d)] == 0) {
        // The rules allow it; a result without elements is never computed.
        let message =
            format!("slices of size 0 in dimension {dim} of {from:#} have no elements to give");
        return Err(Code::Trap { message }.into());
    }
    let (_, window_strides) = pick(from, &others(from.rank(), &left_out));
    let (window, result_strides) = pick(shape, offset_dims);
    let (batch_sizes, batch_strides) = pick(shape, &others(shape.rank(), offset_dims));
    // Offsets of a window's runs of neighbours, in the operand and in the result.
    let is_run = window_strides.last() == Some(&1) && result_strides.last() == Some(&1);
    let outer = if is_run { window.len() - 1 } else { window.len() };
    let run = if is_run { to_usize(window[outer]) } else { 1 };
    let sources = offset_list(&window[..outer], &window_strides[..outer]);
    let targets = offset_list(&window[..outer], &result_strides[..outer]);
    let width = shape.ty.storage_bytes();
    let (to, bytes) = (result.bytes_mut(), operand.bytes());
    let starts = StartIndices::new(starts, *index_vector_dim);
    let slice = |batch: &[i64], full_start: &mut Dims, to: &mut [u8], target: usize| {
        for (k, &dim) in (0i64..).zip(start_index_map) {
            let d = to_usize(dim);
            let start = starts.component(batch, k);
            full_start[d] = start.clamp(0, from.dims[d] - slice_sizes[d]);
        }
        for (&dim, &of) in operand_batching_dims.iter().zip(start_indices_batching_dims) {
            full_start[to_usize(dim)] = batch[batch_component(of, *index_vector_dim)];
        }
        let base = to_usize(full_start.iter().zip(&strides).map(|(s, stride)| s * stride).sum());
        for (&source, &place) in sources.iter().zip(&targets) {
            let (source, place) = ((base + source) * width, (target + place) * width);
            to[place..place + run * width].copy_from_slice(&bytes[source..source + run * width]);
        }
    };
    let full_start = Dims::from_elem(0, from.rank());
    let size = count(&window);
    if batch_strides.last().is_some_and(|&stride| stride == to_i64(size)) {
        // Slices follow one another.
        let at_once = (MOVED_BYTES / (size * width)).max(1);
        parts(to, (at_once * size * width, 1), |group, to| {
            let mut full_start = full_start.clone();
            for (i, to) in to.chunks_exact_mut(size * width).enumerate() {
                slice(&batch_sizes.index_of(group * at_once + i), &mut full_start, to, 0);
            }
        });
        return Ok(());
    }
    let mut full_start = full_start;
    indices(&batch_sizes, |batch| {
        let target = batch.iter().zip(&batch_strides).map(|(i, stride)| i * stride).sum();
        slice(batch, &mut full_start, to, to_usize(target));
    });
    Ok(())
}
