//! The exponential function and those made of it.
use super::polynomial;
use std::f64::consts::{LN_2, LOG2_E};

/// 1.5 * 2^52: added to a small number, it leaves the nearest integer in the low bits.
pub(super) const TO_INTEGER: f64 = 6_755_399_441_055_744.0;

/// Returns `x` between bounds; NaN stays NaN.
#[inline(always)]
pub(super) fn clamp(x: f64, bound: f64) -> f64 {
    let x = if x > bound { bound } else { x };
    if x < -bound { -bound } else { x }
}

/// Returns `2^k` and `2^k (e^r - 1)` with `x = k ln 2 + r`, `|r| <= ln(2) / 2`, for `|x| < 700`.
#[inline(always)]
fn parts(x: f64) -> (f64, f64) {
    let k = x.mul_add(LOG2_E, TO_INTEGER);
    let r = (TO_INTEGER - k).mul_add(LN_2, x);
    let power = f64::from_bits((k.to_bits() << 52).wrapping_add(1.0_f64.to_bits()));
    // (e^r - 1) / r, within 2^-49.
    let p = polynomial(
        r,
        const {
            &[
                2.755_730_705_163_301e-7,
                2.763_254_418_315_815e-6,
                2.480_169_086_493_411e-5,
                0.000_198_411_908_839_865_9,
                0.001_388_888_876_458_873_2,
                0.008_333_333_367_130_564,
                0.041_666_666_667_132_7,
                0.166_666_666_666_160_9,
                0.499_999_999_999_995_5,
                1.000_000_000_000_001,
            ]
        },
    );
    (power, power * r * p)
}
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    let (power, rest) = parts(clamp(x, 200.0));
    power + rest
}
#[inline(always)]
pub(super) fn expm1(x: f64) -> f64 {
    let (power, rest) = parts(clamp(x, 200.0));
    ((power - 1.0) + rest).copysign(x)
}
#[inline(always)]
pub(super) fn tanh(x: f64) -> f64 {
    let e = expm1(2.0 * clamp(x, 20.0));
    e / (e + 2.0)
}
#[inline(always)]
pub(super) fn sinh(x: f64) -> f64 {
    let e = expm1(x.abs());
    (0.5 * (e + e / (e + 1.0))).copysign(x)
}
#[inline(always)]
pub(super) fn cosh(x: f64) -> f64 {
    let e = exp(x.abs());
    0.5 * e + 0.5 / e
}
#[inline(always)]
pub(super) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}
/// Returns `1 - erfc(x)`, by the logarithm of `erfc(x)`. From 4 on the result is 1.
#[inline(always)]
pub(super) fn erf(x: f64) -> f64 {
    let size = clamp(x.abs(), 4.0);
    let p = polynomial(
        size,
        const {
            &[
                3.168_497_857_445_429_6e-11,
                -8.904_631_725_094_681e-10,
                1.123_328_143_943_818_4e-8,
                -8.295_752_314_782_333e-8,
                3.855_056_410_737_371_6e-7,
                -1.060_169_461_847_901_7e-6,
                7.984_635_433_763_237e-7,
                6.861_552_357_216_093e-6,
                -3.374_198_000_801_693e-5,
                6.783_823_492_232_752e-5,
                2.387_463_357_909_391_2e-5,
                -0.000_589_275_917_490_272,
                0.001_695_959_383_479_810_1,
                -0.000_209_147_960_525_271_27,
                -0.019_128_452_298_614_63,
                0.102_772_603_612_960_91,
                0.636_619_772_360_451_4,
                1.128_379_167_095_539_2,
            ]
        },
    );
    expm1(-size * p).copysign(x)
}
