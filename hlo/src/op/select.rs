//! `select`: one of two values.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// The second operand where the first is true, else the third.
    pub struct Select {
    }
}

impl ShapeRule for Select {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
