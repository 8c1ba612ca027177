//! `after-all`, `add-dependency`, `opt-barrier`: ordering without data.
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{Result, Shape};

attrs! {
    /// Joins tokens: `token[]`, after all operands. In texts of 2019 the operands may be arrays.
    pub struct AfterAll {}
}
attrs! {
    /// Returns the first operand, after the second is computed.
    ///
    /// # Shape
    ///
    /// The first operand's. Constraint `add_dependency_token`: the second operand is a token.
    pub struct AddDependency {}
}
attrs! {
    /// Returns the operand, of any shape; a compiler moves no instruction across it.
    pub struct OptBarrier {}
}

impl ShapeRule for AfterAll {
    fn infer(&self, _: &Infer<'_>) -> Result<Shape> {
        // Operands need not be tokens: XLA accepts texts of 2019 with arrays.
        Ok(Shape::Token)
    }
}
impl ShapeRule for AddDependency {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        check(*cx.operands[1] == Shape::Token, "add_dependency_token", || {
            format!("expected a token as the second operand, found {:#}", cx.operands[1])
        })
        .map_err(|e| e.on(Place::Operand(1)))?;
        Ok(cx.operands[0].clone())
    }
}
impl ShapeRule for OptBarrier {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        Ok(cx.operands[0].clone())
    }
}
