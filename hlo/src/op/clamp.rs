//! `clamp`: limits values to a range.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// The middle operand, limited from below by the first and from above by the last.
    pub struct Clamp {
    }
}

impl ShapeRule for Clamp {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
