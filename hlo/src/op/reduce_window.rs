//! `reduce-window`: folds a moving window.
use super::value::{Window};
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Folds the elements under a moving window.
    pub struct ReduceWindow {
        /// The window over the operand.
        pub window: Window = "window" or Window::default();
        /// Combines two values.
        pub to_apply: ComputationId = "to_apply";
    }
}

impl ShapeRule for ReduceWindow {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
