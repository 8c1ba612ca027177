//! `gather`: `result[batch, offset] = operand[clamp(start) + offset]`
use crate::Kernel;
use crate::cost_model::MOVED_BYTES;
use crate::function::{computes, writes_with};
use crate::index_vectors::{Indexing, Offsets, Slices, Units};
use crate::op::{ArrayOp, Site, linear, needs_whole_operands};
use crate::strided::{copy_short, with_half, with_width};
use hlo::op::Gather;
use num::Arithmetic;
use num::error::Code;
use num::index::to_usize;
use num::parallel::parts;
use num::scalar_program::ScalarPrograms;

impl ArrayOp for Gather {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        Some(kernel(self, site))
    }
    linear!();
    needs_whole_operands!();
}

fn kernel(op: &Gather, site: &Site<'_>) -> Box<dyn Kernel> {
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
    let (from, shape) = (site.operands[0], site.result());
    let mut left_out = collapsed_slice_dims.iter().chain(operand_batching_dims);
    if let Some(&dim) = left_out.find(|&&d| slice_sizes[to_usize(d)] == 0) {
        // The rules allow it; a result without elements is never computed.
        let message =
            format!("slices of size 0 in dimension {dim} of {from:#} have no elements to give");
        return writes_with(0, move |_, _, _| Err(Code::Trap { message: message.clone() }.into()));
    }
    let indexing = Indexing {
        index_vector_dim: *index_vector_dim,
        map: start_index_map,
        batching: (operand_batching_dims, start_indices_batching_dims),
        collapsed: collapsed_slice_dims,
        slice: slice_sizes,
        is_clamped: true,
    };
    let slices = Slices::new(&indexing, (from, site.operands[1]), (&shape.dims, offset_dims));
    let width = shape.ty.storage_bytes();
    computes(Arithmetic::Exact, slices.scratch(), None, move |inputs, output| {
        let (from, indices) = (inputs[0], inputs[1]);
        let (offsets, unit) = (slices.offsets(indices), slices.unit * width);
        let at_once = (MOVED_BYTES / unit).max(1);
        parts(output, (at_once * unit, 1), |part, mut to| {
            let units = (part * at_once, to.len() / unit);
            slices
                .each_block((indices, &offsets), units, |units| {
                    let (now, rest) =
                        std::mem::take(&mut to).split_at_mut(units.starts.len() * unit);
                    to = rest;
                    copy_units(&from[units.part * width..], &units, &offsets, width, now);
                    Ok(())
                })
                .expect("copies do not fail");
        });
    })
}

/// Copies units, whose elements have `width` bytes, to `to`.
fn copy_units(from: &[u8], units: &Units<'_>, offsets: &Offsets, width: usize, to: &mut [u8]) {
    if let (&[0], 1) = (&*offsets.runs, offsets.run) {
        return with_width!(width, W => {
            let from = from.as_chunks::<W>().0;
            for (to, &start) in to.as_chunks_mut().0.iter_mut().zip(units.starts) {
                *to = from[start];
            }
        });
    }
    let bytes = offsets.run * width;
    with_half!(bytes, N => {
        let mut to = to.chunks_exact_mut(bytes);
        for start in units.starts {
            for (run, to) in offsets.runs.iter().zip(&mut to) {
                copy_short::<N>(&from[(start + run) * width..][..bytes], to);
            }
        }
    });
}
