//! Complex exponential, logarithm and hyperbolic functions.
//!
//! Signs of zero and the results for infinities and NaN are those of C99's annex G.
use super::angle::atan2;
use super::complex::Complex;
use super::double_double::DoubleDouble;
use super::exact::{pow2, sum_of_products, two_product, two_sum};
use core_math::{cos, cosh, exp, expm1, hypot, log, log1p, sin, sinh, tanh};
use std::f64::consts::{FRAC_PI_2, LN_2, PI};

/// Below it, exp neither overflows nor becomes subnormal.
const EXP_RANGE: f64 = 708.0;
/// From here on, tanh is 1 in f64.
const TANH_IS_ONE: f64 = 20.0;

/// exp(a) * c, where the product may be in range when exp(a) is not; 1.5 ulp.
fn exp_times(a: f64, c: f64) -> f64 {
    if a.abs() <= EXP_RANGE { exp(a) * c } else { far_exp_times(a, 1.0, c) }
}
/// exp(a) * `scale` * c, where exp(a) is out of range and the product may be in it. `c` may be the smallest f64, which
/// `scale` must not meet first.
fn far_exp_times(a: f64, scale: f64, c: f64) -> f64 {
    let half = exp(a / 2.0);
    half * c * (half * scale)
}
/// sinh(a) * c, likewise.
fn sinh_times(a: f64, c: f64) -> f64 {
    if a.abs() <= EXP_RANGE {
        sinh(a) * c
    } else {
        far_exp_times(a.abs(), 0.5, c) * 1.0_f64.copysign(a)
    }
}
/// cosh(a) * c, likewise.
fn cosh_times(a: f64, c: f64) -> f64 {
    if a.abs() <= EXP_RANGE { cosh(a) * c } else { far_exp_times(a.abs(), 0.5, c) }
}

/// ln sqrt(1 + `c` + `x`^2 + `y`^2).
///
/// The sum may cancel down to the rounding errors of its products, so these are kept in twice the precision.
fn half_log1p(c: f64, x: f64, y: f64) -> f64 {
    let ((p, p_error), (q, q_error)) = (two_product(x, x), two_product(y, y));
    let (first, first_error) = two_sum(c, p);
    let (main, second_error) = two_sum(first, q);
    let errors = DoubleDouble::sum(first_error, second_error) + DoubleDouble::sum(p_error, q_error);
    let DoubleDouble { hi, lo } = DoubleDouble::from(main) + errors;
    // If the rest is zero, the sum could only lose the sign of a zero, and at -1 log1p has no derivative.
    if lo == 0.0 { 0.5 * log1p(hi) } else { 0.5 * (log1p(hi) + lo / (1.0 + hi)) }
}

impl Complex {
    /// 2.5 ulp.
    pub(super) fn exp(self) -> Self {
        let Self { re: a, im: b } = self;
        if b == 0.0 {
            return Self { re: exp(a), im: b };
        }
        if !b.is_finite() && a.is_infinite() {
            return if a < 0.0 {
                Self { re: 0.0, im: 0.0_f64.copysign(b) }
            } else {
                Self { re: f64::INFINITY, im: f64::NAN }
            };
        }
        Self { re: exp_times(a, cos(b)), im: exp_times(a, sin(b)) }
    }

    /// exp(z) - 1: 3 ulp in the imaginary part, 4 in the real part unless its two terms cancel, which they do near the
    /// curve exp(a) cos(b) = 1 away from zero only; the error is then 4 ulp of the larger term.
    pub(super) fn expm1(self) -> Self {
        let Self { re: a, im: b } = self;
        if b == 0.0 {
            return Self { re: expm1(a), im: b };
        }
        let exp = self.exp();
        if a.abs() > 0.7 || !self.is_finite() {
            return Self { re: exp.re - 1.0, im: exp.im };
        }
        // exp(a) cos(b) - 1 = expm1(a) cos(b) - (1 - cos(b))
        let half_sine = sin(0.5 * b);
        let (re, _) = sum_of_products(expm1(a), cos(b), -2.0 * half_sine, half_sine);
        Self { re, im: exp.im }
    }

