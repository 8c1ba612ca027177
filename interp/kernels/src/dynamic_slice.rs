//! `dynamic-slice` and `dynamic-update-slice`: each start index is limited so that the box lies
//! inside
use super::data_movement::affine_into;
use crate::Kernel;
use crate::function::{updates_with, writes};
use crate::op::{ArrayOp, Site, linear, needs_whole_operands};
use hlo::op::{DynamicSlice, DynamicUpdateSlice};
use hlo::{Array, ArrayShape, Scalar};
use num::index::{rows, strides, to_usize};
use num::parallel::copy;
use num::scalar_program::ScalarPrograms;
use std::borrow::Borrow;

impl ArrayOp for DynamicSlice {
    fn kernel(&self, _: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self { dynamic_slice_sizes: _ } = self; // As the shape of the result.
        Some(writes(|_, inputs, outputs| {
            dynamic_slice_into(inputs[0], &inputs[1..], &mut outputs[0]);
            Ok(())
        }))
    }
    linear!();
    needs_whole_operands!();
}

impl ArrayOp for DynamicUpdateSlice {
    fn kernel(&self, _: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self {} = self;
        Some(updates_with(0, |_, inputs, outputs| {
            // The inputs are those after operand 0.
            update_in_place(&mut outputs[0], inputs[0], &inputs[1..]);
            Ok(())
        }))
    }
    linear!();
    needs_whole_operands!();
}

/// Returns the offset of the box: `clamp(0, start[d], size[d] - box[d])` in each dimension.
fn base<L: Borrow<Array>>(
    operand: &ArrayShape,
    window: &ArrayShape,
    starts: &[L],
    strides: &[i64],
) -> i64 {
    let literal = |i: usize| starts[i].borrow();
    let vector = starts.len() == 1 && literal(0).shape().rank() == 1;
    let start = |d: usize| if vector { literal(0).get(d) } else { literal(d).get(0) };
    (0..operand.rank())
        .map(|d| {
            let last = operand.dims[d] - window.dims[d];
            let start = match start(d) {
                Scalar::Signed(start) => start.clamp(0, last),
                // An unsigned index beyond i64 is beyond every array.
                Scalar::Unsigned(start) => i64::try_from(start).map_or(last, |s| s.min(last)),
                Scalar::Pred(_) | Scalar::Float(_) | Scalar::Complex(..) => 0,
            };
            start * strides[d]
        })
        .sum()
}

/// `result[i] = operand[start + i]`
pub fn dynamic_slice(operand: &Array, starts: &[&Array], shape: &ArrayShape) -> Array {
    let mut result = Array::zeros(shape.clone());
    dynamic_slice_into(operand, starts, &mut result);
    result
}

/// `result[i] = operand[start + i]`, into memory that is there.
fn dynamic_slice_into(operand: &Array, starts: &[&Array], result: &mut Array) {
    let from = operand.shape();
    let strides = strides(&from.dims);
    let shape = result.shape();
    let base = base(from, shape, starts, &strides);
    affine_into(operand, result, base, &strides);
}

/// `result[start + i] = update[i]`
fn update_in_place(result: &mut Array, update: &Array, starts: &[impl Borrow<Array>]) {
    let shape = result.shape().clone();
    let window = update.shape();
    let strides = strides(&shape.dims);
    let base = base(&shape, window, starts, &strides);
    let width = shape.ty.storage_bytes();
    let to = result.bytes_mut();
    let from = update.bytes();
    let mut next = 0;
    rows(&window.dims, base, &strides, |at, count| {
        let (at, bytes) = (to_usize(at) * width, count * width);
        copy(&from[next..next + bytes], &mut to[at..at + bytes]);
        next += bytes;
    });
}
