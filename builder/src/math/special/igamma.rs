//! Regularized incomplete gamma functions.
use super::erf::erfc;
use super::gamma::{gamma_from_one, lgamma1p, stirling};
use super::temme;
use super::wide::{iterate, log_minus_rest, log1p_rest, log1p_rest_holds, sign_of, with_operand};
use crate::{Operand, Value};
use std::f64::consts::TAU;

/// Enough steps for every series here; none needs a tenth of it.
pub(super) const STEPS: f64 = 4096.0;
/// Terms below this part of the sum no longer count.
pub(super) const SMALL: f64 = 1.0 / 9_007_199_254_740_992.0;

impl<'b> Value<'b> {
    /// Computes the lower regularized incomplete gamma function of `self = a` and `x`: XLA's
    /// `Igamma`.
    ///
    /// `P(a, x) = integral of t^(a-1) exp(-t) from 0 to x, over gamma(a)` (DLMF 8.2.4). The power
    /// series (8.11.4) for `x <= a`, else a continued fraction (8.9.2), for `a >= 30` with `x` from
    /// `0.31 a` to `2.35 a` Temme's expansion (8.12), so that the number of steps stays small for
    /// every `a`.
    ///
    /// For `a >= 0`, `x >= 0`, not both 0 and not both infinite; otherwise NaN. 0 for `x = 0`, 1
    /// for `x = inf` and for `a = 0`, 0 for `a = inf`.
    ///
    /// Accuracy in `f64`: `16 + 8 |ln P|` ULP.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let a = b.constant([1.0f32, 2.0, 1e6]);
    /// let result = interp::run(&b.build(a.igamma(a))?, &[])?;
    /// assert_eq!(result.to_string(), "f32[3]{0} {0.63212055, 0.593994141, 0.500133}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn igamma(self, x: impl Operand<'b>) -> Self {
        self.record(|_| {
            with_operand("igamma", self, x, |[a, x]| edges(a, x, incomplete(a, x).lower, 0.0))
        })
    }
    /// Computes the upper regularized incomplete gamma function of `self = a` and `x`: XLA's
    /// `Igammac`.
    ///
    /// `Q(a, x) = 1 - P(a, x)`, with all its digits where it is small (DLMF 8.2.4); computed as
    /// [`igamma`](Value::igamma) is, and where `a` and `x` are small by DLMF 8.7.3.
    ///
    /// NaN where `igamma` is; 1 for `x = 0`, 0 for `x = inf` and for `a = 0`, 1 for `a = inf`.
    ///
    /// Accuracy in `f64`: `16 + 8 |ln Q|` ULP.
    #[track_caller]
    pub fn igammac(self, x: impl Operand<'b>) -> Self {
        self.record(|_| {
            with_operand("igammac", self, x, |[a, x]| edges(a, x, incomplete(a, x).upper, 1.0))
        })
    }
}

/// Returns the value at the edges of the domain: `first` where x is 0 or a infinite, `1 - first`
/// where a is 0 or x infinite.
fn edges<'b>(a: Value<'b>, x: Value<'b>, inside: Value<'b>, first: f64) -> Value<'b> {
    let (low, high) = (x.eq(0.0) | a.eq(f64::INFINITY), a.eq(0.0) | x.eq(f64::INFINITY));
    let value = high.select(x.full_like(1.0 - first), low.select(x.full_like(first), inside));
    let outside = a.lt(0.0) | x.lt(0.0) | a.ne(a) | x.ne(x) | (low & high);
    outside.select(x.full_like(f64::NAN), value)
}

/// Which formula holds where, and what they share.
pub(super) struct FormulaRegions<'b> {
    /// Temme's expansion.
    pub(super) large: Value<'b>,
    /// The power series of P, elsewhere but for `large` the continued fraction of Q.
    pub(super) series: Value<'b>,
    /// `x/a - 1`
    pub(super) mu: Value<'b>,
    /// `log(x/a) - mu`, not positive.
    pub(super) log: Value<'b>,
    /// `x^a exp(-x) / gamma(a + 1)`
    pub(super) prefactor: Value<'b>,
}

pub(super) fn regions<'b>(a: Value<'b>, x: Value<'b>) -> FormulaRegions<'b> {
    let mu = (x - a) / a;
    let log = log_minus_rest(x / a, mu);
    let far = a.ge(temme::LARGE);
    let large = far & log.gt(-0.5);
    // Beyond 2000 the result is 0 for every a this is used for; halves of exp(-x) underflow late
    // enough.
    let bounded = x.min(2000.0);
    let (half, small) = ((bounded * -0.5).exp(), a.min(temme::LARGE));
    let near = bounded.pow(small) * half * half / gamma_from_one(small + 1.0);
    let uniform = (a * log).exp() / ((a * TAU).sqrt() * stirling(a).exp());
    let prefactor = far.select(uniform, near);
    let series = (x.le(a) | x.lt(1.1)) & !large;
    FormulaRegions { large, series, mu, log, prefactor }
}

