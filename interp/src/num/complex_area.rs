//! Inverse trigonometric and hyperbolic functions of complex numbers.
//!
//! The formulas are Kahan's ("Branch cuts for complex elementary functions"): separate square roots of 1 - z and 1 + z,
//! whose products have terms of one sign. Branch cuts and signs of zero are those of C99.
use super::angle::atan2;
use super::complex::Complex;
use super::exact::{pow2, sum_of_products};
use core_math::{asinh, hypot, log1p};
use std::f64::consts::{FRAC_PI_2, LN_2};

/// Below it the next term of the series is less than half an ulp.
const SMALL: f64 = 1.0 / 134_217_728.0;

/// Above it 1 + z is z, and products of roots would come near overflow.
fn large() -> f64 {
    pow2(500)
}

impl Complex {
    /// Returns the principal roots of 1 - z and 1 + z.
    fn roots(self) -> (Self, Self) {
        let below = Self { re: 1.0 - self.re, im: -self.im }.sqrt();
        let above = Self { re: 1.0 + self.re, im: self.im }.sqrt();
        (below, above)
    }

    /// ln |2z|.
    fn log_twice(self) -> f64 {
        self.log().re + LN_2
    }

    /// 6 ulp.
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
        let (below, above) = self.roots();
        let (re, _) = sum_of_products(below.re, above.re, -below.im, above.im);
        let (im, _) = sum_of_products(below.re, above.im, -below.im, above.re);
        Self { re: atan2(a, re), im: asinh(im).copysign(b) }
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

    /// 6 ulp.
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
        let (below, above) = self.roots();
        let (im, _) = sum_of_products(above.re, below.im, -above.im, below.re);
        Self { re: 2.0 * atan2(below.re, above.re), im: asinh(im).copysign(-b) }
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

    /// 5 ulp.
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
            let size = hypot(0.5 * a, 0.5 * b);
            return Self { re: 0.25 * a / size / size, im: FRAC_PI_2.copysign(b) };
        }
        // The function is odd; on the right half plane the logarithm is that of a number above 1.
        let x = a.abs();
        let distance = hypot(1.0 - x, b);
        let re = if distance < pow2(-200) && distance > 0.0 {
            // z is so close to 1 that 1 + z is 2, and the square below would underflow.
            0.5 * (LN_2 - core_math::log(distance))
        } else {
            let (norm, _) = sum_of_products(1.0 - x, 1.0 - x, b, b);
            0.25 * log1p(4.0 * x / norm)
        };
        let (cosine, _) = sum_of_products(1.0 - x, 1.0 + x, -b, b);
        Self { re: re.copysign(a), im: 0.5 * atan2(2.0 * b, cosine) }
    }
}
