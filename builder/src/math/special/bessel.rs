//! Modified Bessel functions of the first kind, exponentially scaled.
use super::tables::{BESSEL_I0E, BESSEL_I1E};
use super::wide::{in_f64, polynomial};
use crate::Value;

impl Value<'_> {
    /// Computes the scaled modified Bessel function of order 0: XLA's `BesselI0e`.
    ///
    /// `exp(-|x|) I0(x)`, where `I0(x) = sum (x*x/4)^k / (k!)^2` (DLMF 10.25.2); from 8 on a
    /// polynomial in `1/x` over `sqrt(x)`. Even; 1 at 0, 0 at both infinities.
    ///
    /// Accuracy in `f64`: 4 ULP.
    #[track_caller]
    pub fn bessel_i0e(self) -> Self {
        self.record(|_| {
            in_f64("bessel_i0e", [self], |[x]| {
                let magnitude = x.abs();
                let near = (-magnitude).exp() * polynomial(x * x * 0.25, &series(0));
                magnitude.le(8.0).select(near, far(magnitude, BESSEL_I0E))
            })
        })
    }
    /// Computes the scaled modified Bessel function of order 1: XLA's `BesselI1e`.
    ///
    /// `exp(-|x|) I1(x)`, where `I1(x) = x/2 sum (x*x/4)^k / (k! (k+1)!)` (DLMF 10.25.2); from 8 on
    /// a polynomial in `1/x` over `sqrt(x)`. Odd; `-0` stays `-0`, zeros of the operand's sign at
    /// both infinities.
    ///
    /// Accuracy in `f64`: 4 ULP.
    #[track_caller]
    pub fn bessel_i1e(self) -> Self {
        self.record(|_| {
            in_f64("bessel_i1e", [self], |[x]| {
                let magnitude = x.abs();
                let near = (-magnitude).exp() * polynomial(x * x * 0.25, &series(1)) * (x * 0.5);
                let far = x.sign() * far(magnitude, BESSEL_I1E);
                magnitude.le(8.0).select(near, far)
            })
        })
    }
}

/// Returns `1 / (k! (k + order)!)` for as many `k` as count up to `x = 8`.
fn series(order: i32) -> Vec<f64> {
    let ratios = (1i32..24).map(|k| 1.0 / (f64::from(k) * f64::from(k + order)));
    let first = [1.0].into_iter();
    first
        .chain(ratios.scan(1.0, |term, ratio| {
            *term *= ratio;
            Some(*term)
        }))
        .collect()
}
fn far<'b>(magnitude: Value<'b>, coefficients: &[f64]) -> Value<'b> {
    polynomial(16.0 / magnitude - 1.0, coefficients) / magnitude.sqrt()
}
