//! `clamp`: limits values to a range.
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{Result, Shape};

attrs! {
    /// Limits the middle operand to the range from the first to the last.
    ///
    /// `clamp(low, x, high)` is `minimum(maximum(x, low), high)`, elementwise: if the bounds cross,
    /// the result is the upper one, and NaN in any of the three results in NaN. Each bound is a
    /// scalar, which applies to all elements, or an array of the operand's dimensions.
    ///
    /// # Shape
    ///
    /// The middle operand's.
    ///
    /// # Constraints
    ///
    /// - `clamp_c1`, `clamp_c2`: the lower and the upper bound are scalars or have the operand's
    ///   dimensions.
    /// - `clamp_c3`: the bounds have the operand's element type.
    /// - `E0303`: the element type is not complex, since complex numbers are not ordered.
    pub struct Clamp {}
}

impl ShapeRule for Clamp {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.types(1, |ty| !ty.is_complex(), "pred, signed, unsigned, float")?;
        let operand = cx.array(1)?;
        for (i, rule) in [(0, "clamp_c1"), (2, "clamp_c2")] {
            let bound = cx.array(i)?;
            check(bound.rank() == 0 || bound.dims == operand.dims, rule, || {
                format!(
                    "the bound {bound:#} is neither a scalar nor has the dimensions of {operand:#}"
                )
            })
            .map_err(|e| e.on(Place::Operand(i)))?;
            check(bound.ty == operand.ty, "clamp_c3", || {
                format!("the bound is {}, the operand {}", bound.ty, operand.ty)
            })
            .map_err(|e| e.on(Place::Operand(i)))?;
        }
        Ok(operand.clone().into())
    }
}
