//! `select-and-scatter`: hands values back to where a window found its best.
use super::rules::{initial_value, parameters, reducer, result};
use super::value::Window;
use super::{Infer, ShapeRule, check, windows};
use crate::diag::Place;
use crate::ir::ComputationId;
use crate::{ArrayShape, ElementType, Result, Shape};

attrs! {
    /// Finds one element in each window of the operand, and hands a value of the source back to it.
    ///
    /// `select-and-scatter(operand, source, initial value)`; the gradient of a max pool. All elements of the result start
    /// as the initial value. At each place of the window, in row-major order, one element under it is chosen: `select` is
    /// given the one chosen so far and the next, and says whether the former is kept; padding is skipped. The source's
    /// element of that place is combined into the result where the chosen one stands: `scatter` is given what is there and
    /// the source's element.
    ///
    /// # Shape
    ///
    /// The operand's.
    ///
    /// # Refused
    ///
    /// - `select_and_scatter_c1`: source and operand have the same element type, precision aside.
    /// - `select_and_scatter_c2`: the source has one element for each place of the window.
    /// - `select_and_scatter_c3`: the initial value is a scalar of the operand's type, precision aside.
    /// - `select_and_scatter_c4`: the window has not the operand's rank.
    /// - `select_and_scatter_c5`, `_c7`: size and stride are positive.
    /// - `select_and_scatter_c9`: `select` does not take two scalars and give `pred[]`.
    /// - `select_and_scatter_c10`: `scatter` does not take two scalars and give one.
    /// - `select_and_scatter_window`: the window has holes or is reversed.
    pub struct SelectAndScatter {
        /// The window over the operand.
        pub window: Window = "window" or Window::default();
        /// Whether the first of two elements is kept.
        pub select: ComputationId = "select";
        /// Combines what is there with the source.
        pub scatter: ComputationId = "scatter";
    }
}

const WINDOW: windows::Rules = windows::Rules {
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
            "the window of a select-and-scatter has no dilation and no reversal".to_owned()
        })
        .map_err(|e| e.on(Place::Attribute("window")))?;
        let dims = windows::places(&self.window, &operand.dims, WINDOW)?;
        check(source.ty.same_ignoring_precision(operand.ty), "select_and_scatter_c1", || {
            format!("the source is {}, the operand {}", source.ty, operand.ty)
        })
        .map_err(|e| e.on(Place::Operand(1)))?;
        check(source.dims == dims, "select_and_scatter_c2", || {
            let places = ArrayShape::new(source.ty, dims);
            format!(
                "the window has the places of {places:#} over {operand:#}, the source is {source:#}"
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
