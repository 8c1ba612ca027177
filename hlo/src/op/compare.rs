//! `compare`: the truth of a relation, element by element.
use super::rule::merge_dynamic;
use super::rules::same_dims_as_first;
use super::value::{ComparisonType, Direction};
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::elem::Class;
use crate::{ElementType, Result, Shape};

attrs! {
    /// Compares element by element.
    ///
    /// With `type=FLOAT`, NaN is unordered: every relation with it is false but `NE`, which is true; `-0` equals `0`. With
    /// `type=TOTALORDER` floats are ordered by sign and magnitude: `-NaN < -inf < ... < -0 < 0 < ... < inf < NaN`. Complex
    /// values are compared by their real parts, and by their imaginary parts where those are equal.
    ///
    /// # Shape
    ///
    /// `pred`, of the operands' dimensions.
    ///
    /// # Refused
    ///
    /// - `compare_c1`: the operands have the same element type.
    /// - `compare_c2`: the operands have the same dimensions.
    /// - `compare_c3`: `type` is the one of the element type: `SIGNED`, `UNSIGNED` (of `pred` too), `FLOAT`; of floats also
    ///   `TOTALORDER`.
    pub struct Compare {
        /// The relation.
        pub direction: Direction = "direction";
        /// How values are ordered; `None` for the default of the element type.
        pub ty: Option<ComparisonType> = "type" or None;
    }
}

impl Compare {
    /// How values of an element type are ordered where the text does not say.
    pub fn default_type(ty: ElementType) -> ComparisonType {
        match ty.class() {
            Class::Float | Class::Complex => ComparisonType::Float,
            Class::Signed => ComparisonType::Signed,
            Class::Unsigned | Class::Pred => ComparisonType::Unsigned,
        }
    }
    /// How the values are ordered.
    pub fn order(&self, ty: ElementType) -> ComparisonType {
        self.ty.unwrap_or_else(|| Self::default_type(ty))
    }
}

impl ShapeRule for Compare {
    fn complete(&mut self, operands: &[&Shape], _: Option<&Shape>) -> Result<()> {
        // XLA prints the type only where it is not the default.
        let default = operands[0].element_type().map(Self::default_type);
        self.ty = self.ty.filter(|&ty| Some(ty) != default);
        Ok(())
    }
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
        check(lhs.ty == rhs.ty, "compare_c1", || format!("operands are {} and {}", lhs.ty, rhs.ty))
            .map_err(|e| e.on(Place::Operand(1)))?;
        same_dims_as_first(cx, 1, "compare_c2")
            .map_err(|e| e.with_help("HLO does not broadcast by itself: add a `broadcast`"))?;
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
