//! Modified Bessel functions of the first kind, exponentially scaled.
use super::tables::{BESSEL_I0E, BESSEL_I1E};
use super::wide::{in_f64, polynomial};
use crate::Value;

impl Value<'_> {
    /// Computes the modified Bessel function of order 0, which grows as `exp(|x|)`; where that is
    /// too large, [`Value::bessel_i0e`] is its product with `exp(-|x|)`.
    ///
    /// Even; 1 at 0, infinite at both infinities.
    ///
    /// Accuracy in `f64`: 8 ULP up to 100, 16 ULP beyond.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([0f32, 3.0, -3.0]).bessel_i0())?, &[])?;
    /// assert_eq!(result.to_string(), "f32[3]{0} {1, 4.88079262, 4.88079262}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "i0")]
    #[track_caller]
    pub fn bessel_i0(self) -> Self {
        self.record(|_| {
            in_f64("bessel_i0", [self], |[x]| {
                let magnitude = x.abs();
                let near = polynomial(x * x * 0.25, &series(0));
                // In two factors, since the exponential overflows before the product does.
                let half = (magnitude * 0.5).exp();
                let far = far(magnitude, BESSEL_I0E) * half * half;
                // At infinity `far` is 0 times infinity.
                let far = magnitude.lt(f64::INFINITY).select(far, magnitude);
                magnitude.le(8.0).select(near, far)
            })
        })
    }
    /// Computes the scaled modified Bessel function of order 0: XLA's `BesselI0e`.
    ///
    /// `exp(-|x|) I0(x)`, where `I0(x) = sum (x*x/4)^k / (k!)^2` (DLMF 10.25.2); from 8 on a
    /// polynomial in `1/x` over `sqrt(x)`. Even; 1 at 0, 0 at both infinities.
    ///
    /// Accuracy in `f64`: 4 ULP.
    #[doc(alias = "i0e")]
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
    #[doc(alias = "i1e")]
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
