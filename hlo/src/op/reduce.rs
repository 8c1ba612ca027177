//! `reduce`: folds dimensions away.
use super::rule::same_dims;
use super::rules::{dims_of, drop_dims, initial_value, one_or_tuple, reducer};
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Folds the elements along some dimensions, in row-major order, starting from the initial value.
    ///
    /// Operands come first, then an initial value for each. The computation takes the accumulators first.
    pub struct Reduce {
        /// Dimensions folded away.
        pub dimensions: Vec<i64> = "dimensions";
        /// Combines two values.
        pub to_apply: ComputationId = "to_apply";
    }
}

impl ShapeRule for Reduce {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let count = cx.operands.len() / 2;
        let even = cx.operands.len().is_multiple_of(2) && count > 0;
        cx.arity(even, "operands and as many initial values")?;
        let first = cx.array(0)?;
        dims_of(&self.dimensions, first, "reduce_c5", "dimensions")?;
        let mut inputs = Vec::with_capacity(count);
        for i in 0..count {
            let operand = cx.array(i)?;
            same_dims(cx, first, operand, i)?;
            initial_value(cx, count + i, operand.ty, "reduce_c2")?;
            inputs.push(operand.ty);
        }
        let types = reducer(cx, self.to_apply, &inputs, "reduce_c6", "to_apply")?;
        let shapes = types.into_iter().map(|ty| drop_dims(first, ty, &self.dimensions).into());
        let is_tuple = cx.callee(self.to_apply)?.result.tuple().is_some();
        let shapes: Vec<Shape> = shapes.collect();
        Ok(if is_tuple { Shape::Tuple(shapes) } else { one_or_tuple(shapes) })
    }
}
