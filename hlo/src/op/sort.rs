//! `sort`: sorts by a comparator.
use super::rules::{one_or_tuple, only, parameters, result, same_dims_as_first};
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::ir::ComputationId;
use crate::{ElementType, Result, Shape};

attrs! {
    /// Sorts the operands along a dimension, all in the same order.
    ///
    /// Each row along the dimension is sorted independently. The comparator takes the left and the
    /// right element of each operand in turn, and returns whether the left must come before the
    /// right. Elements of which neither must come before the other keep their order, with or
    /// without `is_stable`. For a comparator that is not an order, as `LT` with NaN, the result is
    /// that of a stable merge sort.
    ///
    /// # Shape
    ///
    /// The operand's; of several operands a tuple of their shapes.
    ///
    /// # Constraints
    ///
    /// - `E0202`: there is an operand. `E0107`: there is exactly one dimension.
    /// - `sort_c3`: all operands have the same dimensions.
    /// - `sort_c4`: the dimension is one of the operands'.
    /// - `sort_c5`: the comparator takes two scalars per operand and returns `pred[]`.
    pub struct Sort {
        /// The dimension; one entry. If absent, as in texts of 2018, the last one.
        pub dimensions: Option<Vec<i64>> = "dimensions" in dimensions or None;
        /// Whether equal elements must keep their order.
        pub is_stable: bool = "is_stable" in is_stable or false;
        /// The comparator. If absent, as in texts until 2019, ascending by the first operand.
        pub to_apply: Option<ComputationId> = "to_apply" in called_computation_ids or None;
    }
}

impl Sort {
    /// Returns the dimension to sort along.
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
