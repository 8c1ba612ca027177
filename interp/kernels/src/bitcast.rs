//! `bitcast` where the layouts only order dimensions: elements move from the place that the operand's layout gives them to
//! the index at which the result's layout has that place. Any other is left to the page in `spec`.
use super::strided::{Move, Walk, move_elements};
use super::writes_with;
use crate::Kernel;
use hlo::{ArrayShape, Dims, ElementType};
use num::array::only_orders;
use num::index::{strides, to_usize};

/// The kernel of a `bitcast` between arrays in these layouts.
pub(super) fn kernel(from: &ArrayShape, to: &ArrayShape) -> Option<Box<dyn Kernel>> {
    if !moves_elements(from, to) {
        return None;
    }
    let width = to.ty.storage_bytes();
    let (dims, strides) = (to.dims.clone(), physical_strides(to));
    if from.layout.is_descending() {
        return Some(Box::new(Move::new(Walk::merged(&dims, 0, &strides), to.ty)));
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

/// Whether a `bitcast` leaves all elements at their indices in row-major order.
pub fn relabels(from: &ArrayShape, to: &ArrayShape) -> bool {
    moves_elements(from, to) && from.layout.is_descending() && to.layout.is_descending()
}

/// Whether the elements of both arrays are the same, in the order in which they lie in memory.
fn moves_elements(from: &ArrayShape, to: &ArrayShape) -> bool {
    // Narrow elements and booleans are stored wider than they count, so their bytes are not their memory.
    let (old, new) = (from.ty, to.ty);
    let keeps_bytes =
        old == new || (old.bits() >= 8 && old.bits() == new.bits() && new != ElementType::Pred);
    let count = from.element_count();
    keeps_bytes
        && count.is_some()
        && count == to.element_count()
        && [from, to].into_iter().all(only_orders)
}

/// The strides of an array as it lies in memory: of its layout, not of its dimensions' order.
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
