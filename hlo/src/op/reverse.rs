//! `reverse`: turns dimensions around.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Turns some dimensions around.
    pub struct Reverse {
        /// Dimensions turned around.
        pub dimensions: Vec<i64> = "dimensions";
    }
}

impl ShapeRule for Reverse {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
