//! `tuple` and `get-tuple-element`.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// The operands as one value.
    pub struct Tuple {
    }
}

impl ShapeRule for Tuple {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// One element of a tuple.
    pub struct GetTupleElement {
        /// Which.
        pub index: i64 = "index";
    }
}

impl ShapeRule for GetTupleElement {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
