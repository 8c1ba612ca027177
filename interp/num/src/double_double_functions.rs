//! Functions in twice the precision of f64: exponential, logarithm, sine, cosine and angle, where
//! one f64 is not enough.
use super::angle::atan2;
use super::double_double::DoubleDouble;
use super::exact::{pow2, round_to_odd, scale, two_product, two_sum};

/// ln 2.
pub(super) const LN_2: DoubleDouble =
    DoubleDouble { hi: std::f64::consts::LN_2, lo: f64::from_bits(0x3c7a_bc9e_3b39_803f) };

impl DoubleDouble {
    const ONE: Self = Self { hi: 1.0, lo: 0.0 };

    /// Returns `a + b`, exactly.
    #[inline]
    pub(super) fn sum(a: f64, b: f64) -> Self {
        let (hi, lo) = two_sum(a, b);
        Self { hi, lo }
    }
    /// Returns `a * b`, exactly.
    #[inline]
    pub(super) fn product(a: f64, b: f64) -> Self {
        let (hi, lo) = two_product(a, b);
        Self { hi, lo }
    }
    /// Returns `a * b + c * d`, within 3 u^2 of itself, u = 2^-53, also if the products cancel.
    #[inline]
    pub(super) fn products(a: f64, b: f64, c: f64, d: f64) -> Self {
        Self::product(a, b) + Self::product(c, d)
    }
    /// Returns the sum of numbers, within 2^-99 of itself whatever cancels.
    ///
    /// Shewchuk's expansion ("Adaptive precision floating-point arithmetic", theorem 10): the sum
    /// is exactly that of parts none of which overlaps or touches another, in ascending order. So
    /// their sums keep a third of the larger operand, and each of the additions adds 3 u^2 to at
    /// most twice the relative error before it.
    pub(super) fn sum_of<const N: usize>(terms: [f64; N]) -> Self {
        let mut parts = [0.0; N];
        for (n, &term) in terms.iter().enumerate() {
            let mut sum = term;
            for part in &mut parts[..n] {
                (sum, *part) = two_sum(sum, *part);
            }
            parts[n] = sum;
        }
        parts.iter().fold(Self::ZERO, |sum, &part| Self::from(part) + sum)
    }
    /// Returns the f64 nearest to `self * 2^k`, also if it is subnormal.
    pub(super) fn scaled_to_f64(self, k: i32) -> f64 {
        let Self { hi: nearest, lo: dropped } = self;
        let result = scale(nearest, k);
        if dropped == 0.0 || !result.is_finite() || result.abs() > f64::MIN_POSITIVE {
            return result;
        }
        // Scaling rounded again. Only a tie can have been rounded wrongly, and the error of the
        // first rounding decides it.
        let off = nearest - scale(result, -k);
        if off.abs() < scale(1.0, -1075 - k) {
            result
        } else if off > 0.0 && dropped > 0.0 {
            result.next_up()
        } else if off < 0.0 && dropped < 0.0 {
            result.next_down()
        } else {
            result
        }
    }
    /// Returns the number rounded to odd, see [`round_to_odd`].
    #[inline]
    pub(super) fn to_odd(self) -> f64 {
        let (hi, lo) = two_sum(self.hi, self.lo);
        round_to_odd(hi, lo)
    }
    /// Returns the number times a power of two.
    #[inline]
    pub(super) fn times_power(self, power: f64) -> Self {
        Self { hi: self.hi * power, lo: self.lo * power }
    }

    /// Returns exp as `value * 2^k`, for |self| up to 800, within 2^-98 relatively.
    pub(super) fn exp(self) -> (Self, i32) {
        // ln 2 in three parts; the first two have 42 bits, so that their products with k are exact.
        const LN2: [f64; 3] = [
            f64::from_bits(0x3fe6_2e42_fefa_3800),
            f64::from_bits(0x3d2e_f357_93c7_6000),
            f64::from_bits(0x3a8c_c01f_97b5_7a08),
        ];
        const HALVINGS: i32 = 6;
        let k = (self.hi * std::f64::consts::LOG2_E).round_ties_even();
        let main = Self::sum(self.hi - k * LN2[0], -(k * LN2[1]));
        let small =
            (main + Self::from(self.lo) + -Self::product(k, LN2[2])).times_power(pow2(-HALVINGS));
        // The series of (exp(small) - 1) / small from its last term inwards; |small| < 0.0055.
        let mut series = Self::ONE;
        for term in (2..=14).rev() {
            series = Self::ONE + small * series / Self::from(f64::from(term));
        }
        let mut less_one = small * series;
        for _ in 0..HALVINGS {
            // (1 + p)^2 - 1 = 2p + p^2
            less_one = less_one.times_power(2.0) + less_one * less_one;
        }
        (Self::ONE + less_one, small_integer(k))
    }

    /// ln(1 + self) for numbers from -0.9 to 10, within 2^-92 relatively.
    pub(super) fn log1p(self) -> Self {
        if self.hi.abs() < 0.0625 {
            // 2 atanh(u) = 2 (u + u^3/3 + u^5/5 + ...) for u = x / (2 + x), below 2^-5
            let u = self / (Self::from(2.0) + self);
            let square = u * u;
            let mut series = Self::ZERO;
            for odd in [23.0, 21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
                series = (series + Self::ONE / Self::from(odd)) * square;
            }
            return (u + u * series).times_power(2.0);
        }
        // One step of Newton's method: with e = x exp(-l) - 1, ln x = l + e - e^2/2 + ...
        let x = Self::ONE + self;
        let guess = core_math::log(x.hi);
        let (inverse, k) = Self::from(-guess).exp();
        let inverse = inverse.times_power(pow2(k));
        let rest = x * inverse - Self::ONE;
        Self::from(guess) + (rest + -(rest * rest).times_power(0.5))
    }

