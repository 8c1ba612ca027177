//! `concatenate`: `result[.., offset + i, ..] = operand[.., i, ..]`, operand after operand
use hlo::op::Concatenate;
use hlo::{ArrayShape, Literal};
use num::clock::Stop;
use num::index::{count, to_usize};
use num::parallel::copy;

pub(super) fn concatenate(op: &Concatenate, operands: &[&Literal], shape: &ArrayShape) -> Literal {
    let mut result = Literal::zeros(shape.clone());
    concatenate_into(op, operands, &mut result);
    result
}

pub(super) fn concatenate_into(op: &Concatenate, operands: &[&Literal], result: &mut Literal) {
    let shape = result.array_shape().expect("a kernel computes arrays");
    let dim = to_usize(op.dimensions[0]);
    let width = shape.ty.storage_bytes();
    // Everything after the dimension lies together, so each operand gives one run for each index before it.
    let outer = count(&shape.dims[..dim]);
    let runs: Vec<usize> = operands
        .iter()
        .map(|o| count(&o.array_shape().expect("verified: an array").dims[dim..]) * width)
        .collect();
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
