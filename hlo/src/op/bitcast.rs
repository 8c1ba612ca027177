//! `bitcast` and `bitcast-convert`: the same bits under another shape or type.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// The operand's memory under another shape and layout.
    pub struct Bitcast {
    }
}

impl ShapeRule for Bitcast {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// The operand's bits as another element type.
    pub struct BitcastConvert {
    }
}

impl ShapeRule for BitcastConvert {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
