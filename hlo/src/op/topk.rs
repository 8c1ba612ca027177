//! `topk`: the largest or smallest elements.
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ElementType, Result, Shape};

attrs! {
    /// Returns the `k` largest or smallest elements along the last dimension, sorted, with their
    /// indices.
    ///
    /// Floats are compared in total order, so that NaN of positive sign is the largest and `-0` is
    /// less than `0`. Equal elements are in the order of their indices.
    ///
    /// # Shape
    ///
    /// `(values, s32 indices)`, both with the operand's dimensions and a last dimension of `k`.
    ///
    /// # Constraints
    ///
    /// - `topk_k`: the operand is not a scalar, and `k` is from 0 to its last size.
    /// - `E0303`: the element type is not complex, since complex numbers are not ordered.
    pub struct TopK {
        /// The number of elements.
        pub k: i64 = "k" in k;
        /// Whether to return the largest, not the smallest.
        pub largest: bool = "largest" in largest, always true;
        /// Whether equal elements must be in the order of their indices; they always are.
        pub is_stable: bool = "is_stable" in is_stable or true;
    }
}

impl ShapeRule for TopK {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let operand = cx.array(0)?;
        cx.types(0, |ty| !ty.is_complex(), "pred, signed, unsigned, float")?;
        let last = operand.dims.last().copied();
        check(last.is_some_and(|last| (0..=last).contains(&self.k)), "topk_k", || {
            format!("`k` is {}, expected 0 to the last size of {operand:#}", self.k)
        })
        .map_err(|e| e.on(Place::Attribute("k")))?;
        let mut values = operand.clone();
        *values.dims.last_mut().expect("checked above") = self.k;
        let indices = values.with_type(ElementType::S32);
        Ok(Shape::Tuple(vec![values.into(), indices.into()]))
    }
}
