//! Arithmetic on complex numbers.
//!
//! A function that is cheap in twice the precision (`double_double`) is computed in it: products,
//! quotients, roots. The rest is made of real functions that CORE-MATH rounds correctly. A bound is
//! stated and derived with each function: `n ulp` means each part within n units in its own last
//! place, for parts of at least 2^-900, which underflow of intermediate results does not reach.
//! `c64` results are the same values rounded once more per part, so they are within half an ulp and
//! n 2^-29 of one.
//!
//! Where XLA's evaluator and XLA:CPU differ, results follow the evaluator, which has C99's rules
//! (annex G) for infinities, NaN and signs of zero.
use super::double_double::DoubleDouble;
use super::exact::{exponent, pow2, round_to_odd, scale, two_sum};
use super::float::Rounded;
use super::scaled::Scaled;
use super::single::to_f32;
use hlo::{ElementType, Scalar};
use std::cmp::Ordering;

/// A complex number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Complex {
    pub(super) re: f64,
    pub(super) im: f64,
}

impl Rounded for Complex {
    #[inline]
    fn rounded(self, _: ElementType) -> Scalar {
        Scalar::Complex(self.re, self.im)
    }
}

impl Complex {
    pub(super) const ONE: Self = Self { re: 1.0, im: 0.0 };
    pub(super) const ZERO: Self = Self { re: 0.0, im: 0.0 };
    pub(super) const NAN: Self = Self { re: f64::NAN, im: f64::NAN };

