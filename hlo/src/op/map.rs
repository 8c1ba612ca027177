//! `map`: a scalar computation, element by element.
use super::rules::parameters;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Applies a scalar computation element by element.
    pub struct Map {
        /// All dimensions of the operands, in order.
        pub dimensions: Vec<i64> = "dimensions", always Vec::new();
        /// The computation.
        pub to_apply: ComputationId = "to_apply";
    }
}

impl ShapeRule for Map {
    fn complete(&mut self, operands: &[&Shape], stated: Option<&Shape>) -> Result<()> {
        // XLA reads the list and prints all dimensions whatever it held.
        let array = operands.first().and_then(|o| o.array()).or(stated.and_then(Shape::array));
        self.dimensions = (0..).take(array.map_or(0, crate::ArrayShape::rank)).collect();
        Ok(())
    }
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(!cx.operands.is_empty(), "at least 1 operand")?;
        let first = cx.array(0)?;
        for (i, operand) in cx.arrays()?.into_iter().enumerate() {
            super::rule::same_dims(cx, first, operand, i)?;
        }
        let callee = cx.callee(self.to_apply)?;
        let scalars: Vec<Shape> =
            cx.arrays()?.into_iter().map(|operand| Shape::scalar(operand.ty)).collect();
        parameters(&callee, &scalars.iter().collect::<Vec<_>>(), "map_c4", "to_apply")?;
        let result = callee.result.array().filter(|a| a.rank() == 0);
        check(result.is_some(), "map_c4", || {
            format!("the computation gives {}, no scalar", callee.result)
        })
        .map_err(|e| e.on(Place::Attribute("to_apply")))?;
        Ok(first.with_type(result.expect("checked above").ty).into())
    }
}
