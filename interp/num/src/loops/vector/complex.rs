//! Functions of c64 in vectors of f64, and products and quotients of c128 in pairs of them.
//!
//! Squares and products of f32 are exact in f64, so that a sum of two has a relative error of
//! 2^-53 also if they cancel; nothing else here is a difference. A result is open if either part is,
//! or is not finite: definitions have rules for infinities.
#![expect(clippy::needless_bitwise_bool, reason = "formulas without branches are vectorized")]
use super::exponential::{cosh, exp, sinh};
use super::logarithm::ln;
use super::trigonometric::{atan2, cos, sin, tan};
use super::{VectorLoop, decided};
use crate::complex::Complex;
use crate::dispatch::{Binary2, Unary1};
use crate::double_double::{DoubleDouble, Real};
use crate::exact::pow2;
use crate::loops::complex::ComplexElement;
use crate::loops::formula::{Formula, of};
use crate::single::to_f32;
use hlo::ElementType;
use hlo::literal::Native;
use hlo::op::{Binary, Unary};
use std::convert::identity;

type Parts = [f64; 2];

/// Returns both parts as f32, and 0 unless one is open.
#[inline(always)]
fn parts([re, im]: Parts) -> ([f32; 2], u32) {
    let ((re, is_re_open), (im, is_im_open)) = (decided(re), decided(im));
    ([re, im], is_re_open | is_im_open | u32::from(!re.is_finite() || !im.is_finite()))
}
/// Returns the parts of a sum of exact products, and 0 unless one is halfway between two f32, or
/// may be as it is subnormal.
#[inline(always)]
fn sums(sums: Parts) -> ([f32; 2], u32) {
    let is_open = |x: f64| {
        let is_tie = x.to_bits() & 0x1fff_ffff == 0x1000_0000;
        is_tie | !x.is_finite() | ((x.abs() < f64::from(f32::MIN_POSITIVE)) & (x != 0.0))
    };
    (sums.map(to_f32), u32::from(is_open(sums[0]) | is_open(sums[1])))
}

#[inline(always)]
fn product([a, b]: Parts, [c, d]: Parts) -> Parts {
    [a * c + -b * d, a * d + b * c]
}
#[inline(always)]
fn quotient([a, b]: Parts, [c, d]: Parts) -> Parts {
    let square = c * c + d * d;
    [(a * c + b * d) / square, (b * c + -a * d) / square]
}
#[inline(always)]
fn exponential([a, b]: Parts) -> Parts {
    let size = exp(a);
    [size * cos(b), size * sin(b)]
}
#[inline(always)]
fn logarithm([a, b]: Parts) -> Parts {
    let (small, large) = if a.abs() < b.abs() { (a, b) } else { (b, a) };
    // Exact but for the last addition where the sum of the squares is near 1.
    let below = (large * large - 1.0) + small * small;
    [0.5 * ln(a * a + b * b, below), atan2(b, a)]
}
#[inline(always)]
fn sine([a, b]: Parts) -> Parts {
    [cosh(b) * sin(a), sinh(b) * cos(a)]
}
#[inline(always)]
fn cosine([a, b]: Parts) -> Parts {
    [cosh(b) * cos(a), -sinh(b) * sin(a)]
}
#[inline(always)]
fn hyperbolic_sine([a, b]: Parts) -> Parts {
    [sinh(a) * cos(b), cosh(a) * sin(b)]
}
#[inline(always)]
fn hyperbolic_cosine([a, b]: Parts) -> Parts {
    [cosh(a) * cos(b), sinh(a) * sin(b)]
}
/// By Kahan's formula, as the definition is.
#[inline(always)]
fn hyperbolic_tangent([a, b]: Parts) -> Parts {
    let (s, t) = (sinh(a), tan(b));
    let h = 1.0 + t * t;
    let norm = 1.0 + h * (s * s);
    [h * (1.0 + s * s).sqrt() * s / norm, t / norm]
}
#[inline(always)]
fn tangent([a, b]: Parts) -> Parts {
    let [re, im] = hyperbolic_tangent([-b, a]);
    [im, -re]
}
/// Returns the absolute value, and the parts of the root.
#[inline(always)]
fn root([a, b]: Parts) -> (f64, Parts) {
    let size = (a * a + b * b).sqrt();
    let large = (0.5 * (a.abs() + size)).sqrt();
    let small = 0.5 * b.abs() / large;
    let (re, im) = if a < 0.0 { (small, large) } else { (large, small) };
    (size, [re, im.copysign(b)])
}
#[inline(always)]
fn square_root(z: Parts) -> Parts {
    root(z).1
}
#[inline(always)]
fn inverse_root(z: Parts) -> Parts {
    let (size, [re, im]) = root(z);
    [re / size, -im / size]
}
#[inline(always)]
fn direction([a, b]: Parts) -> Parts {
    let size = (a * a + b * b).sqrt();
    [a / size, b / size]
}

