//! `iota`: the indices along a dimension.
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ElementType, Result, Shape};

attrs! {
    /// Returns the indices along a dimension, from 0; along all others the elements are equal.
    ///
    /// The index is converted to the element type: a narrow integer wraps, a narrow float rounds, a
    /// complex number has the imaginary part 0. The default of `iota_dimension` is 0.
    ///
    /// # Shape
    ///
    /// The stated one.
    ///
    /// # Constraints
    ///
    /// - `iota_c1`: the dimension is one of the result, which is therefore not a scalar.
    /// - `iota_type`: the element type is not `pred`.
    pub struct Iota {
        /// The dimension.
        pub iota_dimension: Option<i64> = "iota_dimension" in dimensions or None;
    }
}

impl ShapeRule for Iota {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let result = cx.stated_array()?;
        check(result.ty != ElementType::Pred, "iota_type", || {
            "`iota` is not defined on pred".to_owned()
        })
        .map_err(|e| e.on(Place::Shape))?;
        let dim = self.iota_dimension.unwrap_or(0);
        check(result.dim(dim).is_some(), "iota_c1", || {
            format!("dimension {dim} does not exist in {result:#}")
        })
        .map_err(|e| e.on(Place::Attribute("iota_dimension")))?;
        Ok(result.clone().into())
    }
}
