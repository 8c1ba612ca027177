//! `reduce`: folds dimensions away.
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Folds the elements along some dimensions.
    pub struct Reduce {
        /// Dimensions folded away.
        pub dimensions: Vec<i64> = "dimensions";
        /// Combines two values.
        pub to_apply: ComputationId = "to_apply";
    }
}

impl ShapeRule for Reduce {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
