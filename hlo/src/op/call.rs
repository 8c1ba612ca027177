//! `call`: calls a computation.
use super::rules::parameters;
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Calls a computation with the operands and returns its result.
    ///
    /// # Shape
    ///
    /// The result of the computation. Constraint `call_parameters`: the operands are, in number and
    /// shapes, what the computation takes.
    pub struct Call {
        /// The computation.
        pub to_apply: ComputationId = "to_apply" in called_computation_ids;
        /// The computation is the decomposition of a composite op.
        pub is_composite: bool = "is_composite" in is_composite or false;
    }
}

impl ShapeRule for Call {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let callee = cx.callee(self.to_apply)?;
        parameters(&callee, cx.operands, "call_parameters", "to_apply")?;
        Ok(callee.result.clone())
    }
}
