//! `reverse`: turns dimensions around.
use super::rules::dims_of;
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Turns some dimensions around: index i of such a dimension becomes size - 1 - i.
    pub struct Reverse {
        /// Dimensions turned around.
        pub dimensions: Vec<i64> = "dimensions";
    }
}

impl ShapeRule for Reverse {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let operand = cx.array(0)?;
        dims_of(&self.dimensions, operand, "reverse_c2", "dimensions")?;
        Ok(operand.clone().into())
    }
}