    /// Sine and cosine of a number from -4 to 4, within 2^-96 of 1; small sines relatively.
    fn sine_and_cosine(x: f64) -> (Self, Self) {
        const HALVINGS: i32 = 6;
        let small = Self::from(x * pow2(-HALVINGS));
        let square = small * small;
        // From their last terms inwards: the series of sine, and of 1 - cosine.
        let (mut sine, mut versed) = (Self::ONE, Self::ONE);
        for term in (1..=9).rev() {
            let n = 2.0 * f64::from(term);
            sine = Self::ONE + -(square * sine / Self::from(n * (n + 1.0)));
            versed = Self::ONE + -(square * versed / Self::from((n + 1.0) * (n + 2.0)));
        }
        let mut sine = small * sine;
        let mut versed = (square * versed).times_power(0.5);
        for _ in 0..HALVINGS {
            // sin 2a = 2 sin a cos a, 1 - cos 2a = 2 sin^2 a
            let cosine = Self::ONE + -versed;
            (sine, versed) = ((sine * cosine).times_power(2.0), (sine * sine).times_power(2.0));
        }
        (sine, Self::ONE + -versed)
    }

    /// Returns the angle of the point (x, y), whose larger part has a size of about 1; within 2^-94
    /// of 1, small angles relatively.
    pub(super) fn angle(y: f64, x: f64) -> Self {
        let guess = atan2(y, x);
        let (sine, cosine) = Self::sine_and_cosine(guess);
        let (x, y) = (Self::from(x), Self::from(y));
        // The sine and the cosine of the remaining angle, times the absolute value.
        let (over, along) = (y * cosine + -(x * sine), x * cosine + y * sine);
        let rest = over.hi / along.hi;
        if rest.is_finite() { Self::sum(guess, rest) } else { Self::from(guess) }
    }
}

#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "an integer of at most 60,000"
)]
pub(super) fn small_integer(x: f64) -> i32 {
    x as i32
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values are compared")]
mod tests {
    use super::*;
    use crate::double_double::Real;

    #[track_caller]
    fn near(got: DoubleDouble, hi: f64, lo: f64) {
        let error = got + -DoubleDouble { hi, lo };
        assert!(error.hi.abs() < pow2(-92) * hi.abs(), "{got:?} is not {hi:e} + {lo:e}");
    }

    #[test]
    fn functions_undo_each_other() {
        near(DoubleDouble::ONE.log1p(), LN_2.hi, LN_2.lo);
        for x in [-0.8, -0.06, 1e-9, 0.03, 0.5, 1.0, 6.5] {
            let (value, k) = DoubleDouble::from(x).log1p().exp();
            let back = value.scaled(k) - DoubleDouble::ONE;
            assert!((back + -DoubleDouble::from(x)).hi.abs() < pow2(-94), "{x}: {back:?}");
        }
    }

    #[test]
    fn sums_survive_cancellation() {
        let tiny = pow2(-40);
        // (1 + t)(1 - t) - 1 = -t^2
        let square = DoubleDouble::products(1.0 + tiny, 1.0 - tiny, -1.0, 1.0);
        assert_eq!(square, DoubleDouble { hi: -pow2(-80), lo: 0.0 });
        assert!(DoubleDouble::products(-0.0, 1.0, -0.0, 1.0).hi.is_sign_negative());
        let terms = [pow2(-200), 1.0, pow2(-60), -1.0, pow2(-120), -pow2(-60)];
        let sum = DoubleDouble::sum_of(terms);
        assert_eq!(sum, DoubleDouble { hi: pow2(-120), lo: pow2(-200) });
    }

    #[test]
    fn scaling_rounds_once() {
        // 1.5 + 2^-54 is just above the middle between 1 and 2 units of a subnormal number.
        let x = DoubleDouble { hi: 1.5, lo: pow2(-54) };
        let unit = f64::from_bits(1);
        assert_eq!(x.scaled_to_f64(-1074), 2.0 * unit);
        let above_half = DoubleDouble { hi: 0.5, lo: pow2(-56) };
        assert_eq!(above_half.scaled_to_f64(-1074), unit);
        let below = DoubleDouble { hi: 2.5, lo: -pow2(-54) };
        assert_eq!((-below).scaled_to_f64(-1074), -2.0 * unit);
        assert_eq!(below.scaled_to_f64(2000), f64::INFINITY);
    }

    #[test]
    fn angles() {
        use std::f64::consts::PI;
        // The difference between pi and the nearest f64.
        let rest = f64::from_bits(0x3ca1_a626_3314_5c07);
        near(DoubleDouble::angle(0.0, -1.0), PI, rest);
        near(DoubleDouble::angle(1.0, 0.0), PI / 2.0, rest / 2.0);
        near(DoubleDouble::angle(-1.0, -1.0), -0.75 * PI, DoubleDouble::angle(-1.0, -1.0).lo);
        let sum = DoubleDouble::angle(1.0, 2.0) + DoubleDouble::angle(1.0, 3.0);
        near(sum, PI / 4.0, rest / 4.0);
    }
}
