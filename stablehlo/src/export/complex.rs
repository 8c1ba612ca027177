//! Functions of complex numbers that StableHLO lacks, from those of their parts.
//!
//! The formulas are Kahan's ("Branch cuts for complex elementary functions"): the roots of 1 - z
//! and 1 + z apart, whose products have terms of one sign, so that nothing cancels. What is beyond
//! the square root of the largest number has formulas without squares. Infinities and signs of zero
//! are those of C99.
use super::elementary::{is_large, real_asinh, real_cosh, real_sinh, with_sign};
use builder::Value;
use hlo::ElementType;
use std::f64::consts::{FRAC_PI_2, LN_2};

/// A complex number as its parts.
#[derive(Clone, Copy)]
pub(super) struct Parts<'b> {
    re: Value<'b>,
    im: Value<'b>,
}

impl<'b> Parts<'b> {
    /// Returns the parts of a complex number; `None` of a real one.
    pub(super) fn of(x: Value<'b>) -> Option<Self> {
        let is_complex = x.element_type().is_ok_and(ElementType::is_complex);
        is_complex.then(|| Self { re: x.real(), im: x.imag() })
    }
    /// Returns the complex number.
    pub(super) fn value(self) -> Value<'b> {
        self.re.complex(self.im)
    }
    /// Returns the product with i.
    fn times_i(self) -> Self {
        Self { re: -self.im, im: self.re }
    }
    /// Returns the product with -i.
    fn over_i(self) -> Self {
        Self { re: self.im, im: -self.re }
    }
    /// Returns one of two numbers.
    fn select(on_true: Self, on_false: Self, predicate: Value<'b>) -> Self {
        Self {
            re: predicate.select(on_true.re, on_false.re),
            im: predicate.select(on_true.im, on_false.im),
        }
    }
    fn abs(self) -> Value<'b> {
        self.value().abs()
    }
    /// Returns the principal roots of 1 - z and 1 + z.
    fn roots(self) -> [Self; 2] {
        let Self { re, im } = self;
        // A difference of complex numbers would lose the sign of a zero.
        [Self { re: 1.0 - re, im: -im }, Self { re: re + 1.0, im }].map(|z| {
            let root = z.value().sqrt();
            Self { re: root.real(), im: root.imag() }
        })
    }
    /// Returns whether a part is so large that its square may be infinite.
    fn is_large(self) -> Value<'b> {
        is_large(self.re.abs()).or(is_large(self.im.abs()))
    }
    /// Returns ln |2z|.
    fn log_twice(self) -> Value<'b> {
        self.abs().log() + LN_2
    }
}

/// Returns whether the sign bit of a number is set, of -0 too.
fn is_negative(x: Value<'_>) -> Value<'_> {
    let word = match x.element_type() {
        Ok(ElementType::F64) => ElementType::S64,
        Ok(_) | Err(_) => ElementType::S32,
    };
    x.bitcast_convert_type(word).lt(0i64)
}
/// Returns a positive number with the sign of another.
fn copy_sign<'b>(magnitude: Value<'b>, sign: Value<'b>) -> Value<'b> {
    is_negative(sign).select(-magnitude, magnitude)
}

pub(super) fn asin(z: Parts<'_>) -> Parts<'_> {
    let [below, above] = z.roots();
    let near = Parts {
        re: z.re.atan2(below.re * above.re - below.im * above.im),
        im: real_asinh(below.re * above.im - below.im * above.re),
    };
    let far = Parts { re: z.re.atan2(z.im.abs()), im: copy_sign(z.log_twice(), z.im) };
    Parts::select(far, near, z.is_large())
}
pub(super) fn acos(z: Parts<'_>) -> Parts<'_> {
    let [below, above] = z.roots();
    let near = Parts {
        re: below.re.atan2(above.re) * 2.0,
        im: real_asinh(above.re * below.im - above.im * below.re),
    };
    let far = Parts { re: z.im.abs().atan2(z.re), im: copy_sign(z.log_twice(), -z.im) };
    Parts::select(far, near, z.is_large())
}
/// asinh(z) = -i asin(iz)
pub(super) fn asinh(z: Parts<'_>) -> Parts<'_> {
    asin(z.times_i()).over_i()
}
/// acosh(z) is i acos(z) or -i acos(z): the one with a real part of at least 0, on whichever side
/// of the cut of acos a backend computes.
pub(super) fn acosh(z: Parts<'_>) -> Parts<'_> {
    let acos = acos(z);
    Parts { re: acos.im.abs(), im: copy_sign(acos.re, z.im) }
}
/// ln(1 + 4 |a| / |1 - z|^2) / 4, and half the angle of (1 - |z|^2, 2b).
pub(super) fn atanh(z: Parts<'_>) -> Parts<'_> {
    let x = z.re.abs();
    let to_one = Parts { re: 1.0 - x, im: z.im };
    let distance = to_one.abs();
    // Where the square of the distance to 1 underflows, 1 + z is 2.
    let least = match x.element_type() {
        Ok(ElementType::F64) => 1e-150,
        Ok(_) | Err(_) => 1e-18,
    };
    let norm = to_one.re * to_one.re + z.im * z.im;
    let re =
        distance.lt(least).select((LN_2 - distance.log()) * 0.5, (x * 4.0 / norm).log1p() * 0.25);
    let cosine = to_one.re * (x + 1.0) - z.im * z.im;
    let near = Parts { re: with_sign(re, z.re), im: (z.im * 2.0).atan2(cosine) * 0.5 };
    let right_angle = z.im.full_like(FRAC_PI_2);
    // 1/z, rotated by a right angle.
    let size = z.abs();
    let inverse = size.is_finite().select(x / size / size, x.zeros_like());
    let far = Parts { re: copy_sign(inverse, z.re), im: copy_sign(right_angle, z.im) };
    Parts::select(far, near, z.is_large())
}
pub(super) fn cosh(z: Parts<'_>) -> Parts<'_> {
    let im = real_sinh(z.re) * z.im.sin();
    // An infinity times 0 is 0 here.
    let zero = copy_sign(z.im, z.re);
    Parts { re: real_cosh(z.re) * z.im.cos(), im: z.im.eq(0.0).select(zero, im) }
}
pub(super) fn sinh(z: Parts<'_>) -> Parts<'_> {
    let im = real_cosh(z.re) * z.im.sin();
    Parts { re: real_sinh(z.re) * z.im.cos(), im: z.im.eq(0.0).select(z.im, im) }
}
