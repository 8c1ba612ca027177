//! `copy`, `copy-start`, `copy-done`: the same value elsewhere.
use super::value::{Ignored};
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// The same value, perhaps in another layout.
    pub struct Copy {
    }
}

impl ShapeRule for Copy {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Starts a [`Copy`].
    pub struct CopyStart {
        /// Number of the prefetch across programs.
        pub cross_program_prefetch_index: Option<i64> = "cross_program_prefetch_index" or None;
        /// Of texts of 2020.
        pub is_cross_program_prefetch: Ignored = "is_cross_program_prefetch" or Ignored;
    }
}

impl ShapeRule for CopyStart {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Ends a [`Copy`].
    pub struct CopyDone {
    }
}

impl ShapeRule for CopyDone {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
