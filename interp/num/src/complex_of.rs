//! Complex numbers of any [`Real`], and the interface that real and complex numbers share.
use super::complex::Complex;
use super::double_double::{DoubleDouble, Real};
use super::exact::exponent;
use super::single::Single;
use hlo::{Class, ElementType, Scalar};
use std::ops::{Add, Mul, Neg, Sub};

/// A complex number of two [`Real`] parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComplexOf<R> {
    /// The real part.
    pub re: R,
    /// The imaginary part.
    pub im: R,
}

impl<R: Real> ComplexOf<R> {
    /// Returns the complex conjugate.
    #[inline]
    pub fn conj(self) -> Self {
        Self { re: self.re, im: -self.im }
    }
    /// Returns `self * i`.
    #[inline]
    pub fn times_i(self) -> Self {
        Self { re: -self.im, im: self.re }
    }
    /// Returns the number with both parts divided by `x`.
    #[inline]
    pub fn over(self, x: R) -> Self {
        Self { re: self.re / x, im: self.im / x }
    }
}
impl<R: Real> Add for ComplexOf<R> {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}
impl<R: Real> Sub for ComplexOf<R> {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}
impl<R: Real> Mul for ComplexOf<R> {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}
impl<R: Real> Neg for ComplexOf<R> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { re: -self.re, im: -self.im }
    }
}

/// A real or complex number of a matrix.
pub trait Field:
    Copy + Send + Sync + Sub<Output = Self> + Mul<Output = Self> + Add<Output = Self>
{
    /// The type of the parts.
    type Real: Real;
    /// 0.
    const ZERO: Self;
    /// Not a number, the real part of it.
    fn nan() -> Self;
    /// Returns the number in an element.
    fn of(element: Scalar) -> Self;
    /// Returns the element nearest to it.
    fn element(self) -> Scalar;
    /// Returns the complex conjugate.
    fn conj(self) -> Self;
    /// Returns the real part.
    fn re(self) -> Self::Real;
    /// Returns the number divided by a real number.
    fn over(self, x: Self::Real) -> Self;
    /// Returns the quotient.
    fn quotient(self, other: Self) -> Self;

    /// Returns `self + a * b`, one of many steps that end with [`Field::normalized`].
    fn add_product(self, a: Self, b: Self) -> Self;
    /// Returns the normalized result of such steps.
    fn normalized(self) -> Self;

    /// Returns `a[0] * b[0] + a[1] * b[1] + ...`, in four independent sums.
    fn dot(a: &[Self], b: &[Self]) -> Self {
        let mut sums = [Self::ZERO; 4];
        let (a, a_rest) = a.as_chunks::<4>();
        let (b, b_rest) = b.as_chunks::<4>();
        for (a, b) in a.iter().zip(b) {
            for i in 0..4 {
                sums[i] = sums[i].add_product(a[i], b[i]);
            }
        }
        for (sum, (&a, &b)) in sums.iter_mut().zip(a_rest.iter().zip(b_rest)) {
            *sum = sum.add_product(a, b);
        }
        let [a, b, c, d] = sums.map(Self::normalized);
        (a + b) + (c + d)
    }
}

macro_rules! real_field {
    ($ty:ty, $zero:expr) => {
        impl Field for $ty {
            type Real = $ty;
            const ZERO: Self = $zero;
            fn nan() -> Self {
                f64::NAN.into()
            }
            #[inline]
            fn of(element: Scalar) -> Self {
                element.as_f64().into()
            }
            #[inline]
            fn element(self) -> Scalar {
                Scalar::Float(self.rounded())
            }
            fn conj(self) -> Self {
                self
            }
            fn re(self) -> Self {
                self
            }
            fn over(self, x: Self) -> Self {
                self / x
            }
            fn quotient(self, other: Self) -> Self {
                self / other
            }
            #[inline]
            fn add_product(self, a: Self, b: Self) -> Self {
                Real::add_product(self, a, b)
            }
            #[inline]
            fn normalized(self) -> Self {
                Real::normalized(self)
            }
        }
    };
}
real_field!(f64, 0.0);
real_field!(DoubleDouble, DoubleDouble::ZERO);
real_field!(Single, Single::ZERO);

