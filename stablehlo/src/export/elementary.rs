//! Functions that StableHLO lacks, from those that it has: of real numbers within the accuracy of
//! the op, of complex numbers with the branch cuts of C99.
//!
//! Each step is computed in the type itself, since not every backend has a wider one; functions of
//! narrow floats in f32.
use super::complex::{self, Parts};
use builder::Value;
use hlo::ElementType;
use std::f64::consts::LN_2;

/// Defines functions of real and of complex numbers.
macro_rules! of_both {
    ($($name:ident $real:ident;)*) => {
        $(pub(crate) fn $name<'b>(x: &[Value<'b>]) -> Value<'b> {
            match Parts::of(x[0]) {
                Some(z) => complex::$name(z).value(),
                None => wide(x[0], $real),
            }
        })*
    };
}
of_both! {
    acos real_acos;
    acosh real_acosh;
    asin real_asin;
    asinh real_asinh;
    atanh real_atanh;
    cosh real_cosh;
    sinh real_sinh;
}

/// Computes a function of narrow floats in f32, so that it is rounded once.
fn wide<'b>(x: Value<'b>, function: impl FnOnce(Value<'b>) -> Value<'b>) -> Value<'b> {
    match x.element_type() {
        Ok(ty) if ty.is_float() && ty.bits() < 32 => {
            function(x.convert_element_type(ElementType::F32)).convert_element_type(ty)
        }
        Ok(_) | Err(_) => function(x),
    }
}
/// Returns `sqrt(1 - x*x)`, which keeps its digits near -1 and 1.
fn other_side(x: Value<'_>) -> Value<'_> {
    ((-x + 1.0) * (x + 1.0)).sqrt()
}
/// Returns the sign of `x` on a magnitude; also that of -0.
pub(super) fn with_sign<'b>(magnitude: Value<'b>, x: Value<'b>) -> Value<'b> {
    x.eq(0.0).select(x, x.lt(0.0).select(-magnitude, magnitude))
}
/// Returns half of `exp(x)` for `x` of at least 0, which is finite where that is.
fn half_exp(x: Value<'_>) -> Value<'_> {
    let root = (x * 0.5).exp();
    (root * 0.5) * root
}
/// Returns whether a number is near the root of the largest one, above which squares are infinite.
pub(super) fn is_large(x: Value<'_>) -> Value<'_> {
    let largest = match x.element_type() {
        Ok(ElementType::F64) => 1e150,
        Ok(_) | Err(_) => 1e18,
    };
    x.gt(largest)
}

fn real_acos(x: Value<'_>) -> Value<'_> {
    other_side(x).atan2(x)
}
fn real_asin(x: Value<'_>) -> Value<'_> {
    x.atan2(other_side(x))
}
fn real_acosh(x: Value<'_>) -> Value<'_> {
    let above = x - 1.0;
    let near = (above + (above * (x + 1.0)).sqrt()).log1p();
    // Below -1 the product is positive again.
    let near = above.lt(0.0).select(x * f64::NAN, near);
    is_large(x).select(x.log() + LN_2, near)
}
pub(super) fn real_asinh(x: Value<'_>) -> Value<'_> {
    let magnitude = x.abs();
    let square = magnitude * magnitude;
    let near = (magnitude + square / ((square + 1.0).sqrt() + 1.0)).log1p();
    let far = magnitude.log() + LN_2;
    with_sign(is_large(magnitude).select(far, near), x)
}
fn real_atanh(x: Value<'_>) -> Value<'_> {
    (x.log1p() - (-x).log1p()) * 0.5
}
pub(super) fn real_cosh(x: Value<'_>) -> Value<'_> {
    let half = half_exp(x.abs());
    half + 0.25 / half
}
pub(super) fn real_sinh(x: Value<'_>) -> Value<'_> {
    let magnitude = x.abs();
    let half = half_exp(magnitude);
    let e = magnitude.expm1();
    let near = (e + e / (e + 1.0)) * 0.5;
    with_sign(magnitude.lt(1.0).select(near, half - 0.25 / half), x)
}

/// `erf(x)/x - 1` for |x| below 1, in `x*x`.
const ERF_NEAR: [f64; 12] = [
    0.128_379_167_095_512_56,
    -0.376_126_389_031_835_43,
    0.112_837_916_709_450_06,
    -0.026_866_170_643_237_77,
    5.223_977_607_116_422e-3,
    -8.548_325_975_389_692e-4,
    1.205_529_490_483_970_7e-4,
    -1.492_473_690_741_966e-5,
    1.644_742_470_331_736_2e-6,
    -1.620_848_380_187_170_5e-7,
    1.372_006_454_677_768_6e-8,
    -7.795_898_827_002_142e-10,
];
/// `exp(x*x) erfc(x)` for x from 1 to 6, in `(x - 2)/(x + 2)`.
const ERFCX: [f64; 17] = [
    0.255_395_676_310_505_75,
    -0.427_185_847_413_958_5,
    0.241_658_194_242_465_85,
    -0.078_978_581_015_706_11,
    3.732_892_404_397_833_6e-3,
    6.997_461_736_971_578e-3,
    -8.471_432_529_919_5e-4,
    -9.819_769_411_038_642e-4,
    4.355_558_686_575_482e-5,
    1.743_594_740_020_515_7e-4,
    2.752_717_555_722_724_6e-5,
    -2.756_220_916_112_935_3e-5,
    -1.399_828_377_278_497_6e-5,
    1.305_857_712_227_801_7e-6,
    4.011_749_647_325_067e-6,
    1.272_567_661_840_228e-6,
    -1.135_257_147_727_362_7e-6,
];
/// Returns a polynomial with these coefficients, the first of which is that of 1.
fn polynomial<'b>(x: Value<'b>, coefficients: &[f64]) -> Value<'b> {
    let [rest @ .., highest] = coefficients else { return x.zeros_like() };
    rest.iter().rev().fold(x.full_like(*highest), |sum, &coefficient| sum * x + coefficient)
}
/// Returns the error function: near 0 from its series, and else what is left to 1. The polynomials
/// interpolate their functions at the Chebyshev nodes, with errors below 1e-17.
fn real_erf(x: Value<'_>) -> Value<'_> {
    let near = x + x * polynomial(x * x, &ERF_NEAR);
    // From 6 on the result is 1.
    let magnitude = x.abs().min(6.0);
    let t = (magnitude - 2.0) / (magnitude + 2.0);
    let far: Value<'_> = 1.0 - (magnitude * -magnitude).exp() * polynomial(t, &ERFCX);
    x.abs().lt(1.0).select(near, x.lt(0.0).select(-far, far))
}
pub(crate) fn erf<'b>(x: &[Value<'b>]) -> Value<'b> {
    wide(x[0], real_erf)
}

/// Returns the high half of products, of the double width or, of 64 bits, from products of halves.
pub(crate) fn mulhi<'b>(x: &[Value<'b>]) -> Value<'b> {
    let [x, y] = [x[0], x[1]];
    let Ok(ty) = x.element_type() else { return x };
    let is_signed = ty.class() == hlo::Class::Signed;
    let shift = |value: Value<'b>, bits: u32| {
        let bits = value.scalar_like(i64::from(bits));
        match is_signed {
            true => value.shift_right_arithmetic(bits),
            false => value.shift_right_logical(bits),
        }
    };
    if ty.bits() < 64 {
        let double = if is_signed { ElementType::S64 } else { ElementType::U64 };
        let product = x.convert_element_type(double) * y.convert_element_type(double);
        return shift(product, ty.bits()).convert_element_type(ty);
    }
    // x = high * 2^32 + low, with the sign in the high half.
    let mask = x.scalar_like(i64::from(u32::MAX));
    let [(x_high, x_low), (y_high, y_low)] = [x, y].map(|v| (shift(v, 32), v.and(mask)));
    let low = (x_low * y_low).shift_right_logical(x.scalar_like(32i64));
    let middle = x_high * y_low + low;
    let other = x_low * y_high + middle.and(mask);
    x_high * y_high + shift(middle, 32) + shift(other, 32)
}
