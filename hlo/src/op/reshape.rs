//! `reshape`: the same elements with other dimensions.
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{Result, Shape};

attrs! {
    /// Reshapes the elements, in row-major order, to other dimensions.
    ///
    /// # Shape
    ///
    /// The stated one.
    ///
    /// # Constraints
    ///
    /// - `reshape_c1`: the result has the operand's element type.
    /// - `reshape_c2`: both have the same number of elements.
    pub struct Reshape {
        /// The result dimension that a dynamic size is assigned to; -1 if none.
        pub inferred_dimension: i64 = "inferred_dimension" in dimensions or -1;
    }
}

impl ShapeRule for Reshape {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (operand, result) = (cx.array(0)?, cx.stated_array()?);
        check(operand.ty == result.ty, "reshape_c1", || {
            format!("a reshape of {} cannot return {}", operand.ty, result.ty)
        })
        .map_err(|e| e.on(Place::Shape))?;
        let (from, to) = (operand.element_count(), result.element_count());
        check(from.is_some() && from == to, "reshape_c2", || {
            let number = |n: Option<usize>| n.map_or_else(|| "?".to_owned(), |n| n.to_string());
            format!("{operand:#} has {} elements, {result:#} has {}", number(from), number(to))
        })
        .map_err(|e| e.on(Place::Shape))?;
        Ok(result.clone().into())
    }
}
