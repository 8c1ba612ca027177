//! `iota`: counts along a dimension.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Counts from 0 along a dimension.
    pub struct Iota {
        /// The dimension.
        pub iota_dimension: Option<i64> = "iota_dimension" or None;
    }
}

impl ShapeRule for Iota {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
