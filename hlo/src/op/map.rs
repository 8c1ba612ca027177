//! `map`: a scalar computation, element by element.
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Applies a scalar computation element by element.
    pub struct Map {
        /// All dimensions of the operands, in order.
        pub dimensions: Option<Vec<i64>> = "dimensions" or None;
        /// The computation.
        pub to_apply: ComputationId = "to_apply";
    }
}

impl ShapeRule for Map {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
