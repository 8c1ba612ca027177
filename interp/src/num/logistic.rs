//! The logistic function `1 / (1 + exp(-x))`, correctly rounded; no library has it.
//!
//! A quick value settles almost every argument: it is known to within a few units of 2^-53, and where both ends of that
//! interval round alike there is nothing left to find out. For the others, and for f64 always, the function is computed
//! to about 98 bits and rounded. That is the correctly rounded value unless the true one lies within 2^-95 of a tie,
//! relatively; by the usual heuristics no f64 does that but tiny ones, which have a series of their own.
//!
//! XLA evaluates the formula step by step, so that exp(-x) overflows, and -100 in f32 gives 0.
use super::exact::{Double, pow2, scale, two_product, two_sum};
use super::float::to_f32;

/// The correctly rounded logistic function of an f32.
pub(super) fn logistic_f32(x: f32) -> f32 {
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

/// The logistic function of an f64, rounded from about 98 bits.
pub(super) fn logistic_f64(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    // Below half the smallest subnormal number.
    if x < -746.0 {
        return 0.0;
    }
    let (value, k) = logistic(x);
    let (nearest, dropped) = two_sum(value.hi, value.lo);
    let result = scale(nearest, k);
    if !result.is_subnormal() || dropped == 0.0 {
        return result;
    }
    // Scaling rounded again. Only a tie there can have gone the wrong way, and what the first rounding dropped settles
    // it.
    let off = nearest - scale(result, -k);
    if off.abs() < scale(1.0, -1075 - k) {
        result
    } else if off > 0.0 && dropped > 0.0 {
        result.next_up()
    } else if off < 0.0 && dropped < 0.0 {
        result.next_down()
    } else {
        result
    }
}

/// The function as `value * 2^k`, for x of at least -800.
fn logistic(x: f64) -> (Double, i32) {
    if x.abs() < pow2(-20) {
        return (near_zero(x), 0);
    }
    if x > 45.0 {
        // Less than a quarter of an ulp below 1.
        return (Double { hi: 1.0, lo: -pow2(-64) }, 0);
    }
    let (power, k) = exp(-x.abs());
    let one = Double::new(1.0);
    let sum = one + Double { hi: scale(power.hi, k), lo: scale(power.lo, k) };
    if x > 0.0 { (one / sum, 0) } else { (power / sum, k) }
}

/// 1/2 + x/4 - x^3/48 + x^5/480, for |x| < 2^-20: the next term is below 2^-150. The low part is rounded to odd, because
/// the first two terms alone can be a tie.
fn near_zero(x: f64) -> Double {
    let (hi, lo) = two_sum(0.5, x / 4.0);
    let rest = -(x * x * x / 48.0) * (1.0 - x * x / 10.0);
    let (low, low_rest) = two_sum(lo, rest);
    Double { hi, lo: Double { hi: low, lo: low_rest }.to_odd() }
}

/// exp(x) as `value * 2^k` for x from -800 to 0, within 2^-98 relatively.
fn exp(x: f64) -> (Double, i32) {
    // ln 2 in three parts; the first two have 42 bits, so that their products with k are exact.
    const LN2: [f64; 3] = [
        f64::from_bits(0x3fe6_2e42_fefa_3800),
        f64::from_bits(0x3d2e_f357_93c7_6000),
        f64::from_bits(0x3a8c_c01f_97b5_7a08),
    ];
    const HALVINGS: i32 = 6;
    let multiple = (x * std::f64::consts::LOG2_E).round_ties_even();
    let (hi, lo) = two_sum(x - multiple * LN2[0], -(multiple * LN2[1]));
    let (third, third_rest) = two_product(multiple, LN2[2]);
    let reduced = Double { hi, lo } + Double { hi: -third, lo: -third_rest };
    let part = pow2(-HALVINGS);
    let small = Double { hi: reduced.hi * part, lo: reduced.lo * part };
    // The series of (exp(small) - 1) / small from its last term inwards; |small| < 0.0055.
    let mut series = Double::new(1.0);
    for term in (2..=14).rev() {
        series = Double::new(1.0) + small * series / Double::new(f64::from(term));
    }
    let mut less_one = small * series;
    for _ in 0..HALVINGS {
        // (1 + p)^2 - 1 = 2p + p^2
        less_one = Double { hi: 2.0 * less_one.hi, lo: 2.0 * less_one.lo } + less_one * less_one;
    }
    (Double::new(1.0) + less_one, small_integer(multiple))
}

#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "whole, at most 1200")]
fn small_integer(x: f64) -> i32 {
    x as i32
}
