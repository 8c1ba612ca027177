//! `after-all`, `add-dependency`, `opt-barrier`: order without data.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// A token that waits for others.
    pub struct AfterAll {
    }
}

impl ShapeRule for AfterAll {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// The first operand, after the token.
    pub struct AddDependency {
    }
}

impl ShapeRule for AddDependency {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// The operand; nothing is moved across.
    pub struct OptBarrier {
    }
}

impl ShapeRule for OptBarrier {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
