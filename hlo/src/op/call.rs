//! `call`: runs a computation.
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Runs a computation on the operands.
    pub struct Call {
        /// The computation.
        pub to_apply: ComputationId = "to_apply";
        /// The computation spells out an op of a higher level.
        pub is_composite: bool = "is_composite" or false;
    }
}

impl ShapeRule for Call {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
