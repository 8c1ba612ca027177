//! `sort`: orders by a comparator.
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Orders the operands along a dimension.
    pub struct Sort {
        /// The dimension; one entry.
        pub dimensions: Option<Vec<i64>> = "dimensions" or None;
        /// Equal elements keep their order.
        pub is_stable: bool = "is_stable" or false;
        /// Whether the left stands before the right; absent in texts of 2018.
        pub to_apply: Option<ComputationId> = "to_apply" or None;
    }
}

impl ShapeRule for Sort {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
