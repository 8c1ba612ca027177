//! `broadcast`: `result[i] = operand[i[dimensions[0]], i[dimensions[1]], ...]`
use crate::index::{strides, to_usize};
use hlo::op::Broadcast;
use hlo::{ArrayShape, Dims, Literal};

pub(super) fn broadcast(op: &Broadcast, operand: &Literal, shape: &ArrayShape) -> Literal {
    let from = strides(&operand.array_shape().expect("verified: an array").dims);
    let mut steps = Dims::from_elem(0, shape.rank());
    for (&dim, &step) in op.dimensions.iter().zip(&from) {
        steps[to_usize(dim)] += step;
    }
    super::data_movement::affine(operand, shape, 0, &steps)
}
