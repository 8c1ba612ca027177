//! `select-and-scatter`: hands values back to where a window found its best.
use super::rules::{initial_value, parameters, reducer, result};
use super::value::Window;
use super::{Infer, ShapeRule, check, windows};
use crate::diag::Place;
use crate::ir::ComputationId;
use crate::{ElementType, Result, Shape};

attrs! {
    /// Finds one element in each window of the operand and combines the source's element there.
    pub struct SelectAndScatter {
        /// The window over the operand.
        pub window: Window = "window" or Window::default();
        /// Whether the first of two elements is kept.
        pub select: ComputationId = "select";
        /// Combines what is there with the source.
        pub scatter: ComputationId = "scatter";
    }
}

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
        let dims = windows::places(&self.window, &operand.dims, "select_and_scatter_c4")?;
        check(
            source.dims == dims && source.ty.same_ignoring_precision(operand.ty),
            "select_and_scatter_c2",
            || format!("the window has {dims:?} places over the operand, the source is {source}"),
        )
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
