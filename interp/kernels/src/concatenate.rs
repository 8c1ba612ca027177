//! `concatenate`: `result[.., offset + i, ..] = operand[.., i, ..]`, operand after operand
use crate::Kernel;
use crate::function::moves;
use crate::op::{ArrayOp, Site, linear};
use crate::slicing::{Region, SliceDim, Sliced};
use hlo::op::Concatenate;
use hlo::{Array, ArrayShape, Op};
use num::clock::Stop;
use num::index::{count, to_usize};
use num::parallel::copy;
use num::scalar_program::ScalarPrograms;

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
    let outer = count(&shape.dims[..dim]);
    let runs: Vec<usize> = operands.iter().map(|o| count(&o.shape().dims[dim..]) * width).collect();
    let mut rest = result.bytes_mut();
    let stop = Stop::current();
    for row in (0..outer).take_while(|_| !stop.is_set()) {
        for (operand, &run) in operands.iter().zip(&runs) {
            let (slot, after) = rest.split_at_mut(run);
            copy(&operand.bytes()[row * run..(row + 1) * run], slot);
            rest = after;
        }
    }
}
