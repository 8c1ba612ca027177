//! Losses.
use super::layers::chosen;
use crate::arguments::{first, inexact, size};
use crate::{Error, Value};

/// Returns `-log(softmax(logits))` at each label: of `logits[.., c]` and integers `labels[..]` it
/// is `[..]`.
///
/// Computed as `logsumexp(logits) - logits[label]`, which is exact also for probabilities near
/// zero. A label outside gives NaN.
///
/// ```
/// use builder::{Builder, nn};
/// let b = Builder::new("m");
/// let loss = nn::cross_entropy(b.constant([[0f32, 0.]]), b.constant([1i32]));
/// assert_eq!(interp::run(&b.build(loss)?, &[])?.to_string(), "f32[1]{0} {0.693147182}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Kept by the builder: `E0801` if labels are not integers, or not one for each row of logits.
#[track_caller]
pub fn cross_entropy<'b>(logits: Value<'b>, labels: Value<'b>) -> Value<'b> {
    logits.record(|b| {
        let (shape, given) = (logits.array()?, labels.array()?);
        inexact(&shape, "a cross entropy")?;
        let fits = shape.dims.split_last().filter(|(_, front)| **front == given.dims[..]);
        let Some((&classes, _)) = fits else {
            let message = format!("labels {given:#} are not one for each row of {shape:#}");
            return Err(Error::argument(message).with_help("logits [.., c], labels [..]"));
        };
        let mask = chosen(labels, classes)?;
        let last = size(shape.rank()) - 1;
        let at = mask.select(logits, b.zero(shape.ty)).reduce_sum(&[last]);
        let loss = logits.logsumexp(&[last]) - at;
        let nan =
            crate::implicit::splat(b.constant_r0_with_type(shape.ty, f64::NAN), &loss.array()?)?;
        Ok(mask.reduce_or(&[last]).select(loss, nan))
    })
}
/// Returns `-sum(labels * log(softmax(logits)))` along the last dimension, of labels that are
/// probabilities: `[..]` of `[.., c]`.
#[track_caller]
pub fn cross_entropy_soft<'b>(logits: Value<'b>, labels: Value<'b>) -> Value<'b> {
    logits.record(|_| Ok((labels * logits.log_softmax(-1)).reduce_sum(&[-1]).neg()))
}
/// Returns the mean of `(x - y)^2` over all elements, a scalar.
#[track_caller]
pub fn mean_squared_error<'b>(x: Value<'b>, y: Value<'b>) -> Value<'b> {
    x.record(|_| {
        let apart = x - y;
        let squares = apart * apart;
        Ok(squares.mean(&first(squares.rank()?)))
    })
}
