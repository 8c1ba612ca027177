//! Complex exponential, logarithm and hyperbolic functions.
//!
//! Signs of zero and the results for infinities and NaN are those of C99's annex G.
//!
//! In the bounds, u = 2^-53 is the largest relative error of a rounding; a relative error of u is
//! at most one ulp. Real functions are correctly rounded, u each, and the last rounding counts as
//! half an ulp. What is computed in twice the precision has relative errors below 2^-90, which
//! together with products of errors are less than 0.01 ulp.
use super::angle::atan2;
use super::complex::Complex;
use super::complex_area::angle;
use super::complex_of::ComplexOf;
use super::double_double::{DoubleDouble, Real};
use super::double_double_functions::LN_2 as LN_2_DOUBLE;
use super::exact::{pow2, two_product};
use core_math::{cos, cosh, exp, expm1, hypot, log, log1p, sin, sinh, tan, tanh};
use std::f64::consts::{FRAC_PI_2, LN_2, PI};

/// Below it, exp neither overflows nor becomes subnormal.
const EXP_RANGE: f64 = 708.0;
/// Beyond it, exp times any number of f64 that is not 0 overflows or is 0.
const EXP_TIMES_RANGE: f64 = 1500.0;
/// From here on exp(-2a) and less do not count next to 1, and below it the squares of sinh and tan
/// do not overflow.
const FAR: f64 = 300.0;

/// exp(a) * c, where the product may be in range when exp(a) is not: within 1.5 ulp and the
/// relative error of c.
fn exp_times(a: f64, c: f64) -> f64 {
    if a.abs() > EXP_RANGE && a.abs() < EXP_TIMES_RANGE {
        far_exp_times(a, c, 0)
    } else {
        exp(a) * c
    }
}
/// exp(a) * c * 2^n, where exp(a) is out of range: within 0.51 ulp and the relative error of c.
fn far_exp_times(a: f64, c: f64, n: i32) -> f64 {
    let (half, k) = DoubleDouble::from(a / 2.0).exp();
    // A subnormal c would lose bits in the product.
    let up = if c.abs() < pow2(-500) { 500 } else { 0 };
    (half * half * DoubleDouble::from(c * pow2(up))).scaled_to_f64(2 * k + n - up)
}
/// sinh(a) * c, likewise.
fn sinh_times(a: f64, c: f64) -> f64 {
    if a.abs() > EXP_RANGE && a.abs() < EXP_TIMES_RANGE {
        far_exp_times(a.abs(), c, -1) * 1.0_f64.copysign(a)
    } else {
        sinh(a) * c
    }
}
/// cosh(a) * c, likewise.
fn cosh_times(a: f64, c: f64) -> f64 {
    if a.abs() > EXP_RANGE && a.abs() < EXP_TIMES_RANGE {
        far_exp_times(a.abs(), c, -1)
    } else {
        cosh(a) * c
    }
}

/// Returns `c` + `x`^2 + `y`^2, within 2^-99 of itself.
pub(super) fn plus_squares(c: f64, x: f64, y: f64) -> DoubleDouble {
    let ((p, p_error), (q, q_error)) = (two_product(x, x), two_product(y, y));
    DoubleDouble::sum_of([p_error, q_error, c, p, q])
}

/// ln sqrt(1 + `c` + `x`^2 + `y`^2), within 1.51 ulp for sums from -15/16 to 64: log1p is rounded,
/// and its sum with the first-order term of what the argument leaves out, which is below 16 u.
fn half_log1p(c: f64, x: f64, y: f64) -> f64 {
    let DoubleDouble { hi, lo } = plus_squares(c, x, y);
    // If the rest is zero, the sum could only lose the sign of a zero, and at -1 log1p has no
    // derivative.
    if lo == 0.0 { 0.5 * log1p(hi) } else { 0.5 * (log1p(hi) + lo / (1.0 + hi)) }
}

