//! Normalizations.
use super::reductions::{axes, spread};
use crate::arguments::{inexact, others, size};
use crate::{Error, Result, Value};

/// Applies scale and offset to the last dimension, where they are given.
fn scaled<'b>(
    x: Value<'b>,
    scale: Option<Value<'b>>,
    bias: Option<Value<'b>>,
) -> Result<Value<'b>> {
    let last = size(x.rank()?) - 1;
    let x = scale.map_or(x, |scale| x * scale.along(&[last]));
    Ok(bias.map_or(x, |bias| x + bias.along(&[last])))
}

/// Returns `(x - mean) / sqrt(variance + epsilon) * scale + bias` along the last dimension;
/// `scale[n]` and `bias[n]` of `x[.., n]`.
///
/// ```
/// use builder::{Builder, nn};
/// let b = Builder::new("m");
/// let result = interp::run(&b.build(nn::layer_norm(b.constant([[1f64, 3.]]), None, None, 0.0))?, &[])?;
/// assert_eq!(result.to_string(), "f64[1,2]{1,0} { { -1, 1 } }");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Kept by the builder: `E0801` if it is not of floats, or has no dimension.
#[track_caller]
pub fn layer_norm<'b>(
    x: Value<'b>,
    scale: Option<Value<'b>>,
    bias: Option<Value<'b>>,
    epsilon: f64,
) -> Value<'b> {
    x.record(|_| {
        inexact(&x.array()?, "`layer_norm`")?;
        let axes = axes(x, &[-1])?;
        let centered = x - spread(x.mean(&axes), x, &axes)?;
        let spread_by = ((centered * centered).mean(&axes) + epsilon).rsqrt();
        scaled(centered * spread(spread_by, x, &axes)?, scale, bias)
    })
}
/// Returns `x / sqrt(mean(x^2) + epsilon) * scale` along the last dimension; `scale[n]` of
/// `x[.., n]`.
#[track_caller]
pub fn rms_norm<'b>(x: Value<'b>, scale: Option<Value<'b>>, epsilon: f64) -> Value<'b> {
    x.record(|_| {
        inexact(&x.array()?, "`rms_norm`")?;
        let axes = axes(x, &[-1])?;
        let by = ((x * x).mean(&axes) + epsilon).rsqrt();
        scaled(x * spread(by, x, &axes)?, scale, None)
    })
}

/// The result of [`batch_norm`].
#[derive(Debug, Clone, Copy)]
pub struct BatchNorm<'b> {
    /// The normalized array.
    pub output: Value<'b>,
    /// The mean of each feature.
    pub mean: Value<'b>,
    /// The variance of each feature, that of a population.
    pub variance: Value<'b>,
}

/// Returns `(x - mean) / sqrt(variance + epsilon) * scale + offset`, with mean and variance of each
/// index of dimension `feature` over all other dimensions; `scale` and `offset` have one element
/// for each.
///
/// Made of plain ops; `batch-norm-training` is the op that does the same.
///
/// # Errors
/// Kept by the builder: `E0801` if it is not of floats, or there is no such dimension.
#[track_caller]
pub fn batch_norm<'b>(
    x: Value<'b>,
    scale: Value<'b>,
    offset: Value<'b>,
    epsilon: f64,
    feature: i64,
) -> BatchNorm<'b> {
    let [output, mean, variance] = x.record_all(|_| {
        let shape = x.array()?;
        inexact(&shape, "`batch_norm`")?;
        let feature = x.axis(feature)?;
        let axes = others(shape.rank(), &[feature]);
        for given in [scale.array()?, offset.array()?] {
            if given.dims.as_slice() != [shape.dim(feature).unwrap_or(0)] {
                let message = format!("{given:#} is not one element for each index of dimension {feature} of {shape:#}");
                return Err(Error::argument(message));
            }
        }
        let (mean, variance) = (x.mean(&axes), x.variance(&axes, 0));
        let by = (variance + epsilon).rsqrt() * scale;
        let centered = x - mean.along(&[feature]);
        Ok([centered * by.along(&[feature]) + offset.along(&[feature]), mean, variance])
    });
    BatchNorm { output, mean, variance }
}
