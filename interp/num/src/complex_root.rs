//! Absolute values, square roots and quotients of complex numbers in twice the precision.
//!
//! The relative errors of the operations of [`DoubleDouble`] add up to less than 64 u^2 in each
//! function of this file, u = 2^-53: nothing cancels but exact products, whose sum has a relative
//! error of its own. Each part of a result is rounded once, so that it is within 0.5 ulp + 2^-46
//! ulp, also if it is subnormal.
use super::complex::Complex;
use super::complex_of::ComplexOf;
use super::double_double::{DoubleDouble, Real};
use super::exact::{exponent, pow2, scale};
use super::scaled::Scaled;

/// The absolute value and the square root of a finite number that is not zero.
pub(super) struct Root {
    /// Whether the real part of the number is negative.
    is_left: bool,
    /// The absolute value of the number.
    pub(super) norm: Scaled,
    /// The larger part of the root, which is positive.
    large: Scaled,
    /// The other part, with the sign of the imaginary part.
    small: Scaled,
}

impl Root {
    pub(super) fn new(re: DoubleDouble, im: f64) -> Self {
        // An even power of two takes the larger part near 1. Where that costs the smaller part
        // bits, the square of it does not count.
        let n = exponent(re.hi.abs().max(im.abs()));
        let n = n - n.rem_euclid(2);
        let (x, y) = (re.scaled(-n), scale(im, -n));
        let is_left = x.hi < 0.0;
        let norm = (x * x + DoubleDouble::product(y, y)).sqrt();
        let large = ((if is_left { -x } else { x } + norm).times_power(0.5)).sqrt();
        let im = Scaled::of(im);
        let small = Scaled { value: im.value / large, exponent: im.exponent - 1 - n / 2 };
        let scaled = |value, exponent| Scaled { value, exponent };
        Self { is_left, norm: scaled(norm, n), large: scaled(large, n / 2), small }
    }
    /// Returns the absolute values of the real and the imaginary part of the root, after a function
    /// of each.
    fn parts<T>(&self, f: impl Fn(Scaled) -> T) -> [T; 2] {
        let small = if self.small.value.hi.is_sign_negative() {
            Scaled { value: -self.small.value, exponent: self.small.exponent }
        } else {
            self.small
        };
        let parts = if self.is_left { [small, self.large] } else { [self.large, small] };
        parts.map(f)
    }
    /// Returns the principal root, on the side of the cut that the sign of the imaginary part `im`
    /// selects. Parts far below 2^-900 lose bits.
    pub(super) fn principal(&self, im: f64) -> ComplexOf<DoubleDouble> {
        let [re, size] = self.parts(Scaled::unscaled);
        ComplexOf { re, im: if im.is_sign_negative() { -size } else { size } }
    }
}

impl Complex {
    /// Returns the root with a real part of at least +0, on the side of the cut that the sign of
    /// the imaginary part selects; within 0.501 ulp.
    pub(super) fn sqrt(self) -> Self {
        let Self { re: a, im: b } = self;
        if self.is_zero() {
            return Self { re: 0.0, im: b };
        }
        if b.is_infinite() {
            return Self { re: f64::INFINITY, im: b };
        }
        if a.is_infinite() {
            let other = if b.is_nan() { b } else { 0.0 };
            return if a > 0.0 {
                Self { re: a, im: other.copysign(b) }
            } else {
                Self { re: other.abs(), im: f64::INFINITY.copysign(b) }
            };
        }
        if self.is_nan() {
            return Self::NAN;
        }
        let [re, im] = Root::new(a.into(), b).parts(Scaled::to_f64);
        Self { re, im: im.copysign(b) }
    }

    /// Returns the conjugate of the root divided by the absolute value, within 0.501 ulp.
    pub(super) fn rsqrt(self) -> Self {
        if self.is_zero() || !self.is_finite() {
            return Self::ONE.div(self.sqrt());
        }
        let root = Root::new(self.re.into(), self.im);
        let [re, im] = root.parts(|part| part.over(root.norm).to_f64());
        Self { re, im: im.copysign(-self.im) }
    }

    /// z / |z|, within 0.501 ulp; zero for zero, and NaN in both parts if one is NaN.
    pub(super) fn sign(self) -> Self {
        if self.is_zero() {
            return Self::ZERO;
        }
        if self.is_nan() {
            return Self::NAN;
        }
        if self.is_infinite() {
            return self.map(|x| x / f64::INFINITY);
        }
        let norm = Root::new(self.re.into(), self.im).norm;
        self.map(|x| Scaled::of(x).over(norm).to_f64())
    }

    /// Returns the quotient of finite numbers, of which the second is not zero: within 0.501 ulp.
    pub(super) fn finite_quotient(a: Self, b: Self) -> Self {
        let is_moderate = |x: f64| x == 0.0 || (pow2(-200)..pow2(200)).contains(&x.abs());
        if [a.re, a.im, b.re, b.im].into_iter().all(is_moderate) {
            // The same without scaling.
            let norm = DoubleDouble::products(b.re, b.re, b.im, b.im);
            let part = |x, y| (DoubleDouble::products(x, b.re, y, b.im) / norm).rounded();
            return Self { re: part(a.re, a.im), im: part(a.im, -a.re) };
        }
        let norm = Scaled::products(b.re, b.re, b.im, b.im);
        let part = |x, y| Scaled::products(x, b.re, y, b.im).over(norm).to_f64();
        Self { re: part(a.re, a.im), im: part(a.im, -a.re) }
    }

    /// 1 / (the square of the absolute value) times the real part, of a finite number that is not
    /// zero.
    pub(super) fn inverse_re(self) -> f64 {
        let norm = Root::new(self.re.into(), self.im).norm;
        Scaled::of(self.re).over(norm.times(norm)).to_f64()
    }
}
