//! Temme's uniform expansion of the incomplete gamma functions for large `a` (DLMF 8.12).
use super::tables::TEMME;
use super::wide::polynomial;
use crate::Value;

/// From this `a` on the expansion is used, where `eta` is from -1 to 1.
pub(super) const LARGE: f64 = 30.0;

/// Returns `sum c_k(eta) / a^k`, the factor of DLMF 8.12.7.
pub(super) fn sum<'b>(a: Value<'b>, eta: Value<'b>) -> Value<'b> {
    in_powers(a, TEMME.iter().map(|row| polynomial(eta, row)))
}
/// Returns its derivative by `eta`.
pub(super) fn sum_by_eta<'b>(a: Value<'b>, eta: Value<'b>) -> Value<'b> {
    in_powers(a, TEMME.iter().map(|row| polynomial(eta, &derivative(row))))
}
/// Returns its derivative by `a`, where `eta` stays as it is.
pub(super) fn sum_by_a<'b>(a: Value<'b>, eta: Value<'b>) -> Value<'b> {
    let orders = (1i32..).map(f64::from);
    let rows = TEMME.iter().skip(1).zip(orders).map(|(row, k)| polynomial(eta, row) * -k);
    let rows: Vec<Value<'b>> = rows.collect();
    in_powers(a, rows.into_iter()) / (a * a)
}

/// Returns `terms[0] + terms[1] / a + ...`
fn in_powers<'b>(a: Value<'b>, terms: impl DoubleEndedIterator<Item = Value<'b>>) -> Value<'b> {
    let sum = terms.rev().reduce(|sum, term| sum / a + term);
    sum.unwrap_or_else(|| a.full_like(0.0))
}
/// Returns the coefficients of the derivative of a polynomial.
fn derivative(coefficients: &[f64]) -> Vec<f64> {
    let orders = (1i32..).map(f64::from);
    coefficients.iter().skip(1).zip(orders).map(|(c, n)| c * n).collect()
}
