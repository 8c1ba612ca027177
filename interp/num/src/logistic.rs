//! The logistic function `1 / (1 + exp(-x))`, correctly rounded; CORE-MATH does not have it.
//!
//! A fast approximation decides almost every argument: its error is a few units of 2^-53, and where
//! both ends of that interval round to the same value, that is the result; of f64 the approximation
//! has about 66 bits. For the others the function is computed to about 98 bits and rounded. That is
//! the correctly rounded value unless the true one lies within 2^-95 of a tie, relatively; by the
//! usual heuristics only tiny f64 do, which have a separate series.
//!
//! XLA evaluates the formula step by step, so that exp(-x) overflows, and -100 in f32 gives 0.
use super::double_double::{DoubleDouble, Real};
use super::double_double_functions::{LN_2, small_integer};
use super::exact::{pow2, scale, two_product, two_sum};
use super::single::to_f32;
use std::sync::LazyLock;

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
    quick(x).unwrap_or_else(|| {
        let (value, k) = logistic(x);
        value.normalized().scaled_to_f64(k)
    })
}

/// Returns the logistic function of an f64 where an approximation decides it.
///
/// `exp(-|x|)` is a power of two, times a number of the table, times `1 + r + q`: `r` is exact, `q`
/// is less than 2^-15 and has an error of 2^-67. The division is exact to 2^-100, so that the error
/// of the sum of `value` and `rest` is less than 2^-65 of it.
fn quick(x: f64) -> Option<f64> {
    /// ln 2 / 64 in two parts; the first has 36 bits, so that its products with `n` are exact.
    const STEP: [f64; 2] =
        [f64::from_bits(0x3f86_2e42_fefa_0000), f64::from_bits(0x3d1c_f79a_bc9e_3b3a)];
    static POWERS: LazyLock<[(f64, f64); 64]> = LazyLock::new(|| {
        std::array::from_fn(|j| {
            let j = f64::from(u8::try_from(j).unwrap_or(0)) / 64.0;
            let (power, k) = (LN_2 * DoubleDouble::from(j)).exp();
            let power = power.scaled(k).normalized();
            (power.hi, power.lo)
        })
    });
    let t = -x.abs();
    // The others have a series, or the parts of the result are subnormal.
    if !(-600.0..-pow2(-20)).contains(&t) {
        return None;
    }
    let n = (t / STEP[0]).round_ties_even();
    let r = t - n * STEP[0];
    let low = -(n * STEP[1]);
    let near = r + low;
    let terms = [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5];
    let series = terms.into_iter().fold(0.0, |sum, term| sum * near + term);
    let q = low + near * near * series;
    let n = small_integer(n);
    let (high, rest) = POWERS[usize::try_from(n.rem_euclid(64)).ok()?];
    let power = pow2(n.div_euclid(64));
    let (product, error) = two_product(high, r);
    let (exp, dropped) = two_sum(high, product);
    let (exp, rest) = two_sum(exp, dropped + (error + (high * q + (rest + rest * r))));
    let (exp, exp_rest) = (exp * power, rest * power);
    let (sum, dropped) = two_sum(1.0, exp);
    let sum_rest = dropped + exp_rest;
    let (top, top_rest) = if x > 0.0 { (1.0, 0.0) } else { (exp, exp_rest) };
    let value = top / sum;
    let (product, error) = two_product(value, sum);
    let rest = (top - product - error + top_rest - value * sum_rest) / sum;
    let margin = value * pow2(-64);
    let (low, high) = (value + (rest - margin), value + (rest + margin));
    (low.to_bits() == high.to_bits()).then_some(low)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_approximation_decides_most_and_is_the_rounded_value() {
        let mut state = 1_u64;
        let mut decided = 0;
        let count = 20_000;
        for i in 0..count {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let fraction = f64::from(u32::try_from(state >> 32).unwrap()) / pow2(32)
                + f64::from(u32::try_from(state & 0xffff_ffff).unwrap()) * pow2(-64);
            let size = pow2(i % 30 - 20);
            let x = if state & 1 == 0 { fraction * size } else { -fraction * size };
            let (value, k) = logistic(x);
            let expected = value.normalized().scaled_to_f64(k);
            if let Some(found) = quick(x) {
                decided += 1;
                assert_eq!(
                    found.to_bits(),
                    expected.to_bits(),
                    "{x:e}: {found:e}, not {expected:e}"
                );
            }
        }
        assert!(decided * 10 > count * 8, "{decided} of {count}");
    }
}
