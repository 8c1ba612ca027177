//! Batch normalization: training, inference, gradient.
use super::value::Float;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ArrayShape, Error, Result, Shape};

attrs! {
    /// Normalizes with the statistics of the operand itself.
    pub struct BatchNormTraining {
        /// Added to the variance.
        pub epsilon: Float = "epsilon" in epsilon;
        /// The feature dimension: each of its indices has its own statistics.
        pub feature_index: i64 = "feature_index" in feature_index;
    }
}
attrs! {
    /// Normalizes with given statistics.
    pub struct BatchNormInference {
        /// Added to the variance.
        pub epsilon: Float = "epsilon" in epsilon;
        /// The feature dimension: each of its indices has its own statistics.
        pub feature_index: i64 = "feature_index" in feature_index;
    }
}
attrs! {
    /// The gradient of [`BatchNormTraining`].
    pub struct BatchNormGrad {
        /// Added to the variance.
        pub epsilon: Float = "epsilon" in epsilon;
        /// The feature dimension: each of its indices has its own statistics.
        pub feature_index: i64 = "feature_index" in feature_index;
    }
}

/// The feature dimension of the operand.
struct Features<'a, 'b> {
    cx: &'a Infer<'b>,
    operand: &'b ArrayShape,
    index: i64,
}

impl<'b> Features<'_, 'b> {
    /// Fails unless the operand is an array of floats and has dimension `index`.
    fn new<'a>(cx: &'a Infer<'b>, index: i64, rule: &'static str) -> Result<Features<'a, 'b>> {
        let operand = cx.array(0)?;
        cx.types(0, crate::ElementType::is_float, "float")?;
        check(operand.dim(index).is_some(), rule, || {
            format!("feature_index={index} is not a dimension of {operand:#}")
        })
        .map_err(|e: Error| e.on(Place::Attribute("feature_index")))?;
        Ok(Features { cx, operand, index })
    }
    /// Fails unless all operands have one element type.
    fn same_type(&self, rule: &'static str) -> Result<()> {
        for (i, other) in self.cx.arrays()?.into_iter().enumerate() {
            check(other.ty == self.operand.ty, rule, || {
                format!(
                    "operand {i} has element type {}, operand 0 has {}",
                    other.ty, self.operand.ty
                )
            })
            .map_err(|e| e.on(Place::Operand(i)))?;
        }
        Ok(())
    }
    /// Returns the shape of one number per feature.
    fn shape(&self) -> ArrayShape {
        ArrayShape::new(self.operand.ty, [self.operand.dim(self.index).unwrap_or(0)].as_slice())
    }
    /// Fails unless operand `i` has one number per feature.
    fn one_each(&self, i: usize, name: &str, rule: &'static str) -> Result<()> {
        let (found, expected) = (self.cx.array(i)?, self.shape());
        check(found.dims == expected.dims, rule, || {
            format!("the {name} is {found:#}, expected {expected:#}: one number per feature")
        })
        .map_err(|e| e.on(Place::Operand(i)))
    }
    fn with_statistics(&self) -> Shape {
        let one_each = Shape::from(self.shape());
        Shape::Tuple(vec![self.operand.clone().into(), one_each.clone(), one_each])
    }
}

impl ShapeRule for BatchNormTraining {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let features = Features::new(cx, self.feature_index, "batch_norm_training_c1")?;
        features.same_type("batch_norm_training_c2")?;
        features.one_each(1, "scale", "batch_norm_training_c3")?;
        features.one_each(2, "offset", "batch_norm_training_c4")?;
        Ok(features.with_statistics())
    }
}

impl ShapeRule for BatchNormInference {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let features = Features::new(cx, self.feature_index, "batch_norm_inference_c1")?;
        features.same_type("batch_norm_inference_c2")?;
        features.one_each(1, "scale", "batch_norm_inference_c3")?;
        features.one_each(2, "offset", "batch_norm_inference_c4")?;
        features.one_each(3, "mean", "batch_norm_inference_c5")?;
        features.one_each(4, "variance", "batch_norm_inference_c6")?;
        Ok(features.operand.clone().into())
    }
}

impl ShapeRule for BatchNormGrad {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let features = Features::new(cx, self.feature_index, "batch_norm_grad_c1")?;
        features.same_type("batch_norm_grad_c2")?;
        let (operand, gradient) = (features.operand, cx.array(4)?);
        check(operand.dims == gradient.dims, "batch_norm_grad_c3", || {
            format!("the gradient is {gradient:#}, the operand {operand:#}")
        })
        .map_err(|e| e.on(Place::Operand(4)))?;
        features.one_each(1, "scale", "batch_norm_grad_c5")?;
        features.one_each(2, "mean", "batch_norm_grad_c4")?;
        features.one_each(3, "variance", "batch_norm_grad_c4")?;
        Ok(features.with_statistics())
    }
}
