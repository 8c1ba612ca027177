//! Inverse trigonometric and hyperbolic functions of complex numbers.
//!
//! The formulas are Kahan's ("Branch cuts for complex elementary functions"): separate square roots
//! of 1 - z and 1 + z, whose products have terms of one sign. Branch cuts and signs of zero are
//! those of C99.
//!
//! Roots, sums and products are computed in twice the precision, with relative errors below 2^-96.
//! What counts are three roundings at the end: that of the argument of a real function, by u =
//! 2^-53 relatively, that of the function, and that of the result. None of these functions enlarges
//! a relative error: |x f'(x) / f(x)| is at most 1 for asinh, log1p of numbers above 0, and the
//! angle of a point as a function of a coordinate. A relative error of u is at most one ulp.
use super::angle::atan2;
use super::complex::Complex;
use super::complex_of::ComplexOf;
use super::complex_root::Root;
use super::double_double::{DoubleDouble, Real};
use super::exact::{exponent, pow2, scale};
use core_math::{asinh, hypot, log, log1p};
use std::f64::consts::{FRAC_PI_2, LN_2};

/// Below it the next term of a series of odd powers is less than half an ulp of each part.
const SMALL: f64 = 1.0 / 134_217_728.0;

/// Above it 1 + z is z, and products of roots would come near overflow.
fn large() -> f64 {
    pow2(500)
}

/// Returns the angle of the point (x, y), within u of itself.
///
/// The angle of the first numbers is correctly rounded; the derivative by the second ones decides
/// the rest.
pub(super) fn angle(y: DoubleDouble, x: DoubleDouble) -> DoubleDouble {
    let n = exponent(x.hi.abs().max(y.hi.abs()));
    let (scaled_y, scaled_x) = (scale(y.hi, -n), scale(x.hi, -n));
    let norm = scaled_x * scaled_x + scaled_y * scaled_y;
    let rest = (scale(y.lo, -n) * scaled_x - scale(x.lo, -n) * scaled_y) / norm;
    let angle = atan2(y.hi, x.hi);
    // The rest of a zero or an infinity is none, and the sum could lose the sign of a zero.
    if rest == 0.0 || !rest.is_finite() { angle.into() } else { DoubleDouble::sum(angle, rest) }
}

impl Complex {
    /// Returns the principal roots of 1 - z and 1 + z.
    fn roots(self) -> [ComplexOf<DoubleDouble>; 2] {
        let Self { re: a, im: b } = self;
        [-1.0, 1.0].map(|sign| {
            let (re, im) = (DoubleDouble::sum(1.0, sign * a), sign * b);
            if re.hi == 0.0 && im == 0.0 {
                return ComplexOf { re: DoubleDouble::ZERO, im: im.into() };
            }
            Root::new(re, im).principal(im)
        })
    }

    /// ln |2z| for |z| above 2^500: 1.51 ulp, since an error of u in the absolute value is 1/346 of
    /// the result.
    fn log_twice(self) -> f64 {
        // Scaled because the absolute value may overflow.
        let z = self.scale(-2);
        log(hypot(z.re, z.im)) + 3.0 * LN_2
    }

    /// 1.51 ulp: the angle of (the real part of the product of the roots, a), and asinh of an
    /// imaginary part.
    pub(super) fn asin(self) -> Self {
        let Self { re: a, im: b } = self;
        if self.is_nan() {
            return self.asin_of_nan();
        }
        if self.size() < SMALL {
            return self;
        }
        if self.size() > large() {
            return Self { re: atan2(a, b.abs()), im: self.log_twice().copysign(b) };
        }
        let [below, above] = self.roots();
        let re = (below * above).re;
        let im = (below.conj() * above).im;
        Self { re: atan2(a, re.rounded()), im: asinh(im.rounded()).copysign(b) }
    }

    fn asin_of_nan(self) -> Self {
        let Self { re: a, im: b } = self;
        if a == 0.0 {
            Self { re: a, im: f64::NAN }
        } else if self.is_infinite() {
            // The absolute value is known, the angle is not.
            Self { re: f64::NAN, im: f64::INFINITY.copysign(b) }
        } else {
            Self::NAN
        }
    }

    /// 1.51 ulp, likewise.
    pub(super) fn acos(self) -> Self {
        let Self { re: a, im: b } = self;
        if self.is_nan() {
            return if a == 0.0 {
                Self { re: FRAC_PI_2, im: f64::NAN }
            } else if self.is_infinite() {
                Self { re: f64::NAN, im: f64::INFINITY.copysign(-b) }
            } else {
                Self::NAN
            };
        }
        if self.size() > large() {
            return Self { re: atan2(b.abs(), a), im: self.log_twice().copysign(-b) };
        }
        let [below, above] = self.roots();
        let re = angle(below.re, above.re).rounded();
        let im = (above.conj() * below).im;
        Self { re: 2.0 * re, im: asinh(im.rounded()).copysign(-b) }
    }

    /// asinh(z) = -i asin(iz)
    pub(super) fn asinh(self) -> Self {
        self.times_i().asin().over_i()
    }

    /// acosh(z) = i acos(z) or -i acos(z), whichever has a real part of at least 0.
    pub(super) fn acosh(self) -> Self {
        let acos = self.acos();
        if self.im.is_sign_negative() { acos.over_i() } else { acos.times_i() }
    }

    /// 1.51 ulp: ln(1 + 4 |a| / |1 - z|^2) / 4, and half the angle of (1 - |z|^2, 2b).
    pub(super) fn atanh(self) -> Self {
        let Self { re: a, im: b } = self;
        if a.is_infinite() || b.is_infinite() {
            let im = if b.is_nan() { b } else { FRAC_PI_2.copysign(b) };
            return Self { re: 0.0_f64.copysign(a), im };
        }
        if self.is_nan() {
            return if a == 0.0 { Self { re: a, im: f64::NAN } } else { Self::NAN };
        }
        if self.size() < SMALL {
            return self;
        }
        if self.size() > large() {
            // 1/z, rotated by a right angle.
            return Self { re: self.inverse_re(), im: FRAC_PI_2.copysign(b) };
        }
        // The function is odd; on the right half plane the logarithm is that of a number above 1.
        let x = a.abs();
        let to_one = DoubleDouble::sum(1.0, -x);
        let distance = hypot(to_one.hi, b);
        let re = if distance < pow2(-400) && distance > 0.0 {
            // z is so close to 1 that 1 + z is 2, and the square below would underflow. The
            // logarithm is below -277, and an error of u in the distance does not count.
            0.5 * (LN_2 - log(distance))
        } else {
            let norm = to_one * to_one + DoubleDouble::product(b, b);
            0.25 * log1p((DoubleDouble::from(4.0 * x) / norm).rounded())
        };
        let cosine = to_one * DoubleDouble::sum(1.0, x) - DoubleDouble::product(b, b);
        Self { re: re.copysign(a), im: 0.5 * atan2(2.0 * b, cosine.rounded()) }
    }
}
