//! `topk`: the largest or smallest elements.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// The k largest or smallest along the last dimension, with their places.
    pub struct TopK {
        /// How many.
        pub k: i64 = "k";
        /// The largest, not the smallest.
        pub largest: bool = "largest", always true;
        /// Equal elements in order of their places; that is so in any case.
        pub is_stable: bool = "is_stable" or true;
    }
}

impl ShapeRule for TopK {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
