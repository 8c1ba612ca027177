//! Attention.
use crate::arguments::{first, inexact, matrix, size};
use crate::options::{DotDimensionNumbers, DotOptions};
use crate::{Builder, Error, Result, Value};
use hlo::ElementType;

/// Options of [`attention`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Attention<'b> {
    /// Added to the scores; stretched to `[.., t, s]` as numpy does it.
    pub bias: Option<Value<'b>>,
    /// `pred`: where it is false a query does not see a key; stretched to `[.., t, s]`.
    pub mask: Option<Value<'b>>,
    /// Query `i` sees the keys up to `i` only.
    pub causal: bool,
    /// The factor of the scores; `1 / sqrt(d)` by default.
    pub scale: Option<f64>,
}

/// Returns `softmax(scale * q k^T + bias) v`: of `q[.., t, d]`, `k[.., s, d]` and `v[.., s, e]` it
/// is `[.., t, e]`.
///
/// Dimensions in front, batches and heads, are those of all three. Scores that are masked become a
/// very negative number, 0.7 of the lowest, as in JAX: a query that sees nothing gets the mean of
/// all values, not NaN.
///
/// ```
/// use builder::{Builder, nn};
/// let b = Builder::new("m");
/// let (q, k) = (b.constant([[0f32], [0.]]), b.constant([[1f32], [2.]]));
/// let options = nn::Attention { causal: true, ..Default::default() };
/// let result = interp::run(&b.build(nn::attention(q, k, b.constant([[10f32], [20.]]), options))?, &[])?;
/// assert_eq!(result.to_string(), "f32[2,1]{1,0} { {10}, {15} }");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Kept by the builder: `E0801` if shapes do not fit; `E0802` if mask or bias cannot be stretched.
#[track_caller]
pub fn attention<'b>(
    q: Value<'b>,
    k: Value<'b>,
    v: Value<'b>,
    options: Attention<'b>,
) -> Value<'b> {
    q.record(|b| {
        let scores = scores(q, k, v, options.scale)?;
        let shape = scores.array()?;
        let mut scores = match options.bias {
            Some(bias) => scores + bias.broadcast_to(&shape.dims),
            None => scores,
        };
        let low = shape.ty.float_format().map_or(f64::MAX, hlo::elem::FloatFormat::max_finite);
        let low = b.constant_r0_with_type(shape.ty, -0.7 * low);
        if let Some(mask) = options.mask {
            scores = mask.broadcast_to(&shape.dims).select(scores, low);
        }
        if options.causal {
            let (t, s) = matrix(&shape)?;
            scores = causal_mask(b, t, s).broadcast_to(&shape.dims).select(scores, low);
        }
        let (last, batch) = (size(shape.rank()) - 1, first(shape.rank() - 2));
        let pairs = DotDimensionNumbers {
            lhs_batch_dimensions: batch.clone(),
            rhs_batch_dimensions: batch,
            lhs_contracting_dimensions: vec![last],
            rhs_contracting_dimensions: vec![last - 1],
        };
        Ok(scores.softmax(-1).dot_general(v, &pairs, &DotOptions::default()))
    })
}

/// Returns `scale * q k^T`.
fn scores<'b>(q: Value<'b>, k: Value<'b>, v: Value<'b>, scale: Option<f64>) -> Result<Value<'b>> {
    let (queries, keys, values) = (q.array()?, k.array()?, v.array()?);
    inexact(&queries, "attention")?;
    let ((_, depth), (count, width), (given, _)) =
        (matrix(&queries)?, matrix(&keys)?, matrix(&values)?);
    let rank = queries.rank();
    let front = &queries.dims[..rank - 2];
    let fits = depth == width
        && count == given
        && [&keys, &values].iter().all(|a| a.rank() == rank && a.dims[..rank - 2] == *front);
    if !fits {
        let message =
            format!("queries {queries:#}, keys {keys:#} and values {values:#} do not fit");
        return Err(Error::argument(message).with_help("q[.., t, d], k[.., s, d], v[.., s, e]"));
    }
    let last = size(rank) - 1;
    let pairs = DotDimensionNumbers {
        lhs_batch_dimensions: first(rank - 2),
        rhs_batch_dimensions: first(rank - 2),
        lhs_contracting_dimensions: vec![last],
        rhs_contracting_dimensions: vec![last],
    };
    // The square root of a size that any real model has is exact enough in f64.
    let depth = hlo::Scalar::Signed(depth).convert(ElementType::S64, ElementType::F64).as_f64();
    Ok(q.dot_general(k, &pairs, &DotOptions::default())
        * scale.unwrap_or_else(|| depth.sqrt().recip()))
}

/// Returns which of `keys` each of `queries` sees that sees those up to its own place:
/// `pred[queries, keys]`.
#[track_caller]
pub fn causal_mask(b: &Builder, queries: i64, keys: i64) -> Value<'_> {
    b.record(|b| {
        let place = |dim| b.iota((ElementType::S32, [queries, keys]), dim);
        Ok(place(0).ge(place(1)))
    })
}
