//! The natural logarithm and the functions made of it.
use super::exponential::{TO_INTEGER, exp};
use super::polynomial;
use std::f64::consts::LN_2;

/// Returns `ln u` for positive finite `u`, NaN for others; `below` is `u - 1`, more precisely where
/// `u` was rounded.
///
/// The relative error is below 2^-50.
#[inline(always)]
pub(super) fn ln(u: f64, below: f64) -> f64 {
    const ROOT: u64 = 0x3fe6_a09e_667f_3bcd; // sqrt(1/2)
    const ONE: u64 = 1.0_f64.to_bits();
    // u = 2^e m, m in [sqrt(1/2), sqrt(2))
    let bits = u.to_bits().wrapping_add(ONE - ROOT);
    let exponent = bits >> 52;
    let m = f64::from_bits((bits & ((1 << 52) - 1)) + ROOT);
    // The bits of 2^52 + 1023 + e, less that number.
    let e = f64::from_bits(exponent | 0x4330_0000_0000_0000) - 4_503_599_627_371_519.0;
    let f = if exponent == 1023 { below } else { m - 1.0 };
    // 2 artanh(s) = ln m
    let s = f / (2.0 + f);
    let p = polynomial(
        s * s,
        const {
            &[
                0.148_106_872_151_920_42,
                0.153_124_286_802_281_46,
                0.181_836_356_584_951_45,
                0.222_221_969_778_430_9,
                0.285_714_287_614_444_23,
                0.399_999_999_992_984_47,
                0.666_666_666_666_676_5,
                2.0,
            ]
        },
    );
    let y = e.mul_add(LN_2, s * p);
    if u > 0.0 && u < f64::INFINITY { y } else { f64::NAN }
}
#[inline(always)]
pub(super) fn log(x: f64) -> f64 {
    if x == 0.0 { f64::NEG_INFINITY } else { ln(x, x - 1.0) }
}
#[inline(always)]
pub(super) fn log1p(x: f64) -> f64 {
    ln(1.0 + x, x).copysign(x)
}
#[inline(always)]
pub(super) fn asinh(x: f64) -> f64 {
    let (size, square) = (x.abs(), x * x);
    log1p(size + square / (1.0 + (1.0 + square).sqrt())).copysign(x)
}
#[inline(always)]
pub(super) fn acosh(x: f64) -> f64 {
    let above = if x < 1.0 { f64::NAN } else { x - 1.0 };
    log1p(above + (above * (x + 1.0)).sqrt())
}
#[inline(always)]
pub(super) fn atanh(x: f64) -> f64 {
    let size = x.abs();
    (0.5 * log1p(2.0 * size / (1.0 - size))).copysign(x)
}
/// Returns `exp(y ln x)`, with the sign of an odd power of a negative number.
///
/// `y ln x` is at most 104 in size where the result is not rounded to zero or infinity, so the
/// error of `ln` leaves one below 2^-43.
#[inline(always)]
pub(super) fn pow(x: f64, y: f64) -> f64 {
    let size = x.abs();
    let power = exp(y * ln(size, size - 1.0));
    let integer = y + TO_INTEGER;
    let is_integer = integer - TO_INTEGER - y == 0.0 && y.abs() < 1e15;
    let sign = if x < 0.0 { integer.to_bits() << 63 } else { 0 };
    let result = f64::from_bits(power.to_bits() ^ sign);
    if x > 0.0 || is_integer { result } else { f64::NAN }
}