    /// Returns whether both parts are finite.
    pub(super) fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }
    /// Returns whether a part is infinite, whatever the other is.
    pub(super) fn is_infinite(self) -> bool {
        self.re.is_infinite() || self.im.is_infinite()
    }
    /// Returns whether a part is NaN.
    pub(super) fn is_nan(self) -> bool {
        self.re.is_nan() || self.im.is_nan()
    }
    /// Returns whether both parts are zeros, of any sign.
    pub(super) fn is_zero(self) -> bool {
        self.re == 0.0 && self.im == 0.0
    }
    /// Returns the size of the larger part.
    pub(super) fn size(self) -> f64 {
        self.re.abs().max(self.im.abs())
    }
    /// Returns the exponent of the larger part.
    pub(super) fn exponent(self) -> i32 {
        exponent(self.size())
    }
    /// Returns `self * 2^n`.
    pub(super) fn scale(self, n: i32) -> Self {
        Self { re: scale(self.re, n), im: scale(self.im, n) }
    }
    #[inline]
    pub(super) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self { re: f(self.re), im: f(self.im) }
    }
    #[inline]
    pub(super) fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
    #[inline]
    pub(super) fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
    /// Returns `self * i`.
    pub(super) fn times_i(self) -> Self {
        Self { re: -self.im, im: self.re }
    }
    /// Returns `self * -i`.
    pub(super) fn over_i(self) -> Self {
        Self { re: self.im, im: -self.re }
    }
    #[inline]
    pub(super) fn neg(self) -> Self {
        self.map(|x| -x)
    }
    #[inline]
    pub(super) fn real(self) -> f64 {
        self.re
    }
    #[inline]
    pub(super) fn imag(self) -> f64 {
        self.im
    }
    pub(super) fn max(self, other: Self) -> Self {
        pick(Ordering::Less, self, other)
    }
    pub(super) fn min(self, other: Self) -> Self {
        pick(Ordering::Greater, self, other)
    }
    /// Correctly rounded for both types; infinite if a part is, even if the other is NaN.
    pub(super) fn abs(ty: ElementType, z: Self) -> f64 {
        if ty == ElementType::C64 {
            return f64::from(core_math::hypotf(to_f32(z.re), to_f32(z.im)));
        }
        core_math::hypot(z.re, z.im)
    }
    /// Returns the product: correctly rounded for `c64`, within 0.501 ulp for `c128`.
    ///
    /// Products of f64 are exact in twice the precision, and their sum has a relative error of 3 *
    /// 2^-106 also if they cancel.
    pub(super) fn mul(ty: ElementType, a: Self, b: Self) -> Self {
        let result = if ty == ElementType::C64 {
            // The products of two f32 are exact.
            product(a, b, |a, b, c, d| {
                let (sum, rest) = two_sum(a * b, c * d);
                round_to_odd(sum, rest)
            })
        } else {
            product(a, b, |a, b, c, d| DoubleDouble::products(a, b, c, d).hi)
        };
        // The rounding errors of products below 2^-969 are lost.
        let is_in_range = |x: f64| x.is_finite() && x.abs() > pow2(-900);
        if ty == ElementType::C64 && result.is_finite()
            || is_in_range(result.re) && is_in_range(result.im)
        {
            return result;
        }
        if a.is_finite() && b.is_finite() {
            // Products that over- or underflow, or zeros.
            return product(a, b, |a, b, c, d| Scaled::products(a, b, c, d).to_f64());
        }
        let naive = |a: Self, b: Self| Self {
            re: a.re * b.re - a.im * b.im,
            im: a.re * b.im + a.im * b.re,
        };
        let result = naive(a, b);
        let is_infinite = a.is_infinite() || b.is_infinite() || {
            let products = [a.re * b.re, a.im * b.im, a.re * b.im, a.im * b.re];
            products.iter().any(|x| x.is_infinite())
        };
        if !(result.re.is_nan() && result.im.is_nan() && is_infinite) {
            return result;
        }
        // C99: an infinite number times anything but zero is infinite, in the direction its
        // infinite parts point to. NaN in the other part counts as zero.
        let direction = |z: Self| {
            let z = if z.is_infinite() { unit_parts(z) } else { z };
            z.map(|x| if x.is_nan() { 0.0_f64.copysign(x) } else { x })
        };
        naive(direction(a), direction(b)).map(|x| f64::INFINITY * x)
    }
    /// Returns the quotient, within 0.501 ulp.
    pub(super) fn div(self, b: Self) -> Self {
        let a = self;
        // C99's rules for zeros and infinities.
        if b.is_zero() && !(a.re.is_nan() && a.im.is_nan()) {
            let infinity = f64::INFINITY.copysign(b.re);
            return a.map(|x| infinity * x);
        }
        let naive_numerator = |a: Self, b: Self| Self {
            re: a.re * b.re + a.im * b.im,
            im: a.im * b.re - a.re * b.im,
        };
        if a.is_infinite() && b.is_finite() {
            // Only the directions matter, and unscaled parts could overflow.
            let b = b.scale(-b.exponent());
            return naive_numerator(unit_parts(a), b).map(|x| f64::INFINITY * x);
        }
        if a.is_finite() && b.is_infinite() {
            let a = a.scale(-a.exponent());
            return naive_numerator(a, unit_parts(b)).map(|x| 0.0 * x);
        }
        if !a.is_finite() || !b.is_finite() {
            return Self::NAN;
        }
        Self::finite_quotient(a, b)
    }
}

/// The result of a function of complex numbers as an element: complex numbers of type `ty`, or real
/// parts of it.
pub(super) trait IntoScalar {
    fn into_scalar(self, ty: ElementType) -> Scalar;
}
impl IntoScalar for Complex {
    #[inline]
    fn into_scalar(self, ty: ElementType) -> Scalar {
        Scalar::Complex(self.re, self.im).round_to(ty)
    }
}
impl IntoScalar for f64 {
    /// Functions with a real result round it themselves.
    #[inline]
    fn into_scalar(self, _: ElementType) -> Scalar {
        Scalar::Float(self)
    }
}

/// Compares real parts, then imaginary parts; `None` if a part that decides is NaN.
#[inline]
pub(super) fn compare(a: Complex, b: Complex) -> Option<Ordering> {
    match a.re.partial_cmp(&b.re)? {
        Ordering::Equal => a.im.partial_cmp(&b.im),
        decided @ (Ordering::Less | Ordering::Greater) => Some(decided),
    }
}

