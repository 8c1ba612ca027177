//! `select`: elementwise choice between two values.
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ElementType, Result, Shape};

attrs! {
    /// Returns the second operand where the first is true, else the third.
    ///
    /// A scalar `pred` selects a whole operand; texts until 2022 select whole tuples in this way.
    ///
    /// # Shape
    ///
    /// The second operand's.
    ///
    /// # Constraints
    ///
    /// - `select_c1`: the first operand is a scalar or has the dimensions of the others.
    /// - `select_c2`: the second and the third have the same shape.
    /// - `E0303`: the first is `pred`.
    pub struct Select {}
}

impl ShapeRule for Select {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.types(0, |ty| ty == ElementType::Pred, "pred")?;
        let pred = cx.array(0)?;
        let (on_true, on_false) = (cx.operands[1], cx.operands[2]);
        check(on_true.compatible(on_false), "select_c2", || {
            format!("the values to select from are {on_true:#} and {on_false:#}")
        })
        .map_err(|e| e.on(Place::Operand(2)))?;
        let fits = pred.rank() == 0 || on_true.array().is_some_and(|a| a.dims == pred.dims);
        check(fits, "select_c1", || {
            format!("{pred:#} is neither a scalar nor has the dimensions of {on_true:#}")
        })
        .map_err(|e| e.on(Place::Operand(0)))?;
        Ok(on_true.clone())
    }
}
