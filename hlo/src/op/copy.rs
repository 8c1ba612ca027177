//! `copy`, `copy-start`, `copy-done`: copies.
use super::value::Ignored;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ElementType, Result, Shape};

attrs! {
    /// Copies the operand, possibly to another layout or memory space.
    ///
    /// # Shape
    ///
    /// The operand's, of any kind.
    pub struct Copy {}
}
attrs! {
    /// Starts a copy that [`CopyDone`] ends.
    ///
    /// # Shape
    ///
    /// `(destination, source, u32[])`, the first two of the operand's shape.
    pub struct CopyStart {
        /// Index of the cross-program prefetch.
        pub cross_program_prefetch_index: Option<i64> = "cross_program_prefetch_index" in cross_program_prefetch_index or None;
        /// From texts of 2020.
        pub is_cross_program_prefetch: Ignored = "is_cross_program_prefetch" or Ignored;
    }
}
attrs! {
    /// Ends a copy and returns the destination.
    ///
    /// # Shape
    ///
    /// The first element of the operand. Constraint `copy_done_operand`: the operand is a tuple of
    /// three.
    pub struct CopyDone {}
}

impl ShapeRule for Copy {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        Ok(cx.operands[0].clone())
    }
}
impl ShapeRule for CopyStart {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let operand = cx.operands[0].clone();
        let context = Shape::scalar(ElementType::U32);
        Ok(Shape::Tuple(vec![operand.clone(), operand, context]))
    }
}
impl ShapeRule for CopyDone {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let started = cx.operands[0].tuple().filter(|elements| elements.len() == 3);
        check(started.is_some(), "copy_done_operand", || {
            format!("the operand of `copy-done` is a `copy-start`, not {:#}", cx.operands[0])
        })
        .map_err(|e| e.on(Place::Operand(0)))?;
        Ok(started.expect("checked above")[0].clone())
    }
}