/// Returns the first operand unless it is `worse`, by real and then by imaginary part; of a part, a
/// NaN is chosen over any number.
///
/// The order of numbers is that of `compare`. XLA:CPU compares real parts only, and XLA's evaluator
/// rejects complex operands.
fn pick(worse: Ordering, a: Complex, b: Complex) -> Complex {
    let part = |x: f64, y: f64| match (x.is_nan(), y.is_nan()) {
        (true, false) => worse.reverse(),
        (false, true) => worse,
        (true, true) | (false, false) => x.partial_cmp(&y).unwrap_or(Ordering::Equal),
    };
    if part(a.re, b.re).then(part(a.im, b.im)) == worse { b } else { a }
}

/// Returns a product, whose parts are sums of two products.
#[inline]
fn product(a: Complex, b: Complex, sum: impl Fn(f64, f64, f64, f64) -> f64) -> Complex {
    Complex { re: sum(a.re, b.re, -a.im, b.im), im: sum(a.re, b.im, a.im, b.re) }
}

/// Infinite parts become 1 and others 0, with their signs.
fn unit_parts(z: Complex) -> Complex {
    z.map(|x| if x.is_infinite() { 1.0_f64 } else { 0.0 }.copysign(x))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "results are compared bit by bit")]
mod tests {
    use super::*;
    use crate::{Direction, Order};
    use crate::{binary, compare, unary};
    use hlo::op::{Binary, Unary};

    /// Real and imaginary part.
    type Parts = (f64, f64);

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    const C64: ElementType = ElementType::C64;
    const C128: ElementType = ElementType::C128;

    fn close(got: f64, expected: f64, ulp: f64) -> bool {
        let same_sign = got.is_sign_negative() == expected.is_sign_negative();
        (got.is_nan() && expected.is_nan())
            || (same_sign && got == expected)
            || got != expected
                && (got - expected).abs() <= ulp * (expected.abs().next_up() - expected.abs())
    }
    #[track_caller]
    fn check(got: Scalar, (re, im): Parts, ulp: f64, of: &str) {
        let Scalar::Complex(got_re, got_im) = got else { panic!("{of} gives {got:?}") };
        let all = close(got_re, re, ulp) && close(got_im, im, ulp);
        assert!(all, "{of}: ({got_re:e}, {got_im:e}) is not ({re:e}, {im:e})");
    }
    #[track_caller]
    fn check1(op: Unary, cases: &[(Parts, Parts)]) {
        for &((re, im), expected) in cases {
            let of = format!("{op:?} ({re}, {im})");
            check(unary(op, C128, Scalar::Complex(re, im)), expected, 0.0, &of);
        }
    }
    #[track_caller]
    fn check2(op: Binary, cases: &[(Parts, Parts, Parts)]) {
        for &(a, b, expected) in cases {
            let of = format!("{op:?} {a:?} {b:?}");
            let (a, b) = (Scalar::Complex(a.0, a.1), Scalar::Complex(b.0, b.1));
            check(binary(op, C128, a, b), expected, 0.0, &of);
        }
    }

