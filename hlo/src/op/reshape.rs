//! `reshape`: the same elements in other dimensions.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// The elements in row-major order under other dimensions.
    pub struct Reshape {
        /// The dimension a dynamic size goes to; -1 if none.
        pub inferred_dimension: i64 = "inferred_dimension" or -1;
    }
}

impl ShapeRule for Reshape {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
