//! `tuple` and `get-tuple-element`.
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{Result, Shape};

attrs! {
    /// The operands as one value; none, for the empty tuple `()`.
    ///
    /// # Shape
    ///
    /// The tuple of the operands' shapes, which may be tuples themselves.
    pub struct Tuple {}
}
attrs! {
    /// One element of a tuple.
    ///
    /// # Shape
    ///
    /// The element's.
    ///
    /// # Refused
    ///
    /// - `get_tuple_element_c1`: the tuple has no such element.
    /// - `get_tuple_element_operand`: the operand is no tuple.
    pub struct GetTupleElement {
        /// Which.
        pub index: i64 = "index";
    }
}

impl ShapeRule for Tuple {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        Ok(Shape::Tuple(cx.operands.iter().map(|&shape| shape.clone()).collect()))
    }
}
impl ShapeRule for GetTupleElement {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let operand = cx.operands[0];
        let elements = operand.tuple();
        check(elements.is_some(), "get_tuple_element_operand", || {
            format!("the operand is {operand:#}, not a tuple")
        })
        .map_err(|e| e.on(Place::Operand(0)))?;
        let elements = elements.expect("checked above");
        let element = usize::try_from(self.index).ok().and_then(|i| elements.get(i));
        check(element.is_some(), "get_tuple_element_c1", || {
            let elements = elements.len();
            let s = if elements == 1 { "" } else { "s" };
            format!("a tuple of {elements} element{s} has no element {}", self.index)
        })
        .map_err(|e| e.on(Place::Attribute("index")))?;
        Ok(element.expect("checked above").clone())
    }
}