    #[test]
    fn functions_of_one_number() {
        // From 300 bits of precision.
        let cases = [
            (Unary::Acos, (1.117_520_149_156_102_6, 1.132_393_631_605_308_3)),
            (Unary::Acosh, (1.132_393_631_605_308_3, -1.117_520_149_156_102_6)),
            (Unary::Asin, (0.453_276_177_638_793_9, -1.132_393_631_605_308_3)),
            (Unary::Asinh, (1.031_718_534_447_780_2, -0.911_738_290_968_487_7)),
            (Unary::Atanh, (0.261_492_138_795_671_9, -0.996_825_126_463_918_6)),
            (Unary::Cosine, (1.381_738_730_634_258_8, 1.091_930_135_553_974_6)),
            (Unary::Cosh, (0.408_242_591_877_968_8, -0.780_365_930_845_853_3)),
            (Unary::Exponential, (0.667_537_446_429_131_6, -2.009_000_454_940_949)),
            (Unary::ExponentialMinusOne, (-0.332_462_553_570_868_4, -2.009_000_454_940_949)),
            (Unary::Log, (0.376_885_901_188_190_1, -1.030_376_826_524_312_5)),
            (Unary::LogPlusOne, (0.765_738_185_482_194_3, -0.620_249_485_982_821_5)),
            (Unary::Logistic, (0.755_376_971_326_547_7, -0.294_714_686_585_531_1)),
            (Unary::Rsqrt, (0.720_741_117_545_205_5, 0.408_076_686_481_503_8)),
            (Unary::Sign, (0.514_495_755_427_526_5, -0.857_492_925_712_544_2)),
            (Unary::Sine, (1.287_222_910_026_491_8, -1.172_106_359_892_702_6)),
            (Unary::Sinh, (0.259_294_854_551_162_8, -1.228_634_524_095_095_5)),
            (Unary::Sqrt, (1.050_651_696_260_784, -0.594_868_882_070_379)),
            (Unary::Tan, (0.160_807_785_916_206_42, -0.975_363_285_031_235_6)),
            (Unary::Tanh, (1.372_607_570_533_783_2, -0.385_795_952_609_750_7)),
        ];
        let z = Scalar::Complex(0.75, -1.25);
        for (op, (re, im)) in cases {
            check(unary(op, C128, z), (re, im), 4.0, &format!("{op:?}"));
            let rounded = Complex { re, im }.into_scalar(C64);
            assert_eq!(unary(op, C64, z), rounded, "{op:?} c64");
        }
    }

    #[test]
    fn accuracy_near_zeros() {
        let tiny = Scalar::Complex(1e-20, 1e-15);
        let expected = (9.999_999_999_5e-21, 1e-15);
        check(unary(Unary::ExponentialMinusOne, C128, tiny), expected, 1.0, "expm1");
        // 2a + b^2 cancels.
        let z = Scalar::Complex(-5e-31, 1e-15);
        let expected = (3.603_718_957_286_821_6e-47, 1e-15);
        check(unary(Unary::LogPlusOne, C128, z), expected, 1.0, "log1p");
        // Next to the unit circle.
        let z = Scalar::Complex(0.6, 0.8);
        let expected = (2.220_446_049_250_313_2e-17, 0.927_295_218_001_612_3);
        check(unary(Unary::Log, C128, z), expected, 1.0, "log");
    }

    #[test]
    fn special_values_of_functions() {
        let pi = std::f64::consts::PI;
        check1(
            Unary::Sqrt,
            &[
                ((-1.0, 0.0), (0.0, 1.0)),
                ((-1.0, -0.0), (0.0, -1.0)),
                ((-0.0, -0.0), (0.0, -0.0)),
                ((NAN, INF), (INF, INF)),
                ((-INF, -1.0), (0.0, -INF)),
                ((INF, -1.0), (INF, -0.0)),
                ((4e300, 0.0), (2e150, 0.0)),
            ],
        );
        check1(
            Unary::Rsqrt,
            &[((0.0, 0.0), (INF, NAN)), ((4.0, 0.0), (0.5, -0.0)), ((-1.0, -0.0), (0.0, 1.0))],
        );
        check1(Unary::LogPlusOne, &[((-1.0, 0.0), (-INF, 0.0)), ((0.0, -0.0), (0.0, -0.0))]);
        check1(
            Unary::Log,
            &[((0.0, 0.0), (-INF, 0.0)), ((-1.0, -0.0), (0.0, -pi)), ((NAN, INF), (INF, NAN))],
        );
        check1(
            Unary::Exponential,
            &[
                ((0.0, -0.0), (1.0, -0.0)),
                ((INF, 0.0), (INF, 0.0)),
                ((-INF, INF), (0.0, 0.0)),
                ((INF, INF), (INF, NAN)),
                ((1000.0, pi), (-INF, INF)),
            ],
        );
        check1(
            Unary::Tanh,
            &[
                ((INF, 1.0), (1.0, 0.0)),
                ((-INF, NAN), (-1.0, 0.0)),
                ((1000.0, 1.0), (1.0, 0.0)),
                ((-0.0, -0.0), (-0.0, -0.0)),
            ],
        );
        check1(Unary::Tan, &[((1.0, INF), (0.0, 1.0)), ((1.0, -1000.0), (0.0, -1.0))]);
        check1(Unary::Sinh, &[((0.0, INF), (0.0, NAN)), ((-INF, 0.0), (-INF, 0.0))]);
        check1(Unary::Cosh, &[((0.0, -0.0), (1.0, -0.0)), ((INF, NAN), (INF, NAN))]);
        check1(Unary::Logistic, &[((INF, NAN), (1.0, 0.0)), ((-1000.0, 0.0), (0.0, 0.0))]);
        check1(
            Unary::Acos,
            &[((2.0, 0.0), (0.0, -1.316_957_896_924_816_6)), ((-INF, 1.0), (pi, -INF))],
        );
        check1(Unary::Asin, &[((1.0, -0.0), (pi / 2.0, -0.0)), ((0.0, NAN), (0.0, NAN))]);
        check1(Unary::Acosh, &[((0.0, 0.0), (0.0, pi / 2.0)), ((-1.0, -0.0), (0.0, -pi))]);
        check1(
            Unary::Atanh,
            &[((1.0, 0.0), (INF, 0.0)), ((2.0, -0.0), (0.549_306_144_334_054_9, -pi / 2.0))],
        );
    }

