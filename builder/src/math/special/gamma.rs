//! The logarithm of the gamma function and its derivative.
use super::tables::{DIGAMMA, DIGAMMA_ASYMPTOTIC, LGAMMA, STIRLING};
use super::wide::{in_f64, offset_from_whole, polynomial};
use crate::Value;
use std::f64::consts::{PI, TAU};

/// `ln(2 pi) / 2`
const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;
/// `ln(pi)`
const LN_PI: f64 = 1.144_729_885_849_400_2;
/// From here on the asymptotic series is used.
const FAR: f64 = 8.0;
/// The positive root of digamma, rounded, and what the rounding cut off.
const ROOT: (f64, f64) = (1.461_632_144_968_362_3, 9.549_995_429_965_697e-17);

impl Value<'_> {
    /// Computes the logarithm of the magnitude of the gamma function: XLA's `Lgamma`.
    ///
    /// From 8 on Stirling's series (DLMF 5.11.1), below the recurrence
    /// `lgamma(x+1) = lgamma(x) + log(x)` down to a polynomial that keeps the zeros at 1 and 2, for
    /// negative numbers the reflection formula (DLMF 5.5.3). Infinite at 0, -1, -2, ... and at both
    /// infinities.
    ///
    /// Accuracy in `f64`: 6 ULP for positive numbers. For negative ones, where the function has
    /// zeros between the poles, 6 ULP of `max(lgamma(1 - x), 1)`.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([1.0f32, 5.0, -0.5]).lgamma())?, &[])?;
    /// assert_eq!(result.to_string(), "f32[3]{0} {0, 3.17805386, 1.26551211}"); // 0, ln 24, ln(2 sqrt(pi))
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "gammaln")]
    #[track_caller]
    pub fn lgamma(self) -> Self {
        self.record(|_| in_f64("lgamma", [self], |[x]| lgamma(x)))
    }
    /// Computes the derivative of [`lgamma`](Value::lgamma): XLA's `Digamma`.
    ///
    /// From 8 on an asymptotic series (DLMF 5.11.2), below the recurrence
    /// `digamma(x+1) = digamma(x) + 1/x` down to a polynomial that keeps the root at 1.4616..., for
    /// negative numbers the reflection formula (DLMF 5.5.4). NaN at the poles 0, -1, -2, ... and at
    /// `-inf`.
    ///
    /// Accuracy in `f64`: 6 ULP for positive numbers. For negative ones, where the function has
    /// zeros between the poles, 6 ULP of `max(digamma(1 - x), |pi cot(pi x)|)`.
    #[doc(alias = "psi")]
    #[track_caller]
    pub fn digamma(self) -> Self {
        self.record(|_| in_f64("digamma", [self], |[x]| digamma(x)))
    }
}

/// A number from 1 on brought down below 3 in steps of 1, if it is below [`FAR`].
struct Reduced<'b> {
    /// The reduced argument minus 2: exact.
    t: Value<'b>,
    /// The numbers passed on the way, `x - 1`, `x - 2`, ..., each with whether it was passed.
    passed: Vec<(Value<'b>, Value<'b>)>,
}
fn reduced(x: Value<'_>) -> Reduced<'_> {
    let steps = [1.0, 2.0, 3.0, 4.0, 5.0];
    let passed: Vec<_> = steps.iter().map(|&j| (x - j, x.ge(j + 2.0))).collect();
    let t = (passed.iter()).fold(x - 2.0, |t, &(down, is)| is.select(down - 2.0, t));
    Reduced { t, passed }
}
impl<'b> Reduced<'b> {
    /// Returns the product of the numbers passed.
    fn product(&self) -> Value<'b> {
        self.passed
            .iter()
            .fold(self.t.full_like(1.0), |product, &(down, is)| product * is.select(down, 1.0))
    }
    /// Returns the sum of their reciprocals.
    fn reciprocals(&self) -> Value<'b> {
        self.passed
            .iter()
            .fold(self.t.full_like(0.0), |sum, &(down, is)| sum + is.select(1.0 / down, 0.0))
    }
}

