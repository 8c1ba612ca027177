//! `dynamic-slice` and `dynamic-update-slice`: a box at a place known only at run time.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Takes a box whose place is given by operands.
    pub struct DynamicSlice {
        /// The box.
        pub dynamic_slice_sizes: Vec<i64> = "dynamic_slice_sizes";
    }
}

impl ShapeRule for DynamicSlice {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Overwrites a box whose place is given by operands.
    pub struct DynamicUpdateSlice {
    }
}

impl ShapeRule for DynamicUpdateSlice {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
