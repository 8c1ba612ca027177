//! Powers of complex numbers.
use super::complex::Complex;
use super::complex_exp::plus_squares;
use super::complex_of::ComplexOf;
use super::double_double::{DoubleDouble, Real};
use super::double_double_functions::LN_2;
use super::exact::pow2;
use core_math::{atan2pi, cos, cospi, hypot, pow, sin, sinpi};
use std::f64::consts::PI;

/// Returns the direction of an angle, of whose first part sine and cosine are given and whose rest
/// is below 2^-12: the fourth terms of the series of the rest are below 2^-64.
fn turned(sine: f64, cosine: f64, rest: f64) -> ComplexOf<DoubleDouble> {
    let square = rest * rest;
    let (rest_sine, versed) = (rest * (1.0 - square / 6.0), 0.5 * square * (1.0 - square / 12.0));
    let sum = |main: f64, change: f64| {
        // A zero change would turn -0 into +0.
        if change == 0.0 { main.into() } else { DoubleDouble::sum(main, change) }
    };
    ComplexOf {
        re: sum(cosine, -(sine * rest_sine + cosine * versed)),
        im: sum(sine, cosine * rest_sine - sine * versed),
    }
}

impl Complex {
    /// self^w as exp(w ln(self)): z^0 and 1^w are 1, 0^w is 0 for Re w > 0.
    ///
    /// The logarithm and its product with w are computed in twice the precision, since exp turns an
    /// absolute error of its argument into a relative one: 2 ulp of |z^w| while |w ln z| is below
    /// 2^36. The parts of the logarithm are within 2^-92 of |ln z|, so that size and turn are
    /// within 2^-55 each, 0.5 ulp together; the sine or cosine and the last rounding add 1.5. A
    /// real exponent multiplies the angle as a fraction of pi, so that (-1)^2 is 1 with no
    /// imaginary part.
    pub(super) fn pow(self, w: Self) -> Self {
        let Self { re: c, im: d } = w;
        if w.is_zero() || self == Self::ONE {
            return Self::ONE;
        }
        if self.is_zero() && !w.is_nan() {
            return match (c > 0.0, d == 0.0) {
                (true, _) => Self::ZERO,
                // As XLA's evaluator; 0^-1 is infinite without a direction.
                (false, true) => Self { re: f64::INFINITY, im: f64::NAN },
                (false, false) => Self::NAN,
            };
        }
        if d == 0.0 && self.im == 0.0 && self.re > 0.0 {
            return Self { re: pow(self.re, c), im: 0.0 };
        }
        if !self.is_finite() || w.is_nan() || w.size() > pow2(500) {
            return self.power_far_out(w);
        }
        let (length, angle) = self.log_in_double();
        let (c, d) = (DoubleDouble::from(c), DoubleDouble::from(d));
        let size = c * length + -(d * angle);
        let turn = match self.eighths() {
            Some(eighths) if d.hi == 0.0 => {
                // The angle is exactly this fraction of pi.
                let turn = c * DoubleDouble::from(eighths / 4.0);
                turned(sinpi(turn.hi), cospi(turn.hi), turn.lo * PI)
            }
            Some(_) | None => {
                let turn = c * angle + d * length;
                turned(sin(turn.hi), cos(turn.hi), turn.lo)
            }
        };
        if size.hi.abs() > 800.0 {
            // Overflow or zero, with a direction.
            let huge = if size.hi > 0.0 { f64::INFINITY } else { 0.0 };
            let part = |x: DoubleDouble| if x.hi == 0.0 { x.hi } else { x.hi * huge };
            return Self { re: part(turn.re), im: part(turn.im) };
        }
        let (size, k) = size.exp();
        let part = |x: DoubleDouble| (x * size).scaled_to_f64(k);
        Self { re: part(turn.re), im: part(turn.im) }
    }

    /// Returns the power for operands with an infinite or NaN part, or an exponent so large that
    /// the result is 0 or infinite.
    fn power_far_out(self, w: Self) -> Self {
        let Self { re: c, im: d } = w;
        if d == 0.0 {
            let (size, turn) = (pow(hypot(self.re, self.im), c), c * atan2pi(self.im, self.re));
            return Self { re: size * cospi(turn), im: size * sinpi(turn) };
        }
        let ln = self.log();
        let re = DoubleDouble::products(c, ln.re, -d, ln.im).rounded();
        let im = DoubleDouble::products(c, ln.im, d, ln.re).rounded();
        Self { re, im }.exp()
    }

    /// Returns the angle as a number of eighths of a full turn, if it is an integer.
    #[expect(clippy::float_cmp, reason = "only exact eighths are meant")]
    fn eighths(self) -> Option<f64> {
        let Self { re: a, im: b } = self;
        (a == 0.0 || b == 0.0 || a.abs() == b.abs()).then(|| 4.0 * atan2pi(b, a))
    }

    /// ln |z| and the angle of a finite number that is not zero.
    fn log_in_double(self) -> (DoubleDouble, DoubleDouble) {
        // Near the unit circle nothing is scaled, which keeps small logarithms accurate.
        let k = match self.exponent() {
            -1..=0 => 0,
            far => far,
        };
        let Self { re: a, im: b } = self.scale(-k);
        let square = plus_squares(-1.0, a, b);
        let length = square.log1p().times_power(0.5) + DoubleDouble::from(f64::from(k)) * LN_2;
        (length, DoubleDouble::angle(b, a))
    }
}