    #[test]
    fn sign_and_absolute_value() {
        let sign = [
            ((3.0, -4.0), (0.6, -0.8)),
            ((-0.0, 0.0), (0.0, 0.0)),
            ((1.0, NAN), (NAN, NAN)),
            ((INF, 1.0), (NAN, 0.0)),
        ];
        check1(Unary::Sign, &sign);
        let largest = Scalar::Complex(f64::MAX, f64::MAX);
        let diagonal = (0.5_f64.sqrt(), 0.5_f64.sqrt());
        check(unary(Unary::Sign, C128, largest), diagonal, 0.501, "sign");
        for ty in [C64, C128] {
            assert_eq!(unary(Unary::Abs, ty, Scalar::Complex(INF, NAN)), Scalar::Float(INF));
            let z = Scalar::Complex(-3e30, 4e30).round_to(ty);
            let expected = Scalar::Float(5e30).round_to(ty.component());
            assert_eq!(unary(Unary::Abs, ty, z), expected);
        }
    }

    #[test]
    fn products_and_quotients() {
        let tiny = pow2(-537);
        check2(
            Binary::Multiply,
            &[
                ((0.75, -1.25), (-0.5, 2.0), (2.125, 2.125)),
                // C99 recovers infinities that the textbook formula loses.
                ((INF, NAN), (1.0, 1.0), (INF, INF)),
                ((INF, INF), (INF, -INF), (INF, NAN)),
                // Finite numbers: two overflowing products cancel.
                ((1e200, 1e200), (1e200, 1e200), (0.0, INF)),
                // One part overflows, the other is small.
                ((0.0, 1e300), (1e300, -1e-300), (1e300 * 1e-300, INF)),
                ((0.0, 1e300), (NAN, 1e300), (-INF, NAN)),
                ((-0.0, 0.0), (1.0, 0.0), (-0.0, 0.0)),
                // Products of 1.5 and 1 units of a subnormal number.
                ((tiny, tiny), (1.5 * tiny, tiny), (0.0, tiny * 2.0 * tiny)),
            ],
        );
        check2(
            Binary::Divide,
            &[
                ((1.0, 0.0), (0.0, 0.0), (INF, NAN)),
                ((1.0, 2.0), (-0.0, 0.0), (-INF, -INF)),
                ((0.0, 0.0), (0.0, 0.0), (NAN, NAN)),
                ((1.0, 1.0), (INF, NAN), (0.0, 0.0)),
                ((INF, 1.0), (1.0, 1.0), (INF, -INF)),
                ((INF, INF), (INF, INF), (NAN, NAN)),
                ((1e300, 1e300), (2e300, 2e300), (0.5, 0.0)),
                ((f64::MAX, f64::MAX), (1.0, 1.0), (f64::MAX, 0.0)),
            ],
        );
        let (z, w) = (Scalar::Complex(0.75, -1.25), Scalar::Complex(-0.5, 2.0));
        let quotient = (-0.676_470_588_235_294_2, -0.205_882_352_941_176_46);
        check(binary(Binary::Divide, C128, z, w), quotient, 0.501, "divide");
        let angle = (2.533_193_208_608_293, -0.140_867_339_312_853_17);
        check(binary(Binary::Atan2, C128, z, w), angle, 4.0, "atan2");
        let power = (1.933_262_638_388_371, 6.209_306_550_589_686);
        check(binary(Binary::Power, C128, z, w), power, 8.0, "power");
    }