    /// ln |z|, within 2 ulp: near |z| = 1 from |z|^2 - 1 in twice the precision.
    fn log_abs(self) -> f64 {
        let (x, y) = (self.size(), self.re.abs().min(self.im.abs()));
        let size = hypot(self.re, self.im);
        if (0.5..=2.0).contains(&size) {
            half_log1p(-1.0, x, y)
        } else if size.is_normal() || !self.is_finite() || self.is_zero() {
            log(size)
        } else if x > 1.0 {
            let half = self.scale(-1);
            log(hypot(half.re, half.im)) + LN_2
        } else {
            let scaled = self.scale(200);
            log(hypot(scaled.re, scaled.im)) - 200.0 * LN_2
        }
    }

    /// 2 ulp.
    pub(super) fn log(self) -> Self {
        Self { re: self.log_abs(), im: atan2(self.im, self.re) }
    }

    /// ln(1 + z), within 3 ulp, and -inf for z = -1.
    pub(super) fn log1p(self) -> Self {
        let Self { re: a, im: b } = self;
        let sum = Self { re: 1.0 + a, im: b };
        let re = if (0.5..=2.0).contains(&hypot(sum.re, b)) {
            // |1 + z|^2 - 1 = 2a + a^2 + b^2
            half_log1p(2.0 * a, a, b)
        } else {
            // Below 1/2 the sum is exact, and above 2 its rounding is small against the logarithm.
            sum.log_abs()
        };
        Self { re, im: atan2(b, sum.re) }
    }

