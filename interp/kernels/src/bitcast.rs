//! `bitcast` where the layouts only order dimensions: elements move from the place that the
//! operand's layout gives them to the index at which the result's layout has that place. Any other
//! is left to the reference function.
use super::move_kernel::Move;
use super::strided::{Walk, move_elements};
use crate::Kernel;
use crate::function::writes_with;
use crate::op::{ArrayOp, Cost, Site, needs_whole_operands};
use hlo::op::Bitcast;
use hlo::{ArrayShape, Dims, ElementType};
use num::array::only_orders;
use num::index::saturating_count;
use num::index::{strides, to_usize};
use num::scalar_program::ScalarPrograms;

/// The kernel of a `bitcast` between arrays in these layouts.
impl ArrayOp for Bitcast {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self {} = self;
        kernel(site.operands[0], site.result())
    }
    fn cost(&self, site: &Site<'_>) -> Cost {
        let bytes = |shape: &ArrayShape| shape.byte_count().unwrap_or(usize::MAX);
        let offsets = saturating_count(&site.result().dims).saturating_mul(size_of::<i64>());
        let memory = bytes(site.operands[0]).saturating_mul(2).saturating_add(offsets);
        Cost { steps: 0, scratch: memory }
    }
    needs_whole_operands!();
}

fn kernel(from: &ArrayShape, to: &ArrayShape) -> Option<Box<dyn Kernel>> {
    if !moves_elements(from, to) {
        return None;
    }
    let width = to.ty.storage_bytes();
    let (dims, strides) = (to.dims.clone(), physical_strides(to));
    if from.layout.is_descending() {
        return Some(Box::new(Move::new(Walk::merged(&dims, 0, &strides), from, to)));
    }
    let (memory_sizes, memory_strides) = memory_order(from);
    let scratch = to.byte_count().unwrap_or(usize::MAX);
    Some(writes_with(scratch, move |_, inputs, outputs| {
        let out = outputs[0].bytes_mut();
        let mut memory = vec![0; out.len()];
        move_elements(inputs[0].bytes(), &mut memory, width, &memory_sizes, 0, &memory_strides);
        move_elements(&memory, out, width, &dims, 0, &strides);
        Ok(())
    }))
}

/// Returns whether the elements of both arrays are the same, in the order in which they lie in
/// memory.
fn moves_elements(from: &ArrayShape, to: &ArrayShape) -> bool {
    // Narrow elements and booleans are stored wider than they count, so their bytes are not their
    // memory.
    let (old, new) = (from.ty, to.ty);
    let keeps_bytes =
        old == new || (old.bits() >= 8 && old.bits() == new.bits() && new != ElementType::Pred);
    let count = from.element_count();
    keeps_bytes
        && count.is_some()
        && count == to.element_count()
        && [from, to].into_iter().all(only_orders)
}

/// Returns the strides of an array as it lies in memory: of its layout, not of its dimensions'
/// order.
fn physical_strides(shape: &ArrayShape) -> Dims {
    let mut strides = Dims::from_elem(1, shape.rank());
    let mut stride = 1i64;
    for &d in &shape.layout.minor_to_major {
        strides[to_usize(d)] = stride;
        stride = stride.saturating_mul(shape.dims[to_usize(d)].max(1));
    }
    strides
}

/// Sizes and strides of a walk over the elements in the order in which they lie in memory.
fn memory_order(shape: &ArrayShape) -> (Dims, Dims) {
    let logical = strides(&shape.dims);
    let major_to_minor = || shape.layout.minor_to_major.iter().rev().map(|&d| to_usize(d));
    let sizes = major_to_minor().map(|d| shape.dims[d]).collect();
    (sizes, major_to_minor().map(|d| logical[d]).collect())
}
