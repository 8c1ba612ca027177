//! Functions of f32 in vectors of f32, within the accuracy of their ops: those of the engine
//! `fast`.
//!
//! A formula is not checked: a test measures its error over all f32. It gives NaN, which leaves the
//! result open, where it does not apply.
use super::VectorLoop;
use super::formula::{Formula, of};
use crate::float_functions::single;
use crate::single::to_f32;
use std::f64::consts::FRAC_2_PI;

/// Returns the polynomial with these coefficients, the highest first.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, coefficients: &'static [f32; N]) -> f32 {
    let mut sum = coefficients[0];
    for &c in &coefficients[1..] {
        sum = sum.mul_add(x, c);
    }
    sum
}

/// Loops of the functions that have a formula, and `None` for all others; the names are those of
/// the op table.
macro_rules! functions {
    ($($function:ident)*) => {
        pub(super) mod loops {
            use super::{Formula, VectorLoop, of, single};
            // Items of this module come before those of the same names.
            pub(in crate::loops) use crate::loops::table::none::*;
            $(
                pub(in crate::loops) fn $function() -> Option<VectorLoop> {
                    struct Approximation;
                    impl Formula<1> for Approximation {
                        type Of = f32;
                        type Result = f32;
                        const FEW: usize = 0;
                        #[inline(always)]
                        fn formula([x]: [f32; 1]) -> (f32, u32) {
                            let y = super::$function(x);
                            (y, u32::from(y.is_nan()))
                        }
                        fn definition([x]: [f32; 1]) -> f32 {
                            single::$function(x)
                        }
                    }
                    Some(of::<1, Approximation>())
                }
            )*
        }
    };
}
functions! { exp expm1 tanh logistic erf log log1p sin cos tan rsqrt }

/// 1.5 * 2^23: added to a small number, it leaves the nearest integer in the low bits.
const TO_INTEGER: f32 = 12_582_912.0;
const ONE: u32 = 1.0_f32.to_bits();
/// ln 2 in two parts; the first has 9 bits, so that products with exponents are exact.
const LN_2: [f32; 2] = [355.0 / 512.0, -0.000_212_194_44];

/// Returns `x` between bounds; NaN stays NaN.
#[inline(always)]
fn clamp(x: f32, bound: f32) -> f32 {
    let x = if x > bound { bound } else { x };
    if x < -bound { -bound } else { x }
}
/// 2^k, for the bits of [`TO_INTEGER`] plus `k`.
#[inline(always)]
fn power(bits: u32) -> f32 {
    f32::from_bits((bits << 23).wrapping_add(ONE))
}
/// Returns the bits of [`TO_INTEGER`] plus `k`, and `e^r - 1`, with `x = k ln 2 + r`,
/// `|r| <= ln(2) / 2`.
#[inline(always)]
fn parts(x: f32) -> (u32, f32) {
    let k = x.mul_add(std::f32::consts::LOG2_E, TO_INTEGER);
    let n = TO_INTEGER - k;
    let r = n.mul_add(LN_2[1], n.mul_add(LN_2[0], x));
    let p = polynomial(
        r,
        const { &[0.000_199_075_85, 0.001_394_859_2, 0.008_333_286, 0.041_666_24, 0.166_666_67, 0.5] },
    );
    (k.to_bits(), (r * r).mul_add(p, r))
}
#[inline(always)]
fn exp(x: f32) -> f32 {
    let (k, rest) = parts(clamp(x, 105.0));
    // In two steps: 2^k need not be a normal number.
    let half = (k.wrapping_sub(TO_INTEGER.to_bits()).cast_signed() >> 1).cast_unsigned();
    (1.0 + rest) * power(half) * power(k.wrapping_sub(half))
}
#[inline(always)]
fn expm1(x: f32) -> f32 {
    let above = if x < -30.0 { -30.0 } else { x };
    let (k, rest) = parts(clamp(above, 88.9));
    // 2^128 is not a number.
    let half = power(k.wrapping_sub(1));
    (half.mul_add(rest, half - 0.5) * 2.0).copysign(x)
}
#[inline(always)]
fn tanh(x: f32) -> f32 {
    // Loops over small arrays wait for it, so the chain of operations is short: e^(2h) - 1 as
    // `parts` computes it, with sums of pairs of terms.
    let size = if x.abs() > 10.0 { 10.0 } else { x.abs() };
    let k = size.mul_add(2.0 * std::f32::consts::LOG2_E, TO_INTEGER);
    let n = TO_INTEGER - k;
    let h = n.mul_add(LN_2[1] / 2.0, n.mul_add(LN_2[0] / 2.0, size));
    let square = h * h;
    let [a, b, c] = [
        h.mul_add(0.025_481_708, 0.089_270_99),
        h.mul_add(0.266_665_16, 0.666_659_83),
        h.mul_add(1.333_333_4, 2.0),
    ];
    let rest = square.mul_add(square.mul_add(square.mul_add(a, b), c), h + h);
    let power = power(k.to_bits());
    let e = power.mul_add(rest, power - 1.0);
    (e / (e + 2.0)).copysign(x)
}
#[inline(always)]
fn logistic(x: f32) -> f32 {
    let e = exp(-x.abs());
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}
/// Returns `1 - erfc(x)`, by the logarithm of `erfc(x)`. From 4 on the result is 1.
#[inline(always)]
#[expect(
    clippy::approx_constant,
    reason = "coefficients of the polynomial that are near such numbers"
)]
fn erf(x: f32) -> f32 {
    let size = clamp(x.abs(), 4.0);
    let p = polynomial(
        size,
        const {
            &[
                8.822_79e-8,
                2.158_844_3e-7,
                -1.687_311e-5,
                0.000_156_424_56,
                -0.000_724_705_9,
                0.001_785_545_2,
                -0.000_246_082_08,
                -0.019_119_622,
                0.102_771_53,
                0.636_619_8,
                1.128_379_2,
            ]
        },
    );
    let (k, rest) = parts(-size * p);
    let power = power(k);
    power.mul_add(rest, power - 1.0).copysign(x)
}

