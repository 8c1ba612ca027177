//! `slice`: takes a strided box.
use super::value::{SliceRanges};
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Takes a strided box out of the operand.
    pub struct Slice {
        /// One range for each dimension.
        pub ranges: SliceRanges = "slice";
    }
}

impl ShapeRule for Slice {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
