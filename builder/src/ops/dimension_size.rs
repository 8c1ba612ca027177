//! Sizes of dynamic dimensions: read, set and removed.
use crate::{Result, Value};
use hlo::op::{GetDimensionSize, SetDimensionSize};
use hlo::{ElementType, Literal, Scalar, Shape};

/// Returns a bound as a scalar. What does not fit `s32` is refused.
fn bound(value: Value<'_>, size: i64) -> Result<Value<'_>> {
    if i32::try_from(size).is_err() {
        let message = format!("the size {size} does not fit s32");
        return Err(crate::Error::argument(message));
    }
    value.builder().make_constant(Literal::scalar(ElementType::S32, Scalar::Signed(size)))
}

impl Value<'_> {
    /// Returns the size of a dimension, as `s32[]`: XLA's `GetDimensionSize`. A constant, unless
    /// the dimension is dynamic.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[<=5]", "x");
    /// let half = x.set_dimension_size(x.get_dimension_size(0) / 2, 0);
    /// assert_eq!(half.shape()?.to_string(), "f32[<=5]{0}");
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[track_caller]
    pub fn get_dimension_size(self, dimension: i64) -> Self {
        self.record(|b| {
            let (shape, dimension) = (self.array()?, self.axis(dimension)?);
            let at = usize::try_from(dimension).unwrap_or_default();
            if !shape.is_dynamic(at) {
                return bound(self, shape.dims[at]);
            }
            b.emit(GetDimensionSize { dimensions: vec![dimension] }, &[self], None)
        })
    }
    /// Returns the same data with the size of a dimension set to `size`, an `s32[]`: XLA's
    /// `SetDimensionSize`. The dimension becomes dynamic; the size it had is its bound.
    #[track_caller]
    pub fn set_dimension_size(self, size: Self, dimension: i64) -> Self {
        self.record(|b| {
            let dimensions = vec![self.axis(dimension)?];
            b.emit(SetDimensionSize { dimensions }, &[self, size], None)
        })
    }
    /// Returns all of the data, up to the bound of a dimension, which is no longer dynamic: XLA's
    /// `RemoveDynamicDimension`. What did not count before has no defined value.
    #[track_caller]
    pub fn remove_dynamic_dimension(self, dimension: i64) -> Self {
        self.record(|b| {
            let (mut shape, dimension) = (self.array()?, self.axis(dimension)?);
            let at = usize::try_from(dimension).unwrap_or_default();
            let size = bound(self, shape.dims[at])?;
            if let Some(dynamic) = shape.dynamic.as_mut() {
                dynamic[at] = false;
            }
            shape.dynamic = shape.dynamic.filter(|dynamic| dynamic.iter().any(|&d| d));
            let op = SetDimensionSize { dimensions: vec![dimension] };
            b.emit(op, &[self, size], Some(Shape::Array(shape)))
        })
    }
}