/// Returns `eta` of DLMF 8.12.1, which has the sign of `mu`, and `mu / eta`, which is near 1.
pub(super) fn eta<'b>(r: &FormulaRegions<'b>) -> (Value<'b>, Value<'b>) {
    let near = 1.0 / (log1p_rest(r.mu) * -2.0).sqrt();
    let far = (r.log * -2.0).sqrt() * sign_of(r.mu);
    let is_near = log1p_rest_holds(r.mu);
    (is_near.select(r.mu / near, far), is_near.select(near, r.mu / far))
}

/// P and Q.
struct Incomplete<'b> {
    lower: Value<'b>,
    upper: Value<'b>,
}

fn incomplete<'b>(a: Value<'b>, x: Value<'b>) -> Incomplete<'b> {
    let r = regions(a, x);
    let lower = r.prefactor * power_series(r.series, a, x);
    let fraction = !r.series & !r.large & x.lt(f64::INFINITY) & a.gt(0.0);
    let upper = r.prefactor * a * continued_fraction(fraction, a, x);
    // Where a is so small that Q is too small to be 1 - P.
    let bound = x.le(0.5).select(-0.4 / x.log(), x * 0.75);
    let tiny = r.series & x.lt(1.1) & a.lt(bound) & x.gt(0.0);
    let small_upper = complement_series(tiny, a, x);
    let uniform = uniform(a, &r);
    Incomplete {
        lower: r.large.select(uniform.lower, r.series.select(lower, 1.0 - upper)),
        upper: r
            .large
            .select(uniform.upper, tiny.select(small_upper, r.series.select(1.0 - lower, upper))),
    }
}

/// Returns `sum x^n / ((a+1) ... (a+n))`
fn power_series<'b>(active: Value<'b>, a: Value<'b>, x: Value<'b>) -> Value<'b> {
    let one = a.full_like(1.0);
    let (end, _) = iterate(active, &[a, x, one, one], STEPS, |state, n| {
        let (a, x) = (state[0], state[1]);
        let term = state[2] * x / (a + n);
        let sum = state[3] + term;
        (vec![a, x, term, sum], term.gt(sum * SMALL))
    });
    end[3]
}

/// Returns the continued fraction of `gamma(a, x) exp(x) x^-a`, DLMF 8.9.2, by Lentz's method.
fn continued_fraction<'b>(active: Value<'b>, a: Value<'b>, x: Value<'b>) -> Value<'b> {
    let first = x + 1.0 - a;
    let (c, d) = (a.full_like(f64::INFINITY), 1.0 / first);
    let (end, _) = iterate(active, &[a, first, c, d, d], STEPS, |state, n| {
        let a = state[0];
        let (numerator, b) = ((a - n) * n, state[1] + 2.0);
        let d = 1.0 / (b + numerator * state[3]);
        let c = b + numerator / state[2];
        let factor = c * d;
        (vec![a, b, c, d, state[4] * factor], (factor - 1.0).abs().gt(SMALL))
    });
    end[4]
}

/// Computes Q for small a and x, DLMF 8.7.3:
/// `1 - x^a / gamma(a+1) (1 + a sum (-x)^n / (n! (a+n)))`, without the cancellation.
fn complement_series<'b>(active: Value<'b>, a: Value<'b>, x: Value<'b>) -> Value<'b> {
    let (one, zero) = (a.full_like(1.0), a.full_like(0.0));
    let (end, _) = iterate(active, &[a, x, one, zero], STEPS, |state, n| {
        let (a, x) = (state[0], state[1]);
        let power = state[2] * -x / n;
        let term = power / (a + n);
        let sum = state[3] + term;
        (vec![a, x, power, sum], term.abs().gt(sum.abs() * SMALL))
    });
    let log = a * x.log() - lgamma1p(a.min(1.0));
    -log.expm1() - log.exp() * a * end[3]
}

/// Computes Temme's expansion, DLMF 8.12.3 and 8.12.4.
fn uniform<'b>(a: Value<'b>, r: &FormulaRegions<'b>) -> Incomplete<'b> {
    let eta = eta(r).0;
    let normal = erfc(eta.abs() * (a * 0.5).sqrt()) * 0.5;
    let rest = (a * r.log).exp() / (a * TAU).sqrt() * temme::sum(a, eta);
    let below = eta.lt(0.0);
    let side = normal + below.select(-rest, rest);
    Incomplete { lower: below.select(side, 1.0 - side), upper: below.select(1.0 - side, side) }
}
