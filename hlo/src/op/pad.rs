//! `pad`: puts a value around and between elements.
use super::value::{PaddingConfig};
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Puts the padding value around and between the elements.
    pub struct Pad {
        /// How much, for each dimension.
        pub padding: PaddingConfig = "padding";
    }
}

impl ShapeRule for Pad {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
