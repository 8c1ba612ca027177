//! The logistic function `1 / (1 + exp(-x))`, correctly rounded; CORE-MATH does not have it.
//!
//! A fast approximation decides almost every argument: its error is a few units of 2^-53, and where
//! both ends of that interval round to the same value, that is the result. For the others, and for
//! f64 always, the function is computed to about 98 bits and rounded. That is the correctly rounded
//! value unless the true one lies within 2^-95 of a tie, relatively; by the usual heuristics only
//! tiny f64 do, which have a separate series.
//!
//! XLA evaluates the formula step by step, so that exp(-x) overflows, and -100 in f32 gives 0.
use super::double_double::{DoubleDouble, Real};
use super::exact::{pow2, scale, two_sum};
use super::single::to_f32;

/// Returns the correctly rounded logistic function of an f32.
pub fn logistic_f32(x: f32) -> f32 {
    let wide = f64::from(x);
    // Three correctly rounded steps: within 2^-51 of the true value, relatively.
    let quick = 1.0 / (1.0 + core_math::exp(-wide));
    let margin = quick * pow2(-50);
    let (low, high) = (to_f32(quick - margin), to_f32(quick + margin));
    if low.to_bits() == high.to_bits() || x.is_nan() {
        return high;
    }
    // Below half the smallest subnormal number.
    if x < -110.0 {
        return 0.0;
    }
    let (value, k) = logistic(wide);
    to_f32(scale(value.to_odd(), k))
}

/// Returns the logistic function of an f64, rounded from about 98 bits.
pub fn logistic_f64(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    // Below half the smallest subnormal number.
    if x < -746.0 {
        return 0.0;
    }
    let (value, k) = logistic(x);
    value.normalized().scaled_to_f64(k)
}

/// Returns the function as `value * 2^k`, for x of at least -800.
fn logistic(x: f64) -> (DoubleDouble, i32) {
    if x.abs() < pow2(-20) {
        return (near_zero(x), 0);
    }
    if x > 45.0 {
        // Less than a quarter of an ulp below 1.
        return (DoubleDouble { hi: 1.0, lo: -pow2(-64) }, 0);
    }
    let (power, k) = DoubleDouble::from(-x.abs()).exp();
    let one = DoubleDouble::from(1.0);
    let sum = one + power.scaled(k);
    if x > 0.0 { (one / sum, 0) } else { (power / sum, k) }
}

/// 1/2 + x/4 - x^3/48 + x^5/480, for |x| < 2^-20: the next term is below 2^-150. The low part is
/// rounded to odd, because the first two terms alone can be a tie.
fn near_zero(x: f64) -> DoubleDouble {
    let (hi, lo) = two_sum(0.5, x / 4.0);
    let rest = -(x * x * x / 48.0) * (1.0 - x * x / 10.0);
    DoubleDouble { hi, lo: DoubleDouble::sum(lo, rest).to_odd() }
}
