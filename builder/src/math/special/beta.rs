//! The regularised incomplete beta function.
use super::gamma::scaled_gamma;
use super::wide::{in_f64, iterate, log_minus_rest};
use crate::{Operand, Value, implicit};
use std::f64::consts::TAU;

/// Pairs of terms of the continued fraction that are tried: enough for `a` and `b` up to about 1e8.
const STEPS: f64 = 20_000.0;

impl<'b> Value<'b> {
    /// Regularised incomplete beta function of `self = a`, `b` and `x`: XLA's `RegularizedIncompleteBeta`.
    ///
    /// `I(x; a, b) = integral of t^(a-1) (1-t)^(b-1) from 0 to x, over B(a, b)` (DLMF 8.17.2), by the continued fraction
    /// 8.17.22 on the side of the mean where it converges fast, and `I(x; a, b) = 1 - I(1-x; b, a)` on the other.
    ///
    /// For `a, b >= 0` and `x` from 0 to 1; elsewhere NaN. `a = 0` or `b = inf` gives 1, `b = 0` or `a = inf` gives 0,
    /// both NaN. NaN too where the fraction has not converged after 20000 steps, which takes `a` and `b` above 1e8.
    ///
    /// Accuracy in `f64`: `32 + 8 |ln I| + sqrt(max(a, b))` ULP for `x` below the mean `a / (a+b)`; above it, where the
    /// result is `1 - I(1-x; b, a)`, the same of that.
    #[track_caller]
    #[must_use = "a value that is not used has no effect"]
    pub fn regularized_incomplete_beta(self, b: impl Operand<'b>, x: impl Operand<'b>) -> Self {
        self.builder().record(|_| {
            let (b, x) = (b.beside(self)?, x.beside(self)?);
            let (b, x) = (implicit::pair(b, self, self)?.0, implicit::pair(x, self, self)?.0);
            in_f64([self, b, x], |[a, b, x]| incomplete(a, b, x))
        })
    }
}

fn incomplete<'b>(a: Value<'b>, b: Value<'b>, x: Value<'b>) -> Value<'b> {
    let (one, zero) = (x.full_like(1.0), x.full_like(0.0));
    let swapped = x.ge((a + 1.0) / (a + b + 2.0));
    let (first, second) = (swapped.select(b, a), swapped.select(a, b));
    let place = swapped.select(1.0 - x, x);
    let finite = |v: Value<'b>| v.gt(0.0) & v.lt(f64::INFINITY);
    let active = finite(a) & finite(b) & x.gt(0.0) & x.lt(1.0);
    let side = density(a, b, x) / first * continued_fraction(active, first, second, place);
    let inside = swapped.select(1.0 - side, side);
    let low = a.eq(f64::INFINITY) | b.eq(0.0);
    let high = b.eq(f64::INFINITY) | a.eq(0.0);
    let value = high.select(one, low.select(zero, inside));
    let value = x.eq(0.0).select(zero, x.eq(1.0).select(one, value));
    let defined = a.ge(0.0) & b.ge(0.0) & x.ge(0.0) & x.le(1.0) & !(low & high);
    defined.select(value, f64::NAN)
}

/// `x^a (1-x)^b / B(a, b)`, by its maximum at `a / (a+b)` and how far x is from there (the saddle point form): no term is
/// much larger than the logarithm of the result.
fn density<'b>(a: Value<'b>, b: Value<'b>, x: Value<'b>) -> Value<'b> {
    let (sum, rest) = (a + b, 1.0 - x);
    let away = x * b - rest * a;
    let left = a * log_minus_rest(x * (sum / a), away / a);
    let right = b * log_minus_rest(rest * (sum / b), -away / b);
    let height = (a / sum * b / TAU).sqrt();
    let correction = scaled_gamma(sum) / (scaled_gamma(a) * scaled_gamma(b));
    height * correction * (left + right).exp()
}

/// The continued fraction of DLMF 8.17.22, two terms a step, by Lentz's method; NaN where it has not converged.
fn continued_fraction<'b>(
    active: Value<'b>,
    a: Value<'b>,
    b: Value<'b>,
    x: Value<'b>,
) -> Value<'b> {
    let one = a.full_like(1.0);
    let d = 1.0 / (1.0 - (a + b) * x / (a + 1.0));
    let (end, late) = iterate(active, &[a, b, x, one, d, d], STEPS, |state, m| {
        let [a, b, x] = [state[0], state[1], state[2]];
        let twice = a + m * 2.0;
        let term = (b - m) * m * x / ((twice - 1.0) * twice);
        let d = 1.0 / (term * state[4] + 1.0);
        let c = term / state[3] + 1.0;
        let value = state[5] * (c * d);
        let term = -((a + m) * (a + b + m) * x / (twice * (twice + 1.0)));
        let d = 1.0 / (term * d + 1.0);
        let c = term / c + 1.0;
        let factor = c * d;
        let going = (factor - 1.0).abs().gt(f64::EPSILON);
        (vec![a, b, x, c, d, value * factor], going)
    });
    late.select(one * f64::NAN, end[5])
}
