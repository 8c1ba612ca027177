//! `transpose`: the dimensions in another order.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// The dimensions in another order.
    pub struct Transpose {
        /// For each result dimension, the operand dimension it is.
        pub dimensions: Vec<i64> = "dimensions";
    }
}

impl ShapeRule for Transpose {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