    /// Returns the root with a real part of at least +0, on the side of the cut that the sign of the imaginary part
    /// selects; 2 ulp.
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
        let up = match self.size() {
            size if size > pow2(1000) => -100,
            size if size < pow2(-900) => 100,
            _ => 0,
        };
        let Self { re: a, im: b } = self.scale(2 * up);
        let large = ((a.abs() + hypot(a, b)) * 0.5).sqrt();
        let small = b.abs() / (2.0 * large);
        let (re, im) = if a >= 0.0 { (large, small) } else { (small, large) };
        Self { re, im: im.copysign(b) }.scale(-up)
    }

    /// 2.5 ulp.
    pub(super) fn sinh(self) -> Self {
        let Self { re: a, im: b } = self;
        if b == 0.0 {
            return Self { re: sinh(a), im: b };
        }
        if !b.is_finite() && (a == 0.0 || a.is_infinite()) {
            return Self { re: a, im: f64::NAN };
        }
        Self { re: sinh_times(a, cos(b)), im: cosh_times(a, sin(b)) }
    }

    /// 2.5 ulp.
    pub(super) fn cosh(self) -> Self {
        let Self { re: a, im: b } = self;
        if b == 0.0 || (a == 0.0 && !b.is_finite()) {
            // The zero has the sign of a times b.
            let im = 0.0_f64.copysign(a) * 1.0_f64.copysign(b);
            return Self { re: if b == 0.0 { cosh(a) } else { f64::NAN }, im };
        }
        if !b.is_finite() && a.is_infinite() {
            return Self { re: f64::INFINITY, im: f64::NAN };
        }
        Self { re: cosh_times(a, cos(b)), im: sinh_times(a, sin(b)) }
    }

    /// 4 ulp: (sinh(a) cosh(a) + i sin(b) cos(b)) / (sinh(a)^2 + cos(b)^2), where nothing cancels.
    pub(super) fn tanh(self) -> Self {
        let Self { re: a, im: b } = self;
        if b == 0.0 {
            return Self { re: tanh(a), im: b };
        }
        if a.abs() > TANH_IS_ONE {
            let one = 1.0_f64.copysign(a);
            if !b.is_finite() {
                // C99 defines a result that is not NaN only at infinity.
                let finite = a.is_infinite();
                return if finite { Self { re: one, im: 0.0_f64.copysign(b) } } else { Self::NAN };
            }
            return Self { re: one, im: exp_times(-2.0 * a.abs(), 4.0 * sin(b) * cos(b)) };
        }
        if a == 0.0 && !b.is_finite() {
            return Self { re: a, im: f64::NAN };
        }
        let ((sine, cosine), (sinh, cosh)) = (core_math::sincos(b), (sinh(a), cosh(a)));
        let (norm, _) = sum_of_products(sinh, sinh, cosine, cosine);
        Self { re: sinh * cosh / norm, im: sine * cosine / norm }
    }

    /// sin(z) = -i sinh(iz)
    pub(super) fn sin(self) -> Self {
        self.times_i().sinh().over_i()
    }
    /// cos(z) = cosh(iz)
    pub(super) fn cos(self) -> Self {
        self.times_i().cosh()
    }
    /// tan(z) = -i tanh(iz)
    pub(super) fn tan(self) -> Self {
        self.times_i().tanh().over_i()
    }

    /// 1 / (1 + exp(-z)), within 6 ulp, but for a real part that is small from cancellation; the error of that is 6 ulp
    /// of the absolute value.
    ///
    /// With the conjugate of the denominator in the numerator, whose square is (1 - e)^2 + 4 e cos(b/2)^2 for
    /// e = exp(-|a|), nothing cancels near the poles and nothing overflows.
    pub(super) fn logistic(self) -> Self {
        let Self { re: a, im: b } = self;
        if a.is_infinite() && !b.is_finite() {
            return if a > 0.0 { Self::ONE } else { Self::ZERO };
        }
        let (e, e_less_one) = (exp(-a.abs()), expm1(-a.abs()));
        let half_cosine = cos(0.5 * b);
        let twice_square = 2.0 * half_cosine * half_cosine;
        let norm = e_less_one * e_less_one + 2.0 * e * twice_square;
        let re =
            if a < 0.0 { e * (e_less_one + twice_square) } else { e * twice_square - e_less_one };
        Self { re: re / norm, im: e * sin(b) / norm }
    }

    /// -i ln((x + iy) / sqrt(x^2 + y^2)), XLA's formula, rearranged to keep its accuracy near zero and
    /// near the poles, where y is close to ix or -ix; 3 ulp.
    ///
    /// x^2 + y^2 is the product of p = x + iy and q = x - iy. So the imaginary part is ln(|q| / |p|) / 2, where the
    /// difference of the squares is 4 (Re x Im y - Im x Re y), and the real part is half the angle of p over q, or the
    /// angle opposite to it; the formula itself determines which, unless parts 2^500 apart underflow in it.
    pub(super) fn atan2(y: Self, x: Self) -> Self {
        let larger = Self { re: x.size(), im: y.size() }.exponent();
        let (y, x) = (y.scale(-larger), x.scale(-larger));
        let p = Self { re: x.re - y.im, im: x.im + y.re };
        let q = Self { re: x.re + y.im, im: x.im - y.re };
        let dot = sum_of_products(x.re, y.re, x.im, y.im).0;
        // Each part of p and q is rounded once, so that their product keeps its accuracy where one of them is small.
        let half_angle = 0.5 * atan2(2.0 * dot, sum_of_products(p.re, q.re, p.im, q.im).0);
        let square = Self {
            re: sum_of_products(p.re, q.re, -p.im, q.im).0,
            im: 2.0 * sum_of_products(x.re, x.im, y.re, y.im).0,
        };
        let quotient = Complex::div(p, square.sqrt());
        let angle = atan2(quotient.im, quotient.re);
        let re = if angle == 0.0 || angle.is_nan() {
            // The formula also determines the sign of a zero, and the result where there is no value.
            angle
        } else if half_angle == 0.0 {
            // What the formula has beside 0 or pi is its rounding error.
            if angle.abs() < FRAC_PI_2 { half_angle } else { PI.copysign(angle) }
        } else if (angle - half_angle).abs() > FRAC_PI_2 {
            half_angle - PI.copysign(half_angle)
        } else {
            half_angle
        };
        let norm = |z: Self| sum_of_products(z.re, z.re, z.im, z.im).0;
        let difference = 4.0 * sum_of_products(x.re, y.im, -x.im, y.re).0;
        let (smaller, larger) = if difference > 0.0 { (p, q) } else { (q, p) };
        let im = if smaller.size() < pow2(-200) {
            // Next to a pole, where the square would underflow.
            0.5 * (larger.log_abs() - smaller.log_abs())
        } else {
            0.25 * log1p(difference.abs() / norm(smaller))
        };
        Self { re, im: if difference > 0.0 { im } else { -im } }
    }
}
