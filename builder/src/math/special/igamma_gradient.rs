//! Derivatives of the incomplete gamma function by its first argument.
use super::gamma::{digamma, stirling};
use super::igamma::{FormulaRegions, SMALL, STEPS, eta, regions};
use super::temme;
use super::wide::{iterate, like, with_operand};
use crate::{Operand, Value};

impl<'b> Value<'b> {
    /// Computes the derivative of [`igamma`](Value::igamma)`(a, x)` by `self = a`: XLA's
    /// `IgammaGradA`.
    ///
    /// The derivatives of the formulas of `igamma`, term by term. 0 for `x = 0` and for infinite
    /// `x`; NaN unless `0 < a < inf` and `x >= 0`.
    ///
    /// Accuracy in `f64`: `64 + 8 |ln D|` ULP where `D` is the result.
    #[track_caller]
    pub fn igamma_grad_a(self, x: impl Operand<'b>) -> Self {
        self.record(|_| {
            with_operand("igamma_grad_a", self, x, |[a, x]| {
                let r = regions(a, x);
                let inside = r.prefactor * gradient(a, x, &r);
                let flat = x.eq(0.0) | x.eq(f64::INFINITY);
                domain(a, x, flat.select(x.full_like(0.0), inside))
            })
        })
    }
    /// Returns how a sample `x` of the gamma distribution of shape `self = a` moves with `a`: XLA's
    /// `RandomGammaGrad`.
    ///
    /// `-dP/da / dP/dx` where `P` is [`igamma`](Value::igamma): the derivative of the quantile
    /// `x(a)` at a fixed probability, as reparameterized sampling needs it (Figurnov, Mohamed,
    /// Mnih, 2018). 0 for `x = 0`; NaN unless `0 < a < inf` and `0 <= x < inf`.
    ///
    /// Accuracy in `f64`: 128 ULP.
    #[track_caller]
    pub fn random_gamma_grad(self, x: impl Operand<'b>) -> Self {
        self.record(|_| {
            with_operand("random_gamma_grad", self, x, |[a, x]| {
                let r = regions(a, x);
                // dP/dx is the prefactor times a / x.
                let inside = -gradient(a, x, &r) * (x / a);
                domain(a, x, x.eq(0.0).select(x.full_like(0.0), inside))
            })
        })
    }
}

fn domain<'b>(a: Value<'b>, x: Value<'b>, inside: Value<'b>) -> Value<'b> {
    let good = a.gt(0.0) & a.lt(f64::INFINITY) & x.ge(0.0);
    good.select(inside, f64::NAN)
}

/// Returns `dP/da` over the prefactor `x^a exp(-x) / gamma(a + 1)`.
fn gradient<'b>(a: Value<'b>, x: Value<'b>, r: &FormulaRegions<'b>) -> Value<'b> {
    let inside = a.gt(0.0) & x.gt(0.0) & x.lt(f64::INFINITY);
    let slope = x.log() - digamma(a);
    // Q = prefactor a C: dP = -prefactor a (slope C + dC)
    let fraction = continued_fraction(inside & !r.series & !r.large, a, x);
    let fraction = -a * (slope * fraction.value + fraction.slope);
    // P = prefactor S: dP = prefactor ((slope - 1/a) S + dS), since digamma(a + 1) = digamma(a) +
    // 1/a
    let series = power_series(inside & r.series, a, x);
    let series = (x.log() - digamma(a + 1.0)) * series.value + series.slope;
    r.large.select(uniform(a, r), r.series.select(series, fraction))
}

/// A function and its derivative by `a`.
struct Dual<'b> {
    value: Value<'b>,
    slope: Value<'b>,
}

/// Returns `sum x^n / ((a+1) ... (a+n))`
fn power_series<'b>(active: Value<'b>, a: Value<'b>, x: Value<'b>) -> Dual<'b> {
    let (one, zero) = (a.full_like(1.0), a.full_like(0.0));
    let (end, _) = iterate(active, &[a, x, one, zero, one, zero], STEPS, |state, n| {
        let (a, x) = (state[0], state[1]);
        let below = a + n;
        let term = state[2] * x / below;
        let slope = (state[3] * x - term) / below;
        let (value, sum) = (state[4] + term, state[5] + slope);
        let going = term.gt(value * SMALL) | slope.abs().gt(sum.abs() * SMALL);
        (vec![a, x, term, slope, value, sum], going)
    });
    Dual { value: end[4], slope: end[5] }
}

/// Returns the continued fraction of `gamma(a, x) exp(x) x^-a`, DLMF 8.9.2, by Lentz's method.
fn continued_fraction<'b>(active: Value<'b>, a: Value<'b>, x: Value<'b>) -> Dual<'b> {
    let first = x + 1.0 - a;
    let (c, d, zero) = (a.full_like(f64::INFINITY), 1.0 / first, a.full_like(0.0));
    let start = [a, first, c, zero, d, d * d, d, d * d];
    let (end, _) = iterate(active, &start, STEPS, |state, n| {
        let a = state[0];
        // By a: the numerator n (a - n) grows with n, the denominator x + 2n + 1 - a falls with 1.
        let (numerator, b) = ((a - n) * n, state[1] + 2.0);
        let [c, c_slope, d, d_slope]: [Value<'b>; 4] = [state[2], state[3], state[4], state[5]];
        let down: Value<'b> = 1.0 / (b + numerator * d);
        let down_slope = -(down * down) * (numerator * d_slope + d * n - 1.0);
        let up = b + numerator / c;
        let up_slope = (like(n, c) - numerator * c_slope / c) / c - 1.0;
        let factor = up * down;
        let factor_slope = up_slope * down + up * down_slope;
        let (value, slope) = (state[6] * factor, state[7] * factor + state[6] * factor_slope);
        let going =
            (factor - 1.0).abs().gt(SMALL) | (slope - state[7]).abs().gt(slope.abs() * SMALL);
        (vec![a, b, up, up_slope, down, down_slope, value, slope], going)
    });
    Dual { value: end[6], slope: end[7] }
}

/// Computes Temme's expansion, DLMF 8.12.3, differentiated: with
/// `P = erfc(-y)/2 - exp(-y^2) / sqrt(2 pi a) T(a, eta)`, `y = eta sqrt(a/2)` and
/// `d eta/da = -mu / (a eta)`.
fn uniform<'b>(a: Value<'b>, r: &FormulaRegions<'b>) -> Value<'b> {
    let (eta, ratio) = eta(r);
    let sum = temme::sum(a, eta);
    let by_a = temme::sum_by_a(a, eta) - temme::sum_by_eta(a, eta) * ratio / a;
    // r.log is -eta^2 / 2.
    let falling = r.mu + r.log - 0.5 / a;
    stirling(a).exp() * (eta * 0.5 - ratio - sum * falling - by_a)
}
