//! `iota`: `result[i] = i[iota_dimension]`
use crate::clock::Stop;
use crate::index::{strides, to_i64, to_usize};
use hlo::{ElementType, Literal, Scalar};

/// Writes `start + index * step` along a dimension.
pub(crate) fn iota_into(dim: i64, (start, step): (i64, i64), result: &mut Literal) {
    let shape = result.array_shape().expect("a kernel computes arrays").clone();
    let dim = to_usize(dim);
    let stride = strides(&shape.dims)[dim];
    let size = shape.dims[dim];
    let width = shape.ty.storage_bytes();
    let stop = Stop::current();
    let slots = result.bytes_mut().chunks_exact_mut(width).enumerate();
    for (i, slot) in slots.take_while(|_| !stop.is_set()) {
        let index = start + to_i64(i) / stride % size * step;
        Scalar::Signed(index).convert(ElementType::S64, shape.ty).write(shape.ty, slot);
    }
}
