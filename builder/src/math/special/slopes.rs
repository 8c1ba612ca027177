//! Derivatives of special functions that have no name of their own.
use super::beta;
use super::gamma::gamma_from_one;
use super::igamma::regions;
use super::tables::BERNOULLI;
use super::temme::LARGE;
use super::wide::in_f64;
use crate::Value;

/// Returns `x^(a-1) exp(-x) / gamma(a)`: the derivative of [`igamma`](Value::igamma)`(a, x)` by
/// `x`.
///
/// NaN where `igamma` is. At `x = 0` the limit, which is 1 for `a = 1`; 0 where `igamma` is
/// constant.
pub(crate) fn gamma_density<'b>(a: Value<'b>, x: Value<'b>) -> Value<'b> {
    a.record(|_| {
        in_f64("gamma_density", [a, x], |[a, x]| {
            // As in `regions`, with the power one lower: x^a alone could underflow.
            let (bounded, small) = (x.min(2000.0), a.min(LARGE));
            let half = (bounded * -0.5).exp();
            let near = bounded.pow(small - 1.0) * half * half * a / gamma_from_one(small + 1.0);
            let value = a.ge(LARGE).select(regions(a, x).prefactor * (a / x), near);
            let (first, last) = (a.eq(f64::INFINITY), a.eq(0.0) | x.eq(f64::INFINITY));
            let value = (first | last | (x.eq(0.0) & a.gt(1.0))).select(x.full_like(0.0), value);
            let outside = a.lt(0.0) | x.lt(0.0) | a.ne(a) | x.ne(x);
            let corner = (first & x.eq(f64::INFINITY)) | (a.eq(0.0) & x.eq(0.0));
            (outside | corner).select(x.full_like(f64::NAN), value)
        })
    })
}

/// Returns `x^(a-1) (1-x)^(b-1) / B(a, b)`: the derivative of
/// [`regularized_incomplete_beta`](Value::regularized_incomplete_beta)`(a, b, x)` by `x`.
///
/// NaN where the function is. At `x = 0` and `x = 1` the limit; 0 where the function is constant.
pub(crate) fn beta_density<'b>([a, b, x]: [Value<'b>; 3]) -> Value<'b> {
    a.record(|_| {
        in_f64("beta_density", [a, b, x], |[a, b, x]| {
            let (one, zero) = (x.full_like(1.0), x.full_like(0.0));
            let limit = |near: Value<'b>, far: Value<'b>| {
                let steep = near.lt(1.0).select(x.full_like(f64::INFINITY), zero);
                near.eq(1.0).select(far, steep)
            };
            let infinite = |v: Value<'b>| v.eq(f64::INFINITY);
            let flat = a.eq(0.0) | b.eq(0.0) | infinite(a) | infinite(b);
            let ends = x.eq(0.0) | x.eq(1.0);
            let (a_inside, b_inside) = (flat.select(one, a), flat.select(one, b));
            let x_inside = ends.select(x.full_like(0.5), x);
            let inside = beta::density([a_inside, b_inside, x_inside], 1.0);
            let value = flat.select(zero, inside);
            let value = x.eq(0.0).select(limit(a, b), x.eq(1.0).select(limit(b, a), value));
            let low = infinite(a) | b.eq(0.0);
            let high = infinite(b) | a.eq(0.0);
            let defined = a.ge(0.0) & b.ge(0.0) & x.ge(0.0) & x.le(1.0) & !(low & high);
            defined.select(value, f64::NAN)
        })
    })
}

/// Returns the derivative of [`zeta`](Value::zeta)`(s, q)` by `s`, `-sum log(q + k) (q + k)^-s`,
/// for `s > 1` and `q > 0`; NaN for others, since the sum is real for single values of `s` only
/// where `q` is negative.
pub(crate) fn zeta_slope<'b>(s: Value<'b>, q: Value<'b>) -> Value<'b> {
    s.record(|_| {
        in_f64("zeta_slope", [s, q], |[s, q]| {
            let defined = s.gt(1.0) & q.gt(0.0) & q.lt(f64::INFINITY);
            let (s, q) = (defined.select(s, 2.0), defined.select(q, 1.0));
            let term = |x: Value<'b>| x.pow(-s) * x.log();
            let far = q + 10.0;
            // The terms of the Euler-Maclaurin formula as in `zeta`, and their derivatives.
            let (mut factor, mut slope) = (s * 0.5 / far, 0.5 / far);
            let below = s - 1.0;
            let (mut tail, mut tail_slope) = (far / below + 0.5, -far / (below * below));
            for (&number, k) in BERNOULLI.iter().zip(1i32..) {
                let order = f64::from(2 * k);
                if k > 1 {
                    let (left, right) = (s + (order - 3.0), s + (order - 2.0));
                    let scale = far * far * ((order - 1.0) * order);
                    slope = (slope * (left * right) + factor * (left + right)) / scale;
                    factor = factor * (left * right) / scale;
                }
                tail = tail + factor * number;
                tail_slope = tail_slope + slope * number;
            }
            let rest = far.pow(-s) * (tail_slope - tail * far.log());
            let count = (0i32..10).map(f64::from);
            let sum = count.rev().fold(rest, |sum, k| sum - term(q + k));
            // As in `zeta`.
            let sum = s.gt(1e5).select(-term(q), sum);
            defined.select(sum, f64::NAN)
        })
    })
}
