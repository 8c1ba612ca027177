//! `reduce-window`: folds a moving window.
use super::rule::same_dims;
use super::rules::{initial_value, one_or_tuple, reducer};
use super::value::Window;
use super::{Infer, ShapeRule, check, windows};
use crate::diag::Place;
use crate::ir::ComputationId;
use crate::{ArrayShape, Result, Shape};

attrs! {
    /// Folds the elements under a moving window, in row-major order, starting from the initial value.
    ///
    /// Padding and holes are skipped; the initial value enters once.
    pub struct ReduceWindow {
        /// The window over the operand.
        pub window: Window = "window" or Window::default();
        /// Combines two values.
        pub to_apply: ComputationId = "to_apply";
    }
}

impl ShapeRule for ReduceWindow {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let count = cx.operands.len() / 2;
        let even = cx.operands.len().is_multiple_of(2) && count > 0;
        cx.arity(even, "operands and as many initial values")?;
        let first = cx.array(0)?;
        let reversed = self.window.dims.iter().any(|d| d.reversal);
        check(!reversed, "reduce_window_reversal", || {
            "the window of a reduce-window is not reversed".to_owned()
        })
        .map_err(|e| e.on(Place::Attribute("window")))?;
        let dims = windows::places(&self.window, &first.dims, "reduce_window_c4")?;
        let mut inputs = Vec::with_capacity(count);
        for i in 0..count {
            let operand = cx.array(i)?;
            same_dims(cx, first, operand, i)?;
            initial_value(cx, count + i, operand.ty, "reduce_window_c3")?;
            inputs.push(operand.ty);
        }
        let types = reducer(cx, self.to_apply, &inputs, "reduce_window_c13", "to_apply")?;
        let shapes = types.into_iter().map(|ty| ArrayShape::new(ty, dims.clone()).into()).collect();
        let is_tuple = cx.callee(self.to_apply)?.result.tuple().is_some();
        Ok(if is_tuple { Shape::Tuple(shapes) } else { one_or_tuple(shapes) })
    }
}
