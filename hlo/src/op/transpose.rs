//! `transpose`: permutes dimensions.
use super::rules::List;
use super::{Infer, ShapeRule};
use crate::layout::Layout;
use crate::{ArrayShape, Dims, Result, Shape};

attrs! {
    /// Permutes the dimensions: dimension i of the result is dimension `dimensions[i]` of the
    /// operand.
    ///
    /// # Shape
    ///
    /// The operand's sizes in the new order. If omitted, the shape has the layout in which no
    /// element moves.
    ///
    /// Constraint `transpose_c2`: `dimensions` is a permutation of the operand's dimensions.
    pub struct Transpose {
        /// For each result dimension, the operand dimension it is.
        pub dimensions: Vec<i64> = "dimensions" in dimensions;
    }
}

impl ShapeRule for Transpose {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let operand = cx.array(0)?;
        let list = List { attribute: "dimensions", dims: &self.dimensions };
        let each = || format!("one per dimension of {operand:#}");
        list.counts(operand.rank(), "transpose_c2", each)?;
        list.within(operand, "transpose_c2")?;
        list.unique("transpose_c2")?;
        let from: Vec<usize> =
            self.dimensions.iter().map(|&d| usize::try_from(d).expect("checked above")).collect();
        let dims: Dims = from.iter().map(|&d| operand.dims[d]).collect();
        let dynamic =
            operand.dynamic.as_ref().map(|flags| from.iter().map(|&d| flags[d]).collect());
        // No element moves: each layout entry is mapped to the new index of its dimension.
        let place = |d: &i64| {
            let found = self.dimensions.iter().position(|p| p == d).unwrap_or(0);
            i64::try_from(found).expect("a rank is small")
        };
        let minor_to_major = operand.layout.minor_to_major.iter().map(place).collect();
        let layout = Layout { minor_to_major, tail: operand.layout.tail.clone() };
        Ok(ArrayShape { ty: operand.ty, dims, dynamic, layout }.into())
    }
}
