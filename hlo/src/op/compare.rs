//! `compare`: the truth of a relation, element by element.
use super::rule::{merge_dynamic, same_dims};
use super::value::{ComparisonType, Direction};
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::elem::Class;
use crate::{ElementType, Result, Shape};

attrs! {
    /// Compares element by element.
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
        check(lhs.ty == rhs.ty, "compare_c1", || {
            format!("operands are {} and {}", lhs.ty, rhs.ty)
        })?;
        same_dims(cx, lhs, rhs, 1)?;
        let order = self.order(lhs.ty);
        let total = order == ComparisonType::TotalOrder && lhs.ty.is_float();
        check(total || order == Self::default_type(lhs.ty), "compare_c3", || {
            format!("values of {} are not compared as {order:?}", lhs.ty)
        })
        .map_err(|e| e.on(Place::Attribute("type")))?;
        Ok(merge_dynamic(lhs.with_type(ElementType::Pred), rhs).into())
    }
}
