//! The regularized incomplete beta function.
use super::gamma::scaled_gamma;
use super::wide::{in_f64, iterate, log_minus_rest};
use crate::{Operand, Value, implicit};
use std::f64::consts::TAU;

/// Terms of the continued fraction that are tried: enough for `a` and `b` up to about 1e8.
const STEPS: f64 = 20_000.0;

impl<'b> Value<'b> {
    /// Computes the regularized incomplete beta function of `self = a`, `b` and `x`: XLA's
    /// `RegularizedIncompleteBeta`.
    ///
    /// `I(x; a, b) = integral of t^(a-1) (1-t)^(b-1) from 0 to x, over B(a, b)` (DLMF 8.17.2), by a
    /// continued fraction (of 8.17.22 the even part) for `x` up to the mean `a / (a+b)`, and
    /// `I(x; a, b) = 1 - I(1-x; b, a)` above.
    ///
    /// For `a, b >= 0` and `x` from 0 to 1; otherwise NaN. `a = 0` or `b = inf` gives 1, `b = 0` or
    /// `a = inf` gives 0, both NaN. NaN too where the fraction has not converged after 20000 steps,
    /// which takes `a` and `b` above 1e8.
    ///
    /// Accuracy in `f64`: `32 + 8 |ln I|` ULP for `x` up to the mean; above it, where the result is
    /// `1 - I(1-x; b, a)`, the same of that.
    #[doc(alias = "betainc")]
    #[track_caller]
    pub fn regularized_incomplete_beta(self, b: impl Operand<'b>, x: impl Operand<'b>) -> Self {
        self.record(|_| {
            let (b, x) = (b.beside(self)?, x.beside(self)?);
            let (b, x) = (implicit::pair(b, self, self)?.0, implicit::pair(x, self, self)?.0);
            in_f64("regularized_incomplete_beta", [self, b, x], |[a, b, x]| incomplete(a, b, x))
        })
    }
}

fn incomplete<'b>(a: Value<'b>, b: Value<'b>, x: Value<'b>) -> Value<'b> {
    let (one, zero) = (x.full_like(1.0), x.full_like(0.0));
    // How far x is below the mean a / (a+b), times a + b.
    let mean: Value<'b> = (1.0 - x) * a - x * b;
    let swapped = mean.lt(0.0);
    let (first, second) = (swapped.select(b, a), swapped.select(a, b));
    let place = swapped.select(1.0 - x, x);
    let finite = |v: Value<'b>| v.gt(0.0) & v.lt(f64::INFINITY);
    let active = finite(a) & finite(b) & x.gt(0.0) & x.lt(1.0);
    let side =
        density([a, b, x], 0.0) * continued_fraction(active, [first, second, place, mean.abs()]);
    let inside = swapped.select(1.0 - side, side);
    let low = a.eq(f64::INFINITY) | b.eq(0.0);
    let high = b.eq(f64::INFINITY) | a.eq(0.0);
    let value = high.select(one, low.select(zero, inside));
    let value = x.eq(0.0).select(zero, x.eq(1.0).select(one, value));
    let defined = a.ge(0.0) & b.ge(0.0) & x.ge(0.0) & x.le(1.0) & !(low & high);
    defined.select(value, f64::NAN)
}

/// Returns `x^a (1-x)^b / B(a, b)`, by its maximum at `a / (a+b)` and how far x is from there (the
/// saddle point form): no term is much larger than the logarithm of the result. With `lower` 1 both
/// powers are lower by 1.
pub(super) fn density([a, b, x]: [Value<'_>; 3], lower: f64) -> Value<'_> {
    let (sum, rest) = (a + b, 1.0 - x);
    let away = x * b - rest * a;
    let left = a * log_minus_rest(x * (sum / a), away / a);
    let right = b * log_minus_rest(rest * (sum / b), -away / b);
    let height = (a / sum * b / TAU).sqrt();
    let correction = scaled_gamma(sum) / (scaled_gamma(a) * scaled_gamma(b));
    let exponent = left + right;
    let exponent =
        if lower == 0.0 { exponent } else { exponent - (x.log() + (-x).log1p()) * lower };
    height * correction * exponent.exp()
}

/// Returns the continued fraction of ACM algorithm 708 (1992), equation 9, which is the even part
/// of DLMF 8.17.22 and free of cancellation, by Lentz's method; NaN where it has not converged.
/// `mean` is `a (1-x) - b x`, not negative.
fn continued_fraction<'b>(active: Value<'b>, [a, b, x, mean]: [Value<'b>; 4]) -> Value<'b> {
    let d = (a + 1.0) / (a * (mean + 1.0));
    let start = [a, b, x, mean, a.full_like(f64::INFINITY), d, d];
    let (end, late) = iterate(active, &start, STEPS, |state, n| {
        let [a, b, x, mean]: [Value<'b>; 4] = [state[0], state[1], state[2], state[3]];
        let odd = a + n * 2.0 - 1.0;
        let pair = (b - n) * n * x;
        let numerator = (a + n - 1.0) / odd * ((a + b + n - 1.0) / odd) * pair * x;
        let above = (a + n) / (odd + 2.0) * (mean + 1.0 + (2.0 - x) * n);
        let denominator = pair / odd + above + n;
        let d = 1.0 / (denominator + numerator * state[5]);
        let c = denominator + numerator / state[4];
        let factor = c * d;
        let going = (factor - 1.0).abs().gt(f64::EPSILON);
        (vec![a, b, x, mean, c, d, state[6] * factor], going)
    });
    late.select(x.full_like(f64::NAN), end[6])
}
