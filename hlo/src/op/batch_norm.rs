//! Batch normalisation: training, inference, gradient.
use super::value::Float;
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Normalises with the statistics of the operand itself.
    pub struct BatchNormTraining {
        /// Added to the variance.
        pub epsilon: Float = "epsilon";
        /// The dimension that keeps its own statistics.
        pub feature_index: i64 = "feature_index";
    }
}

impl ShapeRule for BatchNormTraining {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Normalises with given statistics.
    pub struct BatchNormInference {
        /// Added to the variance.
        pub epsilon: Float = "epsilon";
        /// The dimension that keeps its own statistics.
        pub feature_index: i64 = "feature_index";
    }
}

impl ShapeRule for BatchNormInference {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// The gradient of [`BatchNormTraining`].
    pub struct BatchNormGrad {
        /// Added to the variance.
        pub epsilon: Float = "epsilon";
        /// The dimension that keeps its own statistics.
        pub feature_index: i64 = "feature_index";
    }
}

impl ShapeRule for BatchNormGrad {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