/// Returns the parts of `exp(w ln z)`, and 0 unless one is open.
///
/// The logarithm is within 2^-47 of itself, so that the exponent is within 2^-41, which is an error
/// of the absolute value.
#[inline(always)]
fn power(z: Parts, [c, d]: Parts) -> ([f32; 2], u32) {
    const ERROR: f64 = f64::from_bits((1023 - 39) << 52);
    let [length, angle] = logarithm(z);
    let products = [c * length, -d * angle, c * angle, d * length];
    let size = exp(products[0] + products[1]);
    let turn = products[2] + products[3];
    let most = products.iter().fold(0.0, |sum, x| sum + x.abs());
    let of = |x: f64| {
        let bounds = [x - size * ERROR, x + size * ERROR].map(to_f32);
        (bounds[0], (bounds[0].to_bits() ^ bounds[1].to_bits()) | u32::from(!x.is_finite()))
    };
    let ((re, is_re_open), (im, is_im_open)) = (of(size * cos(turn)), of(size * sin(turn)));
    // Not a number is not below.
    let is_small = most < 64.0;
    ([re, im], is_re_open | is_im_open | u32::from(!is_small))
}

/// Returns the product of two c128, as its definition computes it, and 0 unless it is open.
#[inline(always)]
fn long_product([a, b]: Parts, [c, d]: Parts) -> (Parts, u32) {
    let part = |a: f64, b: f64, c: f64, d: f64| {
        let x = DoubleDouble::products(a, b, c, d).hi;
        let has_zeros = ((a == 0.0) | (b == 0.0)) & ((c == 0.0) | (d == 0.0));
        // Products in range that cancel leave nothing.
        let is_zero = (x == 0.0) & (has_zeros | ((a * b).abs() > pow2(-900)));
        (x, !x.is_finite() | ((x.abs() <= pow2(-900)) & !is_zero))
    };
    let ((re, is_re_open), (im, is_im_open)) = (part(a, c, -b, d), part(a, d, b, c));
    ([re, im], u32::from(is_re_open | is_im_open))
}
/// Returns the loop of a product in the type of the parts, of which infinities and what overflows
/// are left open; `None` of other ops and types.
pub(in crate::loops) fn fast_binary(op: Binary, ty: ElementType) -> Option<VectorLoop> {
    macro_rules! product {
        ($part:ident) => {{
            struct Product;
            impl Formula<2> for Product {
                type Of = [$part; 2];
                type Result = [$part; 2];
                const FEW: usize = 0;
                #[inline(always)]
                fn formula([[a, b], [c, d]]: [[$part; 2]; 2]) -> ([$part; 2], u32) {
                    let [re, im] = [a * c - b * d, a * d + b * c];
                    ([re, im], u32::from(!re.is_finite() | !im.is_finite()))
                }
                fn definition([a, b]: [[$part; 2]; 2]) -> [$part; 2] {
                    let ty = <[$part; 2]>::TYPE;
                    ComplexElement::of(Complex::mul(ty, a.wide(), b.wide()))
                }
            }
            of::<2, Product>()
        }};
    }
    let is_product = op == Binary::Multiply && ty.is_complex();
    is_product.then(|| if ty == ElementType::C64 { product!(f32) } else { product!(f64) })
}
/// As [`long_product`], the quotient.
#[inline(always)]
fn long_quotient([a, b]: Parts, [c, d]: Parts) -> (Parts, u32) {
    let norm = DoubleDouble::products(c, c, d, d);
    let part = |x, y| (DoubleDouble::products(x, c, y, d) / norm).rounded();
    let is_far = |x: f64| x != 0.0 && !(pow2(-200)..pow2(200)).contains(&x.abs());
    let is_open = norm.hi == 0.0 || is_far(a) || is_far(b) || is_far(c) || is_far(d);
    ([part(a, b), part(b, -a)], u32::from(is_open))
}

/// Defines functions that choose the formula of an op.
macro_rules! formulas {
    ($($choose:ident $part:ident $ops:ident $count:literal $apply:ident {
        $($op:ident $function:ident($($x:ident)+) $round:ident $formula:ident;)*
    })*) => {$(
        /// Returns the loop of an op that has a formula.
        pub(in crate::loops) fn $choose(op: $ops) -> Option<VectorLoop> {
            type Number = [$part; 2];
            $(
                struct $op;
                impl Formula<$count> for $op {
                    type Of = Number;
                    type Result = Number;
                    #[inline(always)]
                    fn formula([$($x),+]: [Number; $count]) -> (Number, u32) {
                        $round($formula($($x.map(f64::from)),+))
                    }
                    fn definition([$($x),+]: [Number; $count]) -> Number {
                        Number::of(Complex::$function.$apply(Number::TYPE, $($x.wide()),+))
                    }
                }
            )*
            let all: &[($ops, fn() -> VectorLoop)] = &[$(($ops::$op, of::<$count, $op>)),*];
            all.iter().find_map(|(other, function)| (*other == op).then(function))
        }
    )*};
}
formulas! {
    unary f32 Unary 1 apply {
        Cosh cosh(z) parts hyperbolic_cosine;
        Cosine cos(z) parts cosine;
        Exponential exp(z) parts exponential;
        Log log(z) parts logarithm;
        Rsqrt rsqrt(z) parts inverse_root;
        Sign sign(z) parts direction;
        Sine sin(z) parts sine;
        Sinh sinh(z) parts hyperbolic_sine;
        Sqrt sqrt(z) parts square_root;
        Tan tan(z) parts tangent;
        Tanh tanh(z) parts hyperbolic_tangent;
    }
    binary f32 Binary 2 apply_both {
        Divide div(a b) parts quotient;
        Multiply mul(a b) sums product;
        Power pow(a b) identity power;
    }
    long_binary f64 Binary 2 apply_both {
        Divide div(a b) identity long_quotient;
        Multiply mul(a b) identity long_product;
    }
}
