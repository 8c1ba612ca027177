//! `map`: applies a scalar computation elementwise.
use super::rules::{parameters, same_dims_as_first};
use super::{Infer, ShapeRule};
use crate::diag::{Code, Place};
use crate::ir::ComputationId;
use crate::{Error, Result, Shape};

attrs! {
    /// Applies a scalar computation elementwise.
    ///
    /// Element `i` of the result is the computation's result for the elements `i` of all operands.
    ///
    /// # Shape
    ///
    /// The operands' dimensions, the element type of the computation's result.
    ///
    /// # Constraints
    ///
    /// - `E0202`: there is an operand.
    /// - `map_c1`: all operands have the same dimensions.
    /// - `map_c4`: the computation takes a scalar of each operand's type, and returns a scalar.
    pub struct Map {
        /// All dimensions of the operands, in order, whatever the text lists.
        pub dimensions: Vec<i64> = "dimensions" in dimensions, always Vec::new();
        /// The computation.
        pub to_apply: ComputationId = "to_apply" in called_computation_ids;
    }
}

impl ShapeRule for Map {
    fn complete(&mut self, operands: &[&Shape], stated: Option<&Shape>) -> Result<()> {
        // XLA ignores the list and prints all dimensions.
        let array = operands.first().and_then(|o| o.array()).or(stated.and_then(Shape::array));
        self.dimensions = (0..).take(array.map_or(0, crate::ArrayShape::rank)).collect();
        Ok(())
    }
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(!cx.operands.is_empty(), "at least 1 operand")?;
        let first = cx.array(0)?;
        for i in 0..cx.operands.len() {
            same_dims_as_first(cx, i, "map_c1")?;
        }
        let callee = cx.callee(self.to_apply)?;
        let scalars: Vec<Shape> =
            cx.arrays()?.into_iter().map(|operand| Shape::scalar(operand.ty)).collect();
        parameters(&callee, &scalars.iter().collect::<Vec<_>>(), "map_c4", "to_apply")?;
        let result = callee.result.array().filter(|a| a.rank() == 0);
        let Some(result) = result else {
            let message = format!("the computation returns {:#}, expected a scalar", callee.result);
            let error = Error::from(Code::Callee { rule: "map_c4", message });
            return Err(error.on(Place::Attribute("to_apply")));
        };
        Ok(first.with_type(result.ty).into())
    }
}