/// The real numbers that tanh(a + ib) is made of, as functions of sinh(a) and tan(b) alone: with
/// s = sinh(a), r = cosh(a), t = tan(b) and h = 1 + t^2, the norm is n = 1 + h s^2, and tanh(a +
/// ib) = (h r s + it) / n (Kahan).
struct Tangent {
    s: DoubleDouble,
    r: DoubleDouble,
    t: DoubleDouble,
    h: DoubleDouble,
    n: DoubleDouble,
}

impl Tangent {
    /// For |a| up to [`FAR`].
    fn new(a: f64, b: f64) -> Self {
        let one = DoubleDouble::from(1.0);
        let [s, t] = [sinh(a), tan(b)].map(DoubleDouble::from);
        let (square, h) = (s * s, one + t * t);
        Self { s, r: (one + square).sqrt(), t, h, n: one + h * square }
    }
}

impl Complex {
    /// 2.51 ulp: two functions and a product.
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

    /// exp(z) - 1: 2.51 ulp of the imaginary part and of the absolute value. The two terms of the
    /// real part cancel near the curve exp(a) cos(b) = 1, so that nothing bounds its error in ulp
    /// of itself.
    ///
    /// For a < 0 and cos(b) < 0 the real part is exp(a) cos(b) - 1, terms of one sign. Otherwise it
    /// is expm1(a) cos(b) - 2 sin(b/2)^2; then |expm1(a) cos(b)| + 2 sin(b/2)^2 is at most
    /// |exp(z) - 1|: with t = expm1(a) and c = cos(b) the difference of the squares is (1 - c^2)
    /// (1 + t)^2 if t < 0, and not negative if t >= 0. In both cases two functions contribute u
    /// each to a term; products and the sum are in twice the precision.
    pub(super) fn expm1(self) -> Self {
        let Self { re: a, im: b } = self;
        if b == 0.0 {
            return Self { re: expm1(a), im: b };
        }
        let exp_z = self.exp();
        if !self.is_finite() || a.abs() > EXP_RANGE {
            return Self { re: exp_z.re - 1.0, im: exp_z.im };
        }
        let cosine = cos(b);
        let re = if a < 0.0 && cosine < 0.0 {
            DoubleDouble::products(exp(a), cosine, -1.0, 1.0)
        } else {
            let half_sine = sin(0.5 * b);
            DoubleDouble::products(expm1(a), cosine, -2.0 * half_sine, half_sine)
        };
        Self { re: re.rounded(), im: exp_z.im }
    }

    /// ln |z|, within 1.51 ulp: from |z|^2 - 1 if |z| is from 1/4 to 4. Elsewhere the logarithm is
    /// above ln 4, so that an error of u in the absolute value is one of 0.73 u in it; a sum with a
    /// multiple of ln 2 is above 700, where such an error does not count.
    pub(super) fn log_abs(self) -> f64 {
        let size = hypot(self.re, self.im);
        if (0.25..=4.0).contains(&size) {
            half_log1p(-1.0, self.re, self.im)
        } else if size.is_normal() || !self.is_finite() || self.is_zero() {
            log(size)
        } else if size > 1.0 {
            let half = self.scale(-1);
            log(hypot(half.re, half.im)) + LN_2
        } else {
            // Beyond the numbers of f64, whose absolute values are exact or normal after scaling.
            let scaled = self.scale(200);
            (DoubleDouble::from(log(hypot(scaled.re, scaled.im)))
                - DoubleDouble::from(200.0) * LN_2_DOUBLE)
                .rounded()
        }
    }

    /// 1.51 ulp; the imaginary part is correctly rounded.
    pub(super) fn log(self) -> Self {
        Self { re: self.log_abs(), im: atan2(self.im, self.re) }
    }

