//! `select-and-scatter`: scatters values to the elements selected in windows.
use super::rules::{initial_value, parameters, reducer, result};
use super::value::Window;
use super::{Infer, ShapeRule, check, windows};
use crate::diag::Place;
use crate::ir::ComputationId;
use crate::{ArrayShape, ElementType, Result, Shape};

attrs! {
    /// Selects one element in each window of the operand, and scatters an element of the source to
    /// its position.
    ///
    /// `select-and-scatter(operand, source, initial value)`; the gradient of max pooling. All
    /// elements of the result start with the initial value. At each window position, in row-major
    /// order, one element in the window is selected: `select` takes the one selected so far and the
    /// next, and returns whether the former is kept; padding is skipped. The source's element for
    /// that position is combined into the result at the selected element: `scatter` takes the
    /// current element and the source's element.
    ///
    /// # Shape
    ///
    /// The operand's.
    ///
    /// # Constraints
    ///
    /// - `select_and_scatter_c1`: source and operand have the same element type, ignoring
    ///   precision.
    /// - `select_and_scatter_c2`: the source has one element per window position.
    /// - `select_and_scatter_c3`: the initial value is a scalar of the operand's type, ignoring
    ///   precision.
    /// - `select_and_scatter_c4`: the window has the operand's rank.
    /// - `select_and_scatter_c5`, `_c7`: size and stride are positive.
    /// - `select_and_scatter_c9`: `select` takes two scalars and returns `pred[]`.
    /// - `select_and_scatter_c10`: `scatter` takes two scalars and returns one.
    /// - `select_and_scatter_window`: the window has no dilation and is not reversed.
    pub struct SelectAndScatter {
        /// The window over the operand.
        pub window: Window = "window" in window or Window::default();
        /// Returns whether the first of two elements is kept.
        pub select: ComputationId = "select" in called_computation_ids;
        /// Combines the current element with the source's element.
        pub scatter: ComputationId = "scatter" in called_computation_ids;
    }
}

const WINDOW: windows::WindowRules = windows::WindowRules {
    rank: "select_and_scatter_c4",
    size: "select_and_scatter_c5",
    stride: "select_and_scatter_c7",
    lhs_dilate: "select_and_scatter_window",
    rhs_dilate: "select_and_scatter_window",
};

impl ShapeRule for SelectAndScatter {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (operand, source) = (cx.array(0)?, cx.array(1)?);
        let dilated = self
            .window
            .dims
            .iter()
            .any(|d| d.lhs_dilation != 1 || d.rhs_dilation != 1 || d.reversal);
        check(!dilated, "select_and_scatter_window", || {
            "the window of a `select-and-scatter` must have no dilation and no reversal".to_owned()
        })
        .map_err(|e| e.on(Place::Attribute("window")))?;
        let dims = windows::positions(&self.window, &operand.dims, WINDOW)?;
        check(source.ty.same_ignoring_precision(operand.ty), "select_and_scatter_c1", || {
            format!("the source is {}, the operand is {}", source.ty, operand.ty)
        })
        .map_err(|e| e.on(Place::Operand(1)))?;
        check(source.dims == dims, "select_and_scatter_c2", || {
            let positions = ArrayShape::new(source.ty, dims);
            format!(
                "the window has {positions:#} positions over {operand:#}, the source is {source:#}"
            )
        })
        .map_err(|e| e.on(Place::Operand(1)))?;
        initial_value(cx, 2, operand.ty, "select_and_scatter_c3")?;
        let scalar = Shape::scalar(operand.ty);
        let select = cx.callee(self.select)?;
        parameters(&select, &[&scalar, &scalar], "select_and_scatter_c9", "select")?;
        result(&select, &Shape::scalar(ElementType::Pred), "select_and_scatter_c9", "select")?;
        reducer(cx, self.scatter, &[operand.ty], "select_and_scatter_c10", "scatter")?;
        Ok(operand.clone().into())
    }
}
