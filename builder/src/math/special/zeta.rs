//! The Hurwitz zeta function and the polygamma functions.
use super::gamma::{digamma, gamma_from_one, stirling};
use super::tables::BERNOULLI;
use super::wide::{is_whole, with_operand};
use crate::{Operand, Value};
use std::f64::consts::TAU;

impl<'b> Value<'b> {
    /// Computes the Hurwitz zeta function of `self = s` and `q`: XLA's `Zeta`.
    ///
    /// `sum over k >= 0 of (q + k)^-s` for `s > 1` (DLMF 25.11.1): ten terms and the
    /// Euler-Maclaurin formula for the rest (25.11.5). Infinite at `s = 1`, NaN for `s < 1`. For
    /// `q <= 0` only whole `s` have a real sum, others give NaN; at `q = 0, -1, -2, ...` it is
    /// `inf` for even `s`, NaN for odd, where both signs are limits.
    ///
    /// Accuracy in `f64`: 8 ULP for `q > 0` (the error of `q + k` counts `s` times, where the sum
    /// is rounded); for `q < 0` the same of the largest of the three sums `zeta(s, q + n)`,
    /// `zeta(s, n - q)`, `zeta(s, 1 - q)` it is made of.
    #[track_caller]
    pub fn zeta(self, q: impl Operand<'b>) -> Self {
        self.record(|_| with_operand("zeta", self, q, |[s, q]| zeta(s, q)))
    }
    /// Returns the derivative of order `self = n` of [`digamma`](Value::digamma) at `x`: XLA's
    /// `Polygamma`.
    ///
    /// `(-1)^(n+1) n! zeta(n + 1, x)` for `n = 1, 2, ...`, `digamma(x)` for `n = 0`; NaN for other
    /// `n` (DLMF 5.15, 25.11.12). At the poles `x = 0, -1, -2, ...` it is `inf` for odd `n`, NaN
    /// for even.
    ///
    /// Accuracy in `f64`: 24 ULP for `x > 0` and `n <= 150`; beyond, where `n!` or the sum leave
    /// the range of `f64`, `2 (n + 1)` ULP.
    #[track_caller]
    pub fn polygamma(self, x: impl Operand<'b>) -> Self {
        self.record(|_| with_operand("polygamma", self, x, |[n, x]| polygamma(n, x)))
    }
}

/// Returns whether an integer is even.
fn is_even(x: Value<'_>) -> Value<'_> {
    is_whole(x * 0.5)
}

fn zeta<'b>(s: Value<'b>, q: Value<'b>) -> Value<'b> {
    let one = s.full_like(1.0);
    // Of a negative q the terms from q + k > 0 on are a sum of the usual kind, those before it one
    // less another.
    let whole = (-q).floor();
    let below = -q - whole;
    let before = sum(s, below, one) - sum(s, 1.0 - q, one);
    let before = is_even(s).select(before, -before);
    let negative = before + sum(s, 1.0 - below, one);
    let negative = is_whole(s).select(negative, f64::NAN);
    let value = q.gt(0.0).select(sum(s, q, one), negative);
    let pole = q.le(0.0) & is_whole(q);
    let at_pole = is_even(s).select(q.full_like(f64::INFINITY), f64::NAN);
    let value = pole.select(at_pole, value);
    let value = (s.eq(1.0) & q.eq(q)).select(s.full_like(f64::INFINITY), value);
    (s.lt(1.0) | q.eq(f64::NEG_INFINITY)).select(s.full_like(f64::NAN), value)
}

/// Returns `sum ((q + k) / unit)^-s` for positive q.
fn sum<'b>(s: Value<'b>, q: Value<'b>, unit: Value<'b>) -> Value<'b> {
    let power = |x: Value<'b>| (x / unit).pow(-s);
    let counted = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0];
    let first = power(q);
    let far = q + 10.0;
    // s (s+1) ... (s+2k-2) B(2k) / (2k)! / far^(2k-1)
    let mut factor = s / far;
    let mut tail = far / (s - 1.0) + 0.5;
    for (&number, k) in BERNOULLI.iter().zip(1i32..) {
        let order = f64::from(2 * k);
        factor = if k == 1 {
            factor * 0.5
        } else {
            let grown = (s + (order - 3.0)) * (s + (order - 2.0));
            factor * grown / (far * far * ((order - 1.0) * order))
        };
        tail = tail + factor * number;
    }
    let tail = power(far) * tail;
    let sum = counted.iter().fold(tail, |sum, &k| sum + power(q + k)) + first;
    // Beyond, only the first term counts, and the tail's factors leave the range of f64.
    (s.gt(1e5) | q.eq(f64::INFINITY)).select(first, sum)
}

fn polygamma<'b>(n: Value<'b>, x: Value<'b>) -> Value<'b> {
    let s = n + 1.0;
    let sign = is_even(n).select(n.full_like(-1.0), 1.0);
    let plain = gamma_from_one(s.max(1.0)) * zeta(s, x);
    // n! x^-(n+1) by Stirling's formula, as a fourth power whose base stays in range, times a sum
    // that is near 1.
    let quarter = (s / x).pow(s * 0.25) * (s * -0.25).exp();
    let scale = (TAU / s).sqrt() * stirling(s).exp() * quarter.square().square();
    let scaled = scale * sum(s, x, x);
    let usual = n.lt(8.0) | (n.le(150.0) & plain.abs().gt(1e-280)) | x.le(0.0);
    let value = sign * usual.select(plain, scaled);
    let value = n.eq(0.0).select(digamma(x), value);
    (is_whole(n) & n.ge(0.0)).select(value, f64::NAN)
}
