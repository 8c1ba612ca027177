//! Batch normalization.
use crate::Value;
use crate::arguments::counted;
use hlo::op::value::Float;
use hlo::op::{BatchNormGrad, BatchNormInference, BatchNormTraining};

impl Value<'_> {
    /// Normalizes with the statistics of the array itself: XLA's `BatchNormTraining`. Returns the
    /// tuple `(output, mean, variance)`.
    ///
    /// Each place of dimension `feature_index` has a mean and a variance of its own over all other
    /// dimensions, and a number of `scale` and `offset`: the output is
    /// `(x - mean) / sqrt(variance + epsilon) * scale + offset`. (`BatchNormTraining`, XLA
    /// operation semantics.)
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[8,16,3]", "x");
    /// let (scale, offset) = (b.constant([1f32; 3]), b.constant([0f32; 3]));
    /// let normal = x.batch_norm_training(scale, offset, 1e-5, 2);
    /// assert_eq!(normal.get_tuple_element(1).dims()?, [3]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[track_caller]
    pub fn batch_norm_training(
        self,
        scale: Self,
        offset: Self,
        epsilon: f32,
        feature_index: i64,
    ) -> Self {
        self.record(|b| {
            let feature_index = counted(feature_index, self.rank()?);
            let op = BatchNormTraining { epsilon: Float(epsilon), feature_index };
            b.emit(op, &[self, scale, offset], None)
        })
    }
    /// Normalizes with given statistics: XLA's `BatchNormInference`. Arguments as of
    /// [`Value::batch_norm_training`].
    #[track_caller]
    pub fn batch_norm_inference(
        self,
        scale: Self,
        offset: Self,
        mean: Self,
        variance: Self,
        epsilon: f32,
        feature_index: i64,
    ) -> Self {
        self.record(|b| {
            let feature_index = counted(feature_index, self.rank()?);
            let op = BatchNormInference { epsilon: Float(epsilon), feature_index };
            b.emit(op, &[self, scale, offset, mean, variance], None)
        })
    }
    /// Returns the gradients of [`Value::batch_norm_training`] by array, scale and offset: XLA's
    /// `BatchNormGrad`. The result is a tuple of the three.
    ///
    /// `batch_mean` and `batch_var` are what the training gave, `grad_output` the gradient of its
    /// output. (`BatchNormGrad`, XLA operation semantics.)
    #[track_caller]
    pub fn batch_norm_grad(
        self,
        scale: Self,
        batch_mean: Self,
        batch_var: Self,
        grad_output: Self,
        epsilon: f32,
        feature_index: i64,
    ) -> Self {
        self.record(|b| {
            let feature_index = counted(feature_index, self.rank()?);
            let op = BatchNormGrad { epsilon: Float(epsilon), feature_index };
            b.emit(op, &[self, scale, batch_mean, batch_var, grad_output], None)
        })
    }
}
