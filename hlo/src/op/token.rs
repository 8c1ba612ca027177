//! `after-all`, `add-dependency`, `opt-barrier`: order without data.
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{Result, Shape};

attrs! {
    /// A token that is there once all operands are: `token[]`. Texts of 2019 wait for arrays as well as tokens.
    pub struct AfterAll {}
}
attrs! {
    /// The first operand, once the second is there.
    ///
    /// # Shape
    ///
    /// The first operand's. Refused, as `add_dependency_token`: a second operand that is no token.
    pub struct AddDependency {}
}
attrs! {
    /// The operand, of any shape; a compiler moves nothing across.
    pub struct OptBarrier {}
}

impl ShapeRule for AfterAll {
    fn infer(&self, _: &Infer<'_>) -> Result<Shape> {
        // Texts of 2019 wait for arrays too: XLA still reads them, so operands are not checked to be tokens.
        Ok(Shape::Token)
    }
}
impl ShapeRule for AddDependency {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        check(*cx.operands[1] == Shape::Token, "add_dependency_token", || {
            format!("the second operand is a token, not {:#}", cx.operands[1])
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
