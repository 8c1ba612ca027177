//! `compare`: elementwise comparison.
use super::rule::merge_dynamic;
use super::rules::same_dims_as_first;
use super::value::{ComparisonType, Direction};
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::elem::Class;
use crate::{ElementType, Result, Shape};

attrs! {
    /// Compares elementwise.
    ///
    /// With `type=FLOAT`, NaN is unordered: every comparison with it is false but `NE`, which is
    /// true; `-0` equals `0`. With `type=TOTALORDER` floats are ordered by sign and magnitude:
    /// `-NaN < -inf < ... < -0 < 0 < ... < inf < NaN`. Complex values are compared by their real
    /// parts, and by their imaginary parts where those are equal. Newer texts have `order=TOTAL`
    /// for `type=TOTALORDER`, and `order=PARTIAL` for `type=FLOAT`.
    ///
    /// # Shape
    ///
    /// `pred`, of the operands' dimensions.
    ///
    /// # Constraints
    ///
    /// - `compare_c1`: the operands have the same element type.
    /// - `compare_c2`: the operands have the same dimensions.
    /// - `compare_c3`: `type` is that of the element type: `SIGNED`, `UNSIGNED` (also for `pred`),
    ///   `FLOAT`; for floats also `TOTALORDER`.
    pub struct Compare {
        /// The comparison direction.
        pub direction: Direction = "direction" in comparison_direction;
        /// The comparison type; `None` for the default of the element type.
        pub ty: Option<ComparisonType> = "type" in comparison_type also "order" or None;
    }
}

impl Compare {
    /// Returns the default comparison type of an element type.
    pub fn default_type(ty: ElementType) -> ComparisonType {
        match ty.class() {
            Class::Float | Class::Complex => ComparisonType::Float,
            Class::Signed => ComparisonType::Signed,
            Class::Unsigned | Class::Pred => ComparisonType::Unsigned,
        }
    }
    /// Returns the comparison type for an element type.
    pub fn order(&self, ty: ElementType) -> ComparisonType {
        self.ty.unwrap_or_else(|| Self::default_type(ty))
    }
}

impl ShapeRule for Compare {
    fn complete(&mut self, operands: &[&Shape], _: Option<&Shape>) -> Result<()> {
        // XLA prints the type only if it is not the default.
        let default = operands[0].element_type().map(Self::default_type);
        self.ty = self.ty.filter(|&ty| Some(ty) != default);
        Ok(())
    }
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
        check(lhs.ty == rhs.ty, "compare_c1", || format!("operands are {} and {}", lhs.ty, rhs.ty))
            .map_err(|e| e.on(Place::Operand(1)))?;
        same_dims_as_first(cx, 1, "compare_c2")
            .map_err(|e| e.with_help("add a `broadcast`: HLO does not broadcast implicitly"))?;
        let order = self.order(lhs.ty);
        let total = order == ComparisonType::TotalOrder && lhs.ty.is_float();
        check(total || order == Self::default_type(lhs.ty), "compare_c3", || {
            let default = Self::default_type(lhs.ty);
            format!("`type` is {}, but {} is compared as {}", order.name(), lhs.ty, default.name())
        })
        .map_err(|e| e.on(Place::Attribute("type")))?;
        Ok(merge_dynamic(lhs.with_type(ElementType::Pred), rhs).into())
    }
}
