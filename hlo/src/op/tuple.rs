//! `tuple` and `get-tuple-element`.
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{Result, Shape};

attrs! {
    /// Combines the operands to a tuple; without operands, to the empty tuple `()`.
    ///
    /// # Shape
    ///
    /// The tuple of the operands' shapes, which may be tuples themselves.
    pub struct Tuple {}
}
attrs! {
    /// Returns an element of a tuple.
    ///
    /// # Shape
    ///
    /// The element's.
    ///
    /// # Constraints
    ///
    /// - `get_tuple_element_c1`: the tuple has this element.
    /// - `get_tuple_element_operand`: the operand is a tuple.
    pub struct GetTupleElement {
        /// The index of the element.
        pub index: i64 = "index" in tuple_index;
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
            format!("the operand is {operand:#}, expected a tuple")
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
