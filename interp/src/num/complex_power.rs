//! Powers of complex numbers.
use super::complex::Complex;
use super::double_double::DoubleDouble;
use super::double_double_functions::LN_2;
use super::exact::{pow2, scale, sum_of_products};
use core_math::{atan2pi, cos, cospi, hypot, pow, sin, sinpi};
use std::f64::consts::PI;

impl Complex {
    /// self^w as exp(w ln(self)): z^0 and 1^w are 1, 0^w is 0 for Re w > 0.
    ///
    /// The logarithm and its product with w are computed in twice the precision, since exp turns an absolute error of
    /// its argument into a relative one: 2 ulp of |z^w| while |w ln z| is below 2^40. A real exponent multiplies the
    /// angle as a fraction of pi, so that (-1)^2 is 1 with no imaginary part.
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
                let (sine, cosine, rest) = (sinpi(turn.hi), cospi(turn.hi), turn.lo * PI);
                Self { re: cosine - sine * rest, im: sine + cosine * rest }
            }
            Some(_) | None => {
                let turn = c * angle + d * length;
                let (sine, cosine) = (sin(turn.hi), cos(turn.hi));
                Self { re: cosine - sine * turn.lo, im: sine + cosine * turn.lo }
            }
        };
        if size.hi.abs() > 800.0 {
            // Overflow or zero, with a direction.
            let huge = if size.hi > 0.0 { f64::INFINITY } else { 0.0 };
            return turn.map(|x| if x == 0.0 { x } else { x * huge });
        }
        let (size, k) = size.exp();
        turn.map(|x| scale(x.mul_add(size.hi, x * size.lo), k))
    }

    /// Returns the power for operands with an infinite or NaN part, or an exponent so large that the result is 0 or
    /// infinite.
    fn power_far_out(self, w: Self) -> Self {
        let Self { re: c, im: d } = w;
        if d == 0.0 {
            let (size, turn) = (pow(hypot(self.re, self.im), c), c * atan2pi(self.im, self.re));
            return Self { re: size * cospi(turn), im: size * sinpi(turn) };
        }
        let ln = self.log();
        let (re, _) = sum_of_products(c, ln.re, -d, ln.im);
        let (im, _) = sum_of_products(c, ln.im, d, ln.re);
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
        let (x, y) = (a.abs().max(b.abs()), a.abs().min(b.abs()));
        // |z|^2 - 1
        let square =
            DoubleDouble::product(x, x) + DoubleDouble::from(-1.0) + DoubleDouble::product(y, y);
        let length = square.log1p().times_power(0.5) + DoubleDouble::from(f64::from(k)) * LN_2;
        (length, DoubleDouble::angle(b, a))
    }
}
