//! Softmax and the logarithm of sums of exponentials.
use super::reductions::{axes, spread};
use crate::arguments::inexact;
use crate::{Error, Result, Value};

fn floats(x: Value<'_>, what: &str) -> Result<()> {
    let shape = x.array()?;
    inexact(&shape, what)?;
    if shape.ty.is_complex() {
        return Err(Error::argument(format!("{what} takes real numbers, found {shape:#}")));
    }
    Ok(())
}

impl Value<'_> {
    /// Returns `exp(x) / sum(exp(x))` along a dimension.
    ///
    /// The largest element is subtracted first, so that nothing overflows. Where all are minus
    /// infinity, or one is plus infinity, the result has NaN, as in JAX.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([1000f32, 1000.]).softmax(-1))?, &[])?;
    /// assert_eq!(result.to_string(), "f32[2]{0} {0.5, 0.5}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if it is not of real floats, or there is no such dimension.
    #[track_caller]
    pub fn softmax(self, dim: i64) -> Self {
        self.record(|_| {
            let axes = axes(self, &[dim])?;
            let powers = lowered(self, &axes)?.exp();
            Ok(powers / spread(powers.reduce_sum(&axes), self, &axes)?)
        })
    }
    /// Returns `x - log(sum(exp(x)))` along a dimension: the logarithm of [`Value::softmax`], exact
    /// where that is near 0.
    #[track_caller]
    pub fn log_softmax(self, dim: i64) -> Self {
        self.record(|_| {
            let axes = axes(self, &[dim])?;
            let lowered = lowered(self, &axes)?;
            Ok(lowered - spread(lowered.exp().reduce_sum(&axes).log(), self, &axes)?)
        })
    }
    /// Returns `log(sum(exp(x)))` along dimensions.
    ///
    /// The largest element is taken out first, so that nothing overflows. Minus infinity where all
    /// are, and of nothing; plus infinity where one is.
    #[doc(alias = "log_sum_exp")]
    #[track_caller]
    pub fn logsumexp(self, dims: &[i64]) -> Self {
        self.record(|b| {
            floats(self, "`logsumexp`")?;
            let axes = axes(self, dims)?;
            let most = self.reduce_max(&axes);
            // Infinity less infinity would be NaN: what is not finite is left in.
            let most = most.is_finite().select(most, b.zero(self.element_type()?));
            let sum = (self - spread(most, self, &axes)?).exp().reduce_sum(&axes);
            Ok(sum.log() + most)
        })
    }
}

/// Returns the array less its largest element along dimensions.
fn lowered<'b>(x: Value<'b>, axes: &[i64]) -> Result<Value<'b>> {
    floats(x, "a softmax")?;
    Ok(x - spread(x.reduce_max(axes), x, axes)?)
}
