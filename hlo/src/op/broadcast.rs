//! `broadcast`: repeats an array along new dimensions.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Repeats the operand along the dimensions not listed.
    pub struct Broadcast {
        /// For each operand dimension, the result dimension it becomes.
        pub dimensions: Vec<i64> = "dimensions", always Vec::new();
    }
}

impl ShapeRule for Broadcast {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