    /// ln(1 + z), within 1.51 ulp, and -inf for z = -1.
    ///
    /// If |1 + z| is above 8, the roundings of 1 + a and of the absolute value are errors of u each
    /// next to a logarithm above 2.07. Below 1/2 the sum is exact. The angle is that of (1 + a, b),
    /// and a relative error of one coordinate is none larger of the angle.
    pub(super) fn log1p(self) -> Self {
        let Self { re: a, im: b } = self;
        let sum = Self { re: 1.0 + a, im: b };
        let re = if (0.5..=8.0).contains(&hypot(sum.re, b)) {
            // |1 + z|^2 - 1 = 2a + a^2 + b^2
            half_log1p(2.0 * a, a, b)
        } else {
            sum.log_abs()
        };
        Self { re, im: atan2(b, sum.re) }
    }

    /// 2.51 ulp: two functions and a product.
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

    /// 2.51 ulp: two functions and a product.
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

    /// 3.51 ulp: the relative errors of sinh(a) and tan(b) are u each, and what follows is in twice
    /// the precision but for the last rounding.
    ///
    /// With A = h s^2 / n and B = t^2 s^2 / n <= A < 1, a relative error of t changes the imaginary
    /// part t / n by 1 - 2B times as much, and one of s by 2A times: at most 3 u together. The real
    /// part h r s / n changes by 2 t^2 / (h n), at most 2, and by 1 + s^2 / r^2 - 2A, where s^2 /
    /// r^2 <= A: at most 1. An error of s is one of tanh(a) u in a, and one of t is one of sin(b)
    /// cos(b) u in b: together |dz| <= |sinh(2z)| u / 2, and
    /// |d tanh(z) / tanh(z)| = 2 |dz / sinh(2z)| <= u, so that the error is within 1.51 ulp of the absolute value.
    pub(super) fn tanh(self) -> Self {
        let Self { re: a, im: b } = self;
        if b == 0.0 {
            return Self { re: tanh(a), im: b };
        }
        if a.abs() > FAR {
            let one = 1.0_f64.copysign(a);
            if !b.is_finite() {
                // C99 defines a result that is not NaN only at infinity.
                let finite = a.is_infinite();
                return if finite { Self { re: one, im: 0.0_f64.copysign(b) } } else { Self::NAN };
            }
            // 4 exp(-2|a|) t / h: 3.51 ulp, since t / h = sin(b) cos(b) changes no more than t.
            let Tangent { t, h, .. } = Tangent::new(0.0, b);
            return Self { re: one, im: exp_times(-2.0 * a.abs(), 4.0 * (t / h).rounded()) };
        }
        if a == 0.0 && !b.is_finite() {
            return Self { re: a, im: f64::NAN };
        }
        let Tangent { s, r, t, h, n } = Tangent::new(a, b);
        Self { re: (h * r * s / n).rounded(), im: (t / n).rounded() }
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

    /// 1 / (1 + exp(-z)): 2.74 ulp of the absolute value, and 3.51 ulp of the imaginary part. The
    /// real part is small from cancellation near exp(a) = -cos(b), so that nothing bounds its error
    /// in ulp of itself.
    ///
    /// Half of 1 + tanh(z/2), where exp(-a/2) = r + sinh(-a/2) replaces the difference of numbers
    /// near 1 if a < 0. As in `tanh`, only s and t have errors, of u each, and the imaginary part
    /// is half of one there. An error of s is one of 2 tanh(a/2) u in a, and one of t is one of
    /// sin(b) u in b, so that w = logistic(z) is off by at most
    /// |w (1 - w)| sqrt(4 tanh(a/2)^2 + sin(b)^2) u. With E = exp(-|a|) and v = 1 + cos(b), |1 - w|^2 is at most
    /// 1 / ((1 - E)^2 + 2 E v), and the root is at most sqrt(5) / |1 - w|, since
    /// (1 - E)^2 (5 - 4 / (1 + E)^2) + 10 E v - v (2 - v) >= 0: for E < 1/5 it is at least
    /// (1 - E)^2 - (1 - 5E)^2, and for others no term is negative.
    pub(super) fn logistic(self) -> Self {
        let Self { re: a, im: b } = self;
        if a.is_infinite() && !b.is_finite() {
            return if a > 0.0 { Self::ONE } else { Self::ZERO };
        }
        if a.abs() > 2.0 * FAR && b.is_finite() {
            return if a > 0.0 { Self { re: 1.0, im: exp_times(-a, sin(b)) } } else { self.exp() };
        }
        let Tangent { s, r, t, h, n } = Tangent::new(0.5 * a, 0.5 * b);
        let re = if a < 0.0 { DoubleDouble::from(1.0) + h * s / (r - s) } else { n + h * r * s };
        let twice = n.times_power(2.0);
        Self { re: (re / twice).rounded(), im: (t / twice).rounded() }
    }

    /// -i ln((x + iy) / sqrt(x^2 + y^2)), XLA's formula, rearranged to keep its accuracy near zero
    /// and near the poles, where y is close to ix or -ix; 1.54 ulp.
    ///
    /// x^2 + y^2 is the product of p = x + iy and q = x - iy. So the imaginary part is ln(|q| /
    /// |p|) / 2, where the difference of the squares is 4 (Re x Im y - Im x Re y), and the real
    /// part is half the angle of p over q, or the angle opposite to it; the formula itself
    /// determines which, unless parts 2^500 apart underflow in it.
    ///
    /// As in `complex_area`, three roundings count: of the argument of log1p or of the angle of the
    /// first numbers, of log1p or of the sum with the rest of the angle, and of the result. Where
    /// Re(p conj q) cancels, its error is relative to |p q|, and so small against the angle.
    pub(super) fn atan2(y: Self, x: Self) -> Self {
        let larger = Self { re: x.size(), im: y.size() }.exponent();
        let (y, x) = (y.scale(-larger), x.scale(-larger));
        let sum = DoubleDouble::sum;
        let p = ComplexOf { re: sum(x.re, -y.im), im: sum(x.im, y.re) };
        let q = ComplexOf { re: sum(x.re, y.im), im: sum(x.im, -y.re) };
        let products = DoubleDouble::products;
        let dot = products(x.re, y.re, x.im, y.im).times_power(2.0);
        // Half the angle of p over q.
        let half = angle(dot, p.re * q.re + p.im * q.im).times_power(0.5);
        let square = Self {
            re: (p.re * q.re - p.im * q.im).rounded(),
            im: 2.0 * products(x.re, x.im, y.re, y.im).rounded(),
        };
        let [p_rounded, q_rounded] =
            [p, q].map(|z| Self { re: z.re.rounded(), im: z.im.rounded() });
        let quotient = Complex::div(p_rounded, square.sqrt());
        let whole = atan2(quotient.im, quotient.re);
        let re = if whole.is_nan() || half.hi == 0.0 && whole == 0.0 {
            // The formula also determines the sign of a zero, and the result where there is no
            // value.
            whole
        } else if dot.hi == 0.0 || half.hi == 0.0 {
            // Zero, a right angle or pi; what the formula has beside it is its rounding error.
            if whole.abs() < 0.5 * FRAC_PI_2 {
                half.hi
            } else if whole.abs() < 1.5 * FRAC_PI_2 {
                FRAC_PI_2.copysign(whole)
            } else {
                PI.copysign(whole)
            }
        } else if (whole - half.hi).abs() > FRAC_PI_2 {
            let pi = DoubleDouble::FRAC_PI_2.times_power(2.0);
            (half - if half.hi < 0.0 { -pi } else { pi }).rounded()
        } else {
            half.rounded()
        };
        let difference = products(x.re, y.im, -x.im, y.re).times_power(4.0);
        let is_positive = difference.hi > 0.0;
        let smaller = if is_positive { p } else { q };
        let [near, far] = if is_positive { [p_rounded, q_rounded] } else { [q_rounded, p_rounded] };
        let im = if near.size() < pow2(-400) {
            // Next to a pole, where the square would underflow. The logarithm is below -277, so
            // that roundings of the parts do not count.
            0.5 * (far.log_abs() - near.log_abs())
        } else {
            let norm = smaller.re * smaller.re + smaller.im * smaller.im;
            0.25 * log1p((difference / norm).rounded().abs())
        };
        Self { re, im: if is_positive { im } else { -im } }
    }
}
