//! `iota`: `result[i] = i[iota_dimension]`
use crate::index::{strides, to_i64, to_usize};
use hlo::op::Iota;
use hlo::{ElementType, Literal, Scalar};

pub(super) fn iota_into(op: &Iota, result: &mut Literal) {
    let shape = result.array_shape().expect("a kernel computes arrays").clone();
    let dim = to_usize(op.iota_dimension.unwrap_or(0));
    let stride = strides(&shape.dims)[dim];
    let size = shape.dims[dim];
    let width = shape.ty.storage_bytes();
    for (i, slot) in result.bytes_mut().chunks_exact_mut(width).enumerate() {
        let index = to_i64(i) / stride % size;
        Scalar::Signed(index).convert(ElementType::S64, shape.ty).write(shape.ty, slot);
    }
}
