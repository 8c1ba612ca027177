//! `reduce`: reduces dimensions.
use super::rules::{List, drop_dims, initial_value, one_or_tuple, reducer, same_dims_as_first};
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Reduces the elements along some dimensions to one.
    ///
    /// `reduce(operands..., initial values...)`: N arrays, and a scalar for each. For each element
    /// of the result, the accumulators start with the initial values; for each element along
    /// `dimensions`, in row-major order, the computation takes the N accumulators and the N
    /// elements, and returns the new accumulators. The initial value is used once, also if
    /// `dimensions` is empty or there are no elements.
    ///
    /// XLA:CPU may reduce in another order and use the initial value several times; the result is
    /// the same if the computation is associative and the initial value its identity, rounding
    /// aside.
    ///
    /// # Shape
    ///
    /// The operand's dimensions without those in `dimensions`, the element type of the
    /// computation's result; a tuple of N if the computation returns a tuple.
    ///
    /// # Constraints
    ///
    /// - `E0202`: there are as many initial values as operands, and at least one.
    /// - `reduce_c1`: all operands have the same dimensions.
    /// - `reduce_c2`: each initial value is a scalar of its operand's type, ignoring precision.
    /// - `reduce_c4`, `reduce_c5`: `dimensions` are dimensions of the operand, without duplicates.
    /// - `reduce_c6`: the computation takes two scalars and returns one scalar per operand.
    pub struct Reduce {
        /// The reduced dimensions.
        pub dimensions: Vec<i64> = "dimensions" in dimensions;
        /// Combines two values.
        pub to_apply: ComputationId = "to_apply" in called_computation_ids;
    }
}

impl ShapeRule for Reduce {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let count = cx.operands.len() / 2;
        let even = cx.operands.len().is_multiple_of(2) && count > 0;
        cx.arity(even, "operands, and as many initial values")?;
        let first = cx.array(0)?;
        let list = List { attribute: "dimensions", dims: &self.dimensions };
        list.within(first, "reduce_c4")?;
        list.unique("reduce_c5")?;
        let mut inputs = Vec::with_capacity(count);
        for i in 0..count {
            let operand = cx.array(i)?;
            same_dims_as_first(cx, i, "reduce_c1")?;
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
