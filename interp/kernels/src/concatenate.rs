//! `concatenate`: `result[.., offset + i, ..] = operand[.., i, ..]`, operand after operand
use crate::Kernel;
use crate::cost_model::MOVED_BYTES;
use crate::function::moves;
use crate::op::{ArrayOp, Site, linear};
use crate::slicing::{Region, SliceDim, Sliced};
use crate::strided::{copy_short, with_half};
use hlo::op::Concatenate;
use hlo::{Array, ArrayShape, Op};
use num::index::{count, to_usize};
use num::parallel::{copy, parts};
use num::scalar_program::ScalarPrograms;

/// Bytes of the result that stay in the first cache beside those that they are copied from.
const CACHED: usize = 1 << 13;

impl ArrayOp for Concatenate {
    fn kernel(&self, _: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self { dimensions } = self;
        let dim = to_usize(dimensions[0]);
        Some(moves(move |inputs, output| concatenate_into(dim, inputs, output)))
    }
    linear!();
    fn slice(&self, site: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
        let dim = to_usize(self.dimensions[0]);
        let (mut operands, mut end) = (Vec::new(), 0);
        for (i, operand) in site.operands.iter().enumerate() {
            let start = end;
            end += operand.dims[dim];
            if let Some(extent) = region[dim].within(start, end) {
                let mut inner = Region::from(region);
                inner[dim] = extent;
                operands.push((i, inner));
            }
        }
        match operands.as_mut_slice() {
            [(i, inner)] => Some(Sliced::Operand(*i, std::mem::take(inner))),
            _ => Some(Sliced::Op(Op::Concatenate(self.clone()), operands)),
        }
    }
}

/// Returns arrays one after another along dimension `dim`.
pub fn concatenated(arrays: &[&Array], dim: usize, shape: &ArrayShape) -> Array {
    let mut result = Array::zeros(shape.clone());
    concatenate_into(dim, arrays, &mut result);
    result
}

/// Writes the operands one after another along dimension `dim`.
fn concatenate_into(dim: usize, operands: &[&Array], result: &mut Array) {
    let shape = result.shape();
    let width = shape.ty.storage_bytes();
    // Everything after the dimension lies together, so each operand gives one run for each index
    // before it.
    let runs: Vec<usize> = operands.iter().map(|o| count(&o.shape().dims[dim..]) * width).collect();
    let row: usize = runs.iter().sum();
    if count(&shape.dims[..dim]) <= 1 || row == 0 {
        let mut rest = result.bytes_mut();
        for operand in operands {
            let (slot, after) = rest.split_at_mut(operand.bytes().len());
            copy(operand.bytes(), slot);
            rest = after;
        }
        return;
    }
    let rows_at_once = (MOVED_BYTES / row).max(1);
    parts(result.bytes_mut(), (rows_at_once * row, 1), |part, to| {
        // Operand after operand, in rows that stay in the cache.
        let few = (CACHED / row).max(1);
        for (i, to) in to.chunks_mut(few * row).enumerate() {
            let (first, mut start) = (part * rows_at_once + i * few, 0);
            for (operand, &run) in operands.iter().zip(&runs).filter(|(_, run)| **run > 0) {
                let from = operand.bytes()[first * run..].chunks_exact(run);
                with_half!(run, N => {
                    for (from, to) in from.zip(to.chunks_exact_mut(row)) {
                        copy_short::<N>(from, &mut to[start..start + run]);
                    }
                });
                start += run;
            }
        }
    });
}
