//! Twiddle factors `e^(-2 pi i k/n)`.
//!
//! They come from exactly reduced angles in twice the precision of f64, so those of f64 are
//! correctly rounded with very few exceptions, and those of multiples of a right angle are exact.
use super::complex_of::{ComplexOf, Field};
use super::double_double::{DoubleDouble, Real};
use crate::clock::Stop;

/// Returns a size, offset or count as a number.
pub(super) fn number(n: usize) -> DoubleDouble {
    // Sizes in memory are below 2^53, so this is exact.
    hlo::Scalar::Signed(crate::index::to_i64(n)).as_f64().into()
}

/// Returns `e^(-2 pi i k/n)` for each k below n; of no meaning if `stop` is set before all are
/// computed.
pub fn turns<R: Real + Field>(n: usize, stop: &Stop) -> Vec<ComplexOf<R>> {
    if n == 0 {
        return Vec::new();
    }
    let series = Series::new();
    // Many factors are products of a coarse and a fine one; a few are cheaper one by one.
    let fine_count = if n > 2048 { n.isqrt() } else { 1 };
    let fine: Vec<_> = (0..fine_count).map(|k| series.turn(k, n)).collect();
    let mut turns = vec![ComplexOf::ZERO; n];
    let mut coarse = ComplexOf::ZERO;
    for k in 0..=n / 2 {
        if k % fine_count == 0 {
            if stop.is_set() {
                break;
            }
            coarse = series.turn(k, n);
        }
        let turn = match k % fine_count {
            0 => coarse,
            // The factor of a multiple of a right angle is exact.
            _ if 4 * k % n == 0 => series.turn(k, n),
            rest => coarse * fine[rest],
        };
        let turn: ComplexOf<R> = turn.nearest();
        if k < n {
            turns[(n - k) % n] = turn.conj();
            turns[k] = turn;
        }
    }
    turns
}

impl ComplexOf<DoubleDouble> {
    /// Returns the nearest number with parts of another precision.
    pub(super) fn nearest<R: Real>(self) -> ComplexOf<R> {
        ComplexOf { re: R::nearest(self.re), im: R::nearest(self.im) }
    }
}

/// Terms of the power series of sine and cosine.
const TERMS: usize = 30;

/// The power series of sine and cosine.
pub(super) struct Series {
    /// 1 / k!
    coefficients: [DoubleDouble; TERMS],
}

impl Series {
    pub(super) fn new() -> Self {
        let mut coefficients = [DoubleDouble::from(1.0); TERMS];
        for k in 1..TERMS {
            coefficients[k] = coefficients[k - 1] / number(k);
        }
        Self { coefficients }
    }

    /// Returns `e^(-2 pi i k/n)`
    pub(super) fn turn(&self, k: usize, n: usize) -> ComplexOf<DoubleDouble> {
        // Quadrants and the remaining fraction r/n of one.
        let (quarter, r) = (4 * k / n, 4 * k % n);
        let (cosine, sine) = if 2 * r <= n {
            self.cosine_sine(r, n)
        } else {
            let (cosine, sine) = self.cosine_sine(n - r, n);
            (sine, cosine)
        };
        match quarter % 4 {
            0 => ComplexOf { re: cosine, im: -sine },
            1 => ComplexOf { re: -sine, im: -cosine },
            2 => ComplexOf { re: -cosine, im: sine },
            _ => ComplexOf { re: sine, im: cosine },
        }
    }

    /// Cosine and sine of r/n of a right angle, at most half of one.
    fn cosine_sine(&self, r: usize, n: usize) -> (DoubleDouble, DoubleDouble) {
        let angle = DoubleDouble::FRAC_PI_2 * number(r) / number(n);
        let square = -(angle * angle);
        let sum = |from: usize| {
            let terms = self.coefficients.iter().skip(from).step_by(2);
            terms.rev().fold(DoubleDouble::ZERO, |sum, &term| sum * square + term)
        };
        (sum(0), sum(1) * angle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_exact_where_they_can_be() {
        let series = Series::new();
        let parts = |k, n| {
            let z = series.turn(k, n);
            (z.re.rounded(), z.im.rounded())
        };
        assert_eq!([0, 1, 2, 3].map(|k| parts(k, 4)), [(1., 0.), (0., -1.), (-1., 0.), (0., 1.)]);
        assert_eq!(parts(1, 8), (0.5f64.sqrt(), -(0.5f64.sqrt())));
        assert_eq!(parts(1, 3), (-0.5, -(0.75f64.sqrt())));
        // The square of a factor is the factor of twice the angle.
        for (k, n) in [(1, 7), (3, 1_000_003), (17, 4096)] {
            let (once, double) = (series.turn(k, n), series.turn(2 * k, n));
            let rest = once * once - double;
            assert!(rest.re.rounded().abs().max(rest.im.rounded().abs()) < 1e-31, "{k}/{n}");
        }
    }

    #[test]
    fn products_of_turns_are_as_good() {
        let n = 5000;
        let series = Series::new();
        for (k, turn) in
            turns::<DoubleDouble>(n, &Stop::default()).into_iter().enumerate().step_by(7)
        {
            let rest = turn - series.turn(k, n);
            assert!(rest.re.rounded().abs().max(rest.im.rounded().abs()) < 1e-30, "{k}");
        }
    }
}