/// Returns `ln u` for positive normal `u`, NaN for others; `below` is `u - 1`, more precisely where
/// `u` was rounded.
#[inline(always)]
fn ln(u: f32, below: f32) -> f32 {
    const ROOT: u32 = 0x3f35_04f3; // sqrt(1/2)
    // u = 2^e m, m in [sqrt(1/2), sqrt(2))
    let bits = u.to_bits().wrapping_add(ONE - ROOT);
    let exponent = bits >> 23;
    let m = f32::from_bits((bits & ((1 << 23) - 1)) + ROOT);
    // The bits of 2^23 + 127 + e, less that number.
    let e = f32::from_bits(exponent | 0x4b00_0000) - 8_388_735.0;
    let f = if exponent == 127 { below } else { m - 1.0 };
    let square = f * f;
    let p = polynomial(
        f,
        const {
            &[
                0.069_373_1,
                -0.118_466_95,
                0.118_887_69,
                -0.123_774_92,
                0.142_171_22,
                -0.166_694_83,
                0.200_021_86,
                -0.249_999_84,
                0.333_333_13,
            ]
        },
    );
    let rest = e.mul_add(LN_2[1], f * square * p);
    let y = e.mul_add(LN_2[0], f + square.mul_add(-0.5, rest));
    if (f32::MIN_POSITIVE..f32::INFINITY).contains(&u) { y } else { f32::NAN }
}
#[inline(always)]
fn log(x: f32) -> f32 {
    if x == 0.0 { f32::NEG_INFINITY } else { ln(x, x - 1.0) }
}
#[inline(always)]
fn log1p(x: f32) -> f32 {
    ln(1.0 + x, x).copysign(x)
}

/// Returns `r = x - k pi/2`, at most pi/4 in size, and the bits of `k`; NaN for large `x`.
#[inline(always)]
fn quadrant(x: f32) -> (f64, u32) {
    /// 1.5 * 2^52.
    const TO_INTEGER: f64 = 6_755_399_441_055_744.0;
    /// -pi/2 in two parts; the first has 33 bits, so that products with integers below 2^20 are
    /// exact.
    const MINUS_HALF_PI: [f64; 2] = [-1.570_796_326_734_125_6, -6.077_100_506_506_192e-11];
    /// 2^20.
    const LARGE: f32 = 1_048_576.0;
    let wide = f64::from(x);
    let k = wide.mul_add(FRAC_2_PI, TO_INTEGER);
    let n = k - TO_INTEGER;
    let r = n.mul_add(MINUS_HALF_PI[1], n.mul_add(MINUS_HALF_PI[0], wide));
    (if x.abs() < LARGE { r } else { f64::NAN }, low_half(k.to_bits()))
}
/// Returns the sine and cosine of `r` of [`quadrant`], and the bits of `k`.
#[inline(always)]
fn reduced(x: f32) -> (f32, f32, u32) {
    let (r, k) = quadrant(x);
    let r = to_f32(r);
    let square = r * r;
    let sine = polynomial(
        square,
        const { &[2.717_273_2e-6, -0.000_198_392_53, 0.008_333_329, -0.166_666_67] },
    );
    let cosine = polynomial(
        square,
        const { &[-2.723_65e-7, 2.479_990_5e-5, -0.001_388_888_6, 0.041_666_668, -0.5, 1.0] },
    );
    // The correction has the other sign: without `copysign` the sine of -0 would be 0.
    (sine.mul_add(r * square, r).copysign(r), cosine, k)
}
#[inline(always)]
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "drops the high bits")]
fn low_half(bits: u64) -> u32 {
    bits as u32
}
/// Returns `x` with its sign changed if bit 1 of `k` is set.
#[inline(always)]
fn signed(x: f32, k: u32) -> f32 {
    f32::from_bits(x.to_bits() ^ ((k & 2) << 30))
}
#[inline(always)]
fn sin(x: f32) -> f32 {
    let (sine, cosine, k) = reduced(x);
    signed(if k & 1 == 0 { sine } else { cosine }, k)
}
#[inline(always)]
fn cos(x: f32) -> f32 {
    let (sine, cosine, k) = reduced(x);
    signed(if k & 1 == 0 { cosine } else { sine }, k.wrapping_add(1))
}
/// Returns the quotient of sine and cosine, in f64: in f32 it is rounded too often.
#[inline(always)]
fn tan(x: f32) -> f32 {
    const SINE: [f64; 4] =
        [2.724_993_308_3e-6, -0.000_198_400_868_5, 0.008_333_331_875_1, -0.166_666_666_64];
    const COSINE: [f64; 6] = [
        -2.717_336_556_2e-7,
        2.479_892_781_7e-5,
        -0.001_388_888_038_9,
        0.041_666_666_544,
        -0.499_999_999_99,
        1.0,
    ];
    let (r, k) = quadrant(x);
    let square = r * r;
    let (mut sine, mut cosine) = (SINE[0], COSINE[0]);
    for &c in &SINE[1..] {
        sine = sine.mul_add(square, c);
    }
    for &c in &COSINE[1..] {
        cosine = cosine.mul_add(square, c);
    }
    let sine = sine.mul_add(r * square, r).copysign(r);
    to_f32(if k & 1 == 0 { sine / cosine } else { -cosine / sine })
}
#[inline(always)]
fn rsqrt(x: f32) -> f32 {
    1.0 / x.sqrt()
}
