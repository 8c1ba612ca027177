//! `reduce-window`: reduces a sliding window.
use super::rule::with_dims;
use super::rules::{initial_value, one_or_tuple, reducer, same_dims_as_first};
use super::value::Window;
use super::{Infer, ShapeRule, windows};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Reduces the elements in a sliding window.
    ///
    /// `reduce-window(operands..., initial values...)`. The window is applied at every position
    /// where it fits in the operand with its padding, `stride` apart; each position produces one
    /// element. There the accumulators start with the initial values, and the elements in the
    /// window are reduced in row-major order, as [`Reduce`](super::Reduce) does.
    ///
    /// `lhs_dilate` adds holes between the operand's elements, `rhs_dilate` between the window's.
    /// Padding and holes are skipped, which matters only if the initial value is not the
    /// computation's identity. `rhs_reversal` changes nothing: it reverses the elements of the
    /// window, and all of them are reduced, in the order of the operand.
    ///
    /// # Shape
    ///
    /// The number of window positions in each dimension, the element type of the initial value or,
    /// if it is stated, of the computation's result; a tuple if it returns one. A window larger
    /// than the padded operand has no position.
    ///
    /// # Constraints
    ///
    /// - `E0202`: there are as many initial values as operands, and at least one.
    /// - `reduce_window_c2`: all operands have the same dimensions.
    /// - `reduce_window_c3`: each initial value is a scalar of its operand's type, ignoring
    ///   precision.
    /// - `reduce_window_c4`: the window has the operand's rank.
    /// - `reduce_window_c5`, `_c7`, `_c9`, `_c11`: size, stride, `lhs_dilate`, `rhs_dilate` are
    ///   positive.
    /// - `reduce_window_c13`: the computation takes two scalars and returns one scalar per operand.
    pub struct ReduceWindow {
        /// The window over the operand.
        pub window: Window = "window" in window or Window::default();
        /// Combines two values.
        pub to_apply: ComputationId = "to_apply" in called_computation_ids;
    }
}

const WINDOW: windows::WindowRules = windows::WindowRules {
    rank: "reduce_window_c4",
    size: "reduce_window_c5",
    stride: "reduce_window_c7",
    lhs_dilate: "reduce_window_c9",
    rhs_dilate: "reduce_window_c11",
};

impl ShapeRule for ReduceWindow {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let count = cx.operands.len() / 2;
        let even = cx.operands.len().is_multiple_of(2) && count > 0;
        cx.arity(even, "operands, and as many initial values")?;
        let first = cx.array(0)?;
        let dims = windows::positions(&self.window, &first.dims, WINDOW)?;
        let mut inputs = Vec::with_capacity(count);
        for i in 0..count {
            let operand = cx.array(i)?;
            same_dims_as_first(cx, i, "reduce_window_c2")?;
            initial_value(cx, count + i, operand.ty, "reduce_window_c3")?;
            inputs.push(operand.ty);
        }
        let mut types = reducer(cx, self.to_apply, &inputs, "reduce_window_c13", "to_apply")?;
        let stated: Vec<_> = cx.stated.into_iter().flat_map(Shape::leaves).collect();
        for (i, ty) in types.iter_mut().enumerate() {
            let is_stated = stated.get(i).and_then(|s| s.element_type()) == Some(*ty);
            if !is_stated {
                *ty = cx.array(count + i)?.ty;
            }
        }
        let dims = dims.iter().enumerate().map(|(d, &size)| (size, first.is_dynamic(d)));
        let shapes = types.into_iter().map(|ty| with_dims(ty, dims.clone()).into()).collect();
        let is_tuple = cx.callee(self.to_apply)?.result.tuple().is_some();
        Ok(if is_tuple { Shape::Tuple(shapes) } else { one_or_tuple(shapes) })
    }
}
