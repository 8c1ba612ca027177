//! `iota`: `result[i] = i[iota_dimension]`
use super::build;
use crate::index::{strides, to_i64, to_usize};
use hlo::op::Iota;
use hlo::{ArrayShape, ElementType, Literal, Scalar};

pub(super) fn iota(op: &Iota, shape: &ArrayShape) -> Literal {
    let dim = to_usize(op.iota_dimension.unwrap_or(0));
    let step = strides(&shape.dims)[dim];
    let size = shape.dims[dim];
    build(shape, |i| {
        let index = to_i64(i) / step % size;
        Scalar::Signed(index).convert(ElementType::S64, shape.ty)
    })
}