    #[test]
    fn products_of_c64_round_once() {
        // (1 + 2^-12)^2 + 2^-60 lies just above the midpoint 1 + 2^-11 + 2^-24 of two f32, out of
        // reach of f64.
        let (x, y) = (1.0 + 2_f64.powi(-12), 2_f64.powi(-30));
        let product = binary(Binary::Multiply, C64, Scalar::Complex(x, -y), Scalar::Complex(x, y));
        let re = 1.0 + 2_f64.powi(-11) + 2_f64.powi(-23);
        check(product, (re, 0.0), 0.0, "c64 product");
    }

    #[test]
    fn powers() {
        check2(
            Binary::Power,
            &[
                ((0.0, 0.0), (0.0, 0.0), (1.0, 0.0)),
                ((NAN, 1.0), (0.0, 0.0), (1.0, 0.0)),
                ((1.0, 0.0), (NAN, INF), (1.0, 0.0)),
                ((0.0, 0.0), (2.0, 5.0), (0.0, 0.0)),
                ((0.0, 0.0), (-1.0, 0.0), (INF, NAN)),
                ((INF, 0.0), (2.0, 0.0), (INF, 0.0)),
                ((INF, 0.0), (-2.0, 0.0), (0.0, 0.0)),
                ((-1.0, 0.0), (2.0, 0.0), (1.0, 0.0)),
                ((2.0, 0.0), (10.0, 0.0), (1024.0, 0.0)),
            ],
        );
    }

    #[test]
    fn angles_of_real_numbers_are_real() {
        let pi = std::f64::consts::PI;
        check2(
            Binary::Atan2,
            &[
                ((0.0, 0.0), (-1.0, 0.0), (pi, -0.0)),
                ((-1.0, 0.0), (0.0, 0.0), (-pi / 2.0, -0.0)),
                ((2.0, 0.0), (2.0, 0.0), (pi / 4.0, -0.0)),
                ((0.0, 0.0), (0.0, 0.0), (NAN, NAN)),
            ],
        );
    }

    #[test]
    fn order_is_lexicographic() {
        let test = |direction, a: Parts, b: Parts| {
            let (a, b) = (Scalar::Complex(a.0, a.1), Scalar::Complex(b.0, b.1));
            compare(direction, Order::Float, C64, a, b)
        };
        assert!(test(Direction::Lt, (1.0, 9.0), (2.0, 0.0)));
        assert!(test(Direction::Gt, (1.0, 6.0), (1.0, 5.0)));
        assert!(test(Direction::Eq, (0.0, -0.0), (-0.0, 0.0)));
        assert!(test(Direction::Le, (1.0, NAN), (2.0, 0.0)));
        assert!(!test(Direction::Le, (1.0, NAN), (1.0, 0.0)));
        assert!(test(Direction::Ne, (1.0, NAN), (1.0, NAN)));
        check2(
            Binary::Maximum,
            &[
                ((1.0, 5.0), (1.0, 6.0), (1.0, 6.0)),
                ((2.0, 0.0), (1.0, NAN), (2.0, 0.0)),
                ((2.0, NAN), (2.0, 3.0), (2.0, NAN)),
                ((5.0, NAN), (NAN, 1.0), (NAN, 1.0)),
            ],
        );
        check2(Binary::Minimum, &[((1.0, 5.0), (1.0, 6.0), (1.0, 5.0))]);
    }
}
