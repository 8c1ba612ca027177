//! `compare`: the truth of a relation, element by element.
use super::value::{ComparisonType, Direction};
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Compares element by element.
    pub struct Compare {
        /// The relation.
        pub direction: Direction = "direction";
        /// How values are ordered; `None` for the default of the element type.
        pub ty: Option<ComparisonType> = "type" or None;
    }
}

impl ShapeRule for Compare {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