impl<R: Real + Field> Field for ComplexOf<R> {
    type Real = R;
    const ZERO: Self = Self { re: R::ZERO, im: R::ZERO };
    fn nan() -> Self {
        Self { re: R::nan(), im: R::ZERO }
    }
    #[inline]
    fn of(element: Scalar) -> Self {
        let im = if let Scalar::Complex(_, im) = element { im } else { 0.0 };
        Self { re: element.as_f64().into(), im: im.into() }
    }
    #[inline]
    fn element(self) -> Scalar {
        Scalar::Complex(self.re.rounded(), self.im.rounded())
    }
    fn conj(self) -> Self {
        ComplexOf::conj(self)
    }
    fn re(self) -> R {
        self.re
    }
    fn over(self, x: R) -> Self {
        ComplexOf::over(self, x)
    }
    #[inline]
    fn add_product(self, a: Self, b: Self) -> Self {
        Self {
            re: Real::add_product(Real::add_product(self.re, a.re, b.re), -a.im, b.im),
            im: Real::add_product(Real::add_product(self.im, a.re, b.im), a.im, b.re),
        }
    }
    #[inline]
    fn normalized(self) -> Self {
        Self { re: Real::normalized(self.re), im: Real::normalized(self.im) }
    }
    fn quotient(self, other: Self) -> Self {
        let plain = |z: Self| Complex { re: z.re.rounded(), im: z.im.rounded() };
        let size = plain(other).size();
        // Zeros, infinities and NaN follow the elementwise division.
        if size == 0.0 || !size.is_finite() || !plain(self).is_finite() {
            let z = Complex::div(plain(self), plain(other));
            return Self { re: z.re.into(), im: z.im.into() };
        }
        // Near 1, so that the square neither over- nor underflows.
        let n = exponent(size);
        let near_one = Self { re: other.re.scaled(-n), im: other.im.scaled(-n) };
        let norm = near_one.re * near_one.re + near_one.im * near_one.im;
        let z = (self * near_one.conj()).over(norm);
        Self { re: z.re.scaled(-n), im: z.im.scaled(-n) }
    }
}

/// A computation in one of the four number types, which the element type selects.
pub trait InField {
    /// The result.
    type Output;
    /// Runs the computation in numbers `F`.
    fn run<F: Field>(self) -> Self::Output;
}

/// Runs a computation in numbers that are wide enough for elements of this type.
#[inline]
pub fn in_field<J: InField>(ty: ElementType, job: J) -> J::Output {
    match (ty.class() == Class::Complex, ty.component() == ElementType::F64) {
        (false, false) => job.run::<f64>(),
        (false, true) => job.run::<DoubleDouble>(),
        (true, false) => job.run::<ComplexOf<f64>>(),
        (true, true) => job.run::<ComplexOf<DoubleDouble>>(),
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values are compared")]
mod tests {
    use super::*;

    #[test]
    fn quotients_neither_overflow_nor_lose_their_zeros() {
        let z = |re: f64, im: f64| ComplexOf::<DoubleDouble> { re: re.into(), im: im.into() };
        let parts = |z: ComplexOf<DoubleDouble>| (z.re.rounded(), z.im.rounded());
        assert_eq!(parts(z(1e300, 1e300).quotient(z(1e300, 1e300))), (1.0, 0.0));
        assert_eq!(parts(z(4.0, 2.0).quotient(z(0.0, 2.0))), (1.0, -2.0));
        assert_eq!(parts(z(1.0, -1.0).quotient(z(0.0, 0.0))), (f64::INFINITY, f64::NEG_INFINITY));
        assert!(parts(z(0.0, 0.0).quotient(z(0.0, 0.0))).0.is_nan());
    }

    #[test]
    fn dot_takes_every_term() {
        let a: Vec<f64> = (1..=7).map(f64::from).collect();
        assert_eq!(f64::dot(&a, &a), 140.0);
        assert_eq!(f64::dot(&a[..3], &a[..3]), 14.0);
    }
}
