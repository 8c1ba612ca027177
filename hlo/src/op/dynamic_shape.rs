//! `dynamic-reshape`, `get-dimension-size`, `set-dimension-size`: sizes known only at run time.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Reshapes to sizes given by operands.
    pub struct DynamicReshape {
    }
}

impl ShapeRule for DynamicReshape {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// The size of a dimension.
    pub struct GetDimensionSize {
        /// The dimension; one entry.
        pub dimensions: Vec<i64> = "dimensions";
    }
}

impl ShapeRule for GetDimensionSize {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Makes a dimension dynamic, with a size given by an operand.
    pub struct SetDimensionSize {
        /// The dimension; one entry.
        pub dimensions: Vec<i64> = "dimensions";
    }
}

impl ShapeRule for SetDimensionSize {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
