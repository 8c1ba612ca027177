//! `softmax` and `logsoftmax`, which reduce over an axis.
use super::{Domain, admit, through_wide};
use crate::align::{Dim, laid};
use builder::{Error, Result, Value};

/// Returns `exp(x)` over its sum along the last axis: MAX Graph's `softmax`.
///
/// The page does not name the axis; the reference takes the last one. The largest element of the
/// axis is subtracted first, so that no exponential overflows; an axis of nothing but -inf, or with
/// +inf or NaN in it, gives NaN. It is computed in `f32` for narrower types. Integers are refused.
///
/// # Shape
/// The operand's.
///
/// # Errors
/// `E0810` if the operand is no float, `E0801` if it is a scalar, which has no axis.
///
/// ```
/// use builder_compat::max_graph;
/// let b = builder::Builder::new("m");
/// let r = max_graph::softmax(b.constant([[3f32, 3.0], [0.0, f32::NEG_INFINITY]]));
/// assert_eq!(interp::run(&b.build(r)?, &[])?.to_string(), "f32[2,2]{1,0} { { 0.5, 0.5 }, { 1, 0 } }");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn softmax(x: Value<'_>) -> Value<'_> {
    x.record(|_| {
        over_last_axis("softmax", x, |x| {
            let exp = shifted(x)?.exp();
            Ok(exp.div(along_last(exp.reduce(0, |a, b| a.add(b), &[-1]), x)?))
        })
    })
}

/// Returns the logarithm of [`softmax`]: MAX Graph's `logsoftmax`,
/// `x - max - log(sum(exp(x - max)))` along the last axis.
///
/// # Shape
/// The operand's.
///
/// # Errors
/// As [`softmax`].
///
/// ```
/// use builder_compat::max_graph;
/// let b = builder::Builder::new("m");
/// let r = max_graph::logsoftmax(b.constant([0f32, f32::NEG_INFINITY]));
/// assert_eq!(interp::run(&b.build(r)?, &[])?.to_string(), "f32[2]{0} {0, -inf}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn logsoftmax(x: Value<'_>) -> Value<'_> {
    x.record(|_| {
        over_last_axis("logsoftmax", x, |x| {
            let shifted = shifted(x)?;
            let sum = shifted.exp().reduce(0, |a, b| a.add(b), &[-1]);
            Ok(shifted.sub(along_last(sum.log(), x)?))
        })
    })
}

fn over_last_axis<'b>(
    function: &str,
    x: Value<'b>,
    formula: impl FnOnce(Value<'b>) -> Result<Value<'b>>,
) -> Result<Value<'b>> {
    let shape = x.array()?;
    admit(function, shape.ty, Domain::Floats)?;
    if shape.rank() == 0 {
        let message = format!("`{function}` works along the last axis, and {shape:#} has none");
        return Err(
            Error::argument(message).with_help("reshape it to one dimension: `x.reshape(&[1])`")
        );
    }
    through_wide(x, formula)
}

/// Returns the elements less the largest of their axis.
fn shifted(x: Value<'_>) -> Result<Value<'_>> {
    let largest = x.reduce(f64::NEG_INFINITY, Value::max, &[-1]);
    Ok(x.sub(along_last(largest, x)?))
}

/// Returns what a reduction of the last axis gave, repeated along it.
fn along_last<'b>(reduced: Value<'b>, x: Value<'b>) -> Result<Value<'b>> {
    let places: Vec<usize> = (0..reduced.rank()?).collect();
    laid(reduced, &places, &Dim::list(&x.array()?), &[x])
}
