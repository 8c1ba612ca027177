//! `select-and-scatter`: hands values back to where a window found its best.
use super::value::{Window};
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Finds one element in each window and adds the source there.
    pub struct SelectAndScatter {
        /// The window over the operand.
        pub window: Window = "window" or Window::default();
        /// Whether the first of two elements is kept.
        pub select: ComputationId = "select";
        /// Combines what is there with the source.
        pub scatter: ComputationId = "scatter";
    }
}

impl ShapeRule for SelectAndScatter {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
