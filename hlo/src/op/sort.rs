//! `sort`: orders by a comparator.
use super::rules::{one_or_tuple, only, parameters, result, same_dims_as_first};
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::ir::ComputationId;
use crate::{ElementType, Result, Shape};

attrs! {
    /// Orders the operands along a dimension, all in the same way.
    ///
    /// Each row along the dimension is sorted by itself. The comparator is given the left and the right element of each
    /// operand in turn, and says whether the left must stand before the right. Elements of which neither must stand before
    /// the other keep their order, whether or not `is_stable` asks for it. A comparator that is no order, as `LT` is none
    /// where NaN occurs, gives what a stable merge sort makes of it.
    ///
    /// # Shape
    ///
    /// The operand's; of several operands a tuple of their shapes.
    ///
    /// # Refused
    ///
    /// - `E0202`: no operand at all. `E0107`: more than one dimension.
    /// - `sort_c3`: all operands have the same dimensions.
    /// - `sort_c4`: the dimension is one of the operands'.
    /// - `sort_c5`: the comparator does not take two scalars for each operand, or does not give `pred[]`.
    pub struct Sort {
        /// The dimension; one entry. Absent in texts of 2018: the last one.
        pub dimensions: Option<Vec<i64>> = "dimensions" or None;
        /// Equal elements keep their order.
        pub is_stable: bool = "is_stable" or false;
        /// The comparator; absent in texts until 2019: ascending by the first operand.
        pub to_apply: Option<ComputationId> = "to_apply" or None;
    }
}

impl Sort {
    /// The dimension to sort along.
    pub fn dimension(&self, rank: usize) -> usize {
        let given = self.dimensions.as_ref().and_then(|dims| dims.first());
        given.and_then(|&d| usize::try_from(d).ok()).unwrap_or(rank.saturating_sub(1))
    }
}

impl ShapeRule for Sort {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(!cx.operands.is_empty(), "at least 1 operand")?;
        let first = cx.array(0)?;
        if let Some(dims) = &self.dimensions {
            let dim = only(dims, "dimensions")?;
            check(first.dim(dim).is_some(), "sort_c4", || {
                format!("dimension {dim} does not exist in {first:#}")
            })
            .map_err(|e| e.on(Place::Attribute("dimensions")))?;
        }
        let mut scalars = Vec::new();
        for (i, operand) in cx.arrays()?.into_iter().enumerate() {
            same_dims_as_first(cx, i, "sort_c3")?;
            scalars.extend([Shape::scalar(operand.ty), Shape::scalar(operand.ty)]);
        }
        if let Some(to_apply) = self.to_apply {
            let callee = cx.callee(to_apply)?;
            parameters(&callee, &scalars.iter().collect::<Vec<_>>(), "sort_c5", "to_apply")?;
            result(&callee, &Shape::scalar(ElementType::Pred), "sort_c5", "to_apply")?;
        }
        Ok(one_or_tuple(cx.operands.iter().map(|&shape| shape.clone()).collect()))
    }
}
