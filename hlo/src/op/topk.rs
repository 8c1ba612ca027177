//! `topk`: the largest or smallest elements.
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ElementType, Result, Shape};

attrs! {
    /// The `k` largest or smallest elements along the last dimension, in order, with their places.
    ///
    /// Floats are compared in total order, so that NaN of positive sign is the largest and `-0` is less than `0`. Equal
    /// elements stand in the order of their places.
    ///
    /// # Shape
    ///
    /// `(values, s32 places)`, both of the operand's dimensions with the last one `k`.
    ///
    /// # Refused
    ///
    /// - `topk_k`: the operand is a scalar, or `k` is negative or larger than its last dimension.
    /// - `E0303`: complex values, which have no order.
    pub struct TopK {
        /// How many.
        pub k: i64 = "k";
        /// The largest, not the smallest.
        pub largest: bool = "largest", always true;
        /// Equal elements in the order of their places; they are in any case.
        pub is_stable: bool = "is_stable" or true;
    }
}

impl ShapeRule for TopK {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let operand = cx.array(0)?;
        cx.types(0, |ty| !ty.is_complex(), "pred, signed, unsigned, float")?;
        let last = operand.dims.last().copied();
        check(last.is_some_and(|last| (0..=last).contains(&self.k)), "topk_k", || {
            format!("`k` is {}, wanted 0 to the last size of {operand:#}", self.k)
        })
        .map_err(|e| e.on(Place::Attribute("k")))?;
        let mut values = operand.clone();
        *values.dims.last_mut().expect("checked above") = self.k;
        let indices = values.with_type(ElementType::S32);
        Ok(Shape::Tuple(vec![values.into(), indices.into()]))
    }
}
