//! `reverse`: turns dimensions around.
use super::rules::List;
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Turns some dimensions around: index i of such a dimension becomes size - 1 - i.
    ///
    /// # Shape
    ///
    /// The operand's.
    ///
    /// # Refused
    ///
    /// - `reverse_c2`, `reverse_c3`: `dimensions` are dimensions of the operand, none twice.
    pub struct Reverse {
        /// Dimensions turned around.
        pub dimensions: Vec<i64> = "dimensions";
    }
}

impl ShapeRule for Reverse {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let operand = cx.array(0)?;
        let list = List { attribute: "dimensions", dims: &self.dimensions };
        list.within(operand, "reverse_c3")?;
        list.unique("reverse_c2")?;
        Ok(operand.clone().into())
    }
}
