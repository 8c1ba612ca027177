//! The kernel that moves elements of an operand.
use crate::strided::Walk;
use crate::{Fusion, Kernel};
use hlo::{Array, ArrayShape};
use num::index::strides;

/// The kernel that moves elements by a walk.
pub(super) struct Move {
    walk: Walk,
    width: usize,
    /// Whether the result has the elements of the operand, in their order.
    is_bitcast: bool,
}

impl Move {
    /// Returns the movement of the elements of an array into another one by a walk over the first.
    pub(super) fn new(walk: Walk, from: &ArrayShape, to: &ArrayShape) -> Self {
        let is_bitcast = walk.keeps_order() && from.element_count() == to.element_count();
        Self { walk, width: to.ty.storage_bytes(), is_bitcast }
    }
    /// Returns the movement of all elements in their order.
    pub(super) fn bitcast(from: &ArrayShape, to: &ArrayShape) -> Box<dyn Kernel> {
        Box::new(Self::new(Walk::merged(&to.dims, 0, &strides(&to.dims)), from, to))
    }
}

impl Kernel for Move {
    fn fold(&self, inputs: &[Option<&Array>], output: &mut Array) -> bool {
        let Some(from) = inputs[0].map(Array::bytes) else { return false };
        self.walk.write(from, self.width, output.bytes_mut());
        true
    }
    fn moves(&self) -> bool {
        true
    }
    fn is_bitcast(&self) -> bool {
        self.is_bitcast
    }
    fn fusion(&self) -> Fusion {
        Fusion::Walk(self.walk.clone())
    }
}
