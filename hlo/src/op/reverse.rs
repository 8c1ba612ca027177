//! `reverse`: reverses dimensions.
use super::rules::List;
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Reverses some dimensions: index i of such a dimension becomes size - 1 - i.
    ///
    /// # Shape
    ///
    /// The operand's.
    ///
    /// # Constraints
    ///
    /// - `reverse_c2`, `reverse_c3`: `dimensions` are dimensions of the operand, without
    ///   duplicates.
    pub struct Reverse {
        /// The reversed dimensions.
        pub dimensions: Vec<i64> = "dimensions" in dimensions;
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