/// Returns `lgamma(2 + t)` for t from -1 to 1.
fn lgamma_near_two(t: Value<'_>) -> Value<'_> {
    t * (t + 1.0) * polynomial(t, LGAMMA)
}
/// Returns `lgamma(1 + x)` for x from 0 to 2, all of its digits for small x too.
pub(super) fn lgamma1p(x: Value<'_>) -> Value<'_> {
    (x - 1.0) * x * polynomial(x - 1.0, LGAMMA)
}
/// Computes Stirling's series without its leading terms: the logarithm of [`scaled_gamma`], for x
/// from 8 on.
pub(super) fn stirling(x: Value<'_>) -> Value<'_> {
    polynomial(1.0 / (x * x), STIRLING) / x
}

/// Returns `lgamma` of an f64.
fn lgamma(x: Value<'_>) -> Value<'_> {
    let y = x.abs();
    let near = reduced(y);
    let near = lgamma_near_two(near.t) + near.product().log();
    let far = (y - 0.5) * (y.log() - 1.0) + (HALF_LN_TAU - 0.5) + stirling(y);
    let from_one = y.lt(FAR).select(near, far);
    // Below 1 lgamma(1 + y), from there on lgamma(y).
    let base = y.lt(1.0).select(lgamma1p(y), from_one);
    let positive = base - y.lt(1.0).select(y.log(), 0.0);
    let sine = (offset_from_whole(y) * PI).sin().abs();
    let negative = LN_PI - sine.log() - (base + y.lt(1.0).select(y.full_like(0.0), y.log()));
    let value = x.lt(0.0).select(negative, positive);
    y.eq(f64::INFINITY).select(y, value)
}

/// Returns `digamma(2 + t)` for t from -1 to 1.
fn digamma_near_two(t: Value<'_>) -> Value<'_> {
    let rest = polynomial(t, DIGAMMA);
    // Not (t - a) - b: XLA's simplifier adds up the two constants, and what the second is for is
    // lost.
    rest * (t + (2.0 - ROOT.0)) - rest * ROOT.1
}

/// Returns `digamma` of an f64.
pub(super) fn digamma(x: Value<'_>) -> Value<'_> {
    let y = x.abs();
    let near = reduced(y);
    let near = digamma_near_two(near.t) + near.reciprocals();
    let z = 1.0 / (y * y);
    let far = y.log() - 0.5 / y - z * polynomial(z, DIGAMMA_ASYMPTOTIC);
    // digamma(1 + y) below 1, digamma(y) from there on.
    let base = y.lt(1.0).select(digamma_near_two(y - 1.0), y.lt(FAR).select(near, far));
    let positive = base - y.lt(1.0).select(1.0 / y, 0.0);
    let angle = offset_from_whole(x) * PI;
    let above = base + y.lt(1.0).select(y.full_like(0.0), 1.0 / y);
    let negative = above - angle.cos() * PI / angle.sin();
    let value = x.le(0.0).select(negative, positive);
    let pole = x.le(0.0) & angle.eq(0.0);
    pole.select(x.full_like(f64::NAN), value)
}

/// Returns the gamma function of an f64 from 1 on: 12 ULP.
pub(super) fn gamma_from_one(x: Value<'_>) -> Value<'_> {
    let near = reduced(x);
    let near = lgamma_near_two(near.t).exp() * near.product();
    // Half of the power at a time, which alone could overflow.
    let half = x.pow(x * 0.5 - 0.25);
    let far = half * (-x).exp() * half * (stirling(x).exp() * TAU.sqrt());
    x.lt(FAR).select(near, far)
}

/// Returns the gamma function over what Stirling's formula says,
/// `gamma(x) / (sqrt(2 pi / x) (x / e)^x)`, of a positive f64: near 1 for large x, near
/// `1 / sqrt(2 pi x)` for small ones.
pub(super) fn scaled_gamma(x: Value<'_>) -> Value<'_> {
    let gamma = gamma_from_one(x.min(FAR) + 1.0);
    let near = gamma * x.pow(-x) * x.exp() / (x * TAU).sqrt();
    x.lt(FAR).select(near, stirling(x).exp())
}
