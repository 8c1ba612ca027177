//! The complementary error function and the inverse of the error function.
use super::tables::{ERF_INV_CENTER, ERF_INV_MIDDLE, ERF_INV_TAIL, ERFCX};
use super::wide::{exp_of_minus_square, in_f64, polynomial, sign_of};
use crate::Value;

impl Value<'_> {
    /// Computes the complementary error function: XLA's `Erfc`.
    ///
    /// `erfc(x) = 1 - erf(x)`, which for large `x` is far smaller than 1 and keeps all its digits
    /// here (DLMF 7.2.2). 2 at `-inf`, 0 at `inf` and from about 27.23 on, where it is smaller than
    /// any `f64`.
    ///
    /// Accuracy in `f64`: 4 ULP, in the tail too; results below 2.3e-308 within 1 ULP of the
    /// smallest numbers.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([0.0f32, 0.5, 5.0]).erfc())?, &[])?;
    /// assert_eq!(result.to_string(), "f32[3]{0} {1, 0.479500115, 1.53745983e-12}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn erfc(self) -> Self {
        self.record(|_| in_f64("erfc", [self], |[x]| erfc(x)))
    }
    /// Computes the inverse of the error function: XLA's `ErfInv`.
    ///
    /// `erf(erf_inv(x)) = x` for `x` from -1 to 1 (DLMF 7.17). Infinite at -1 and 1, NaN beyond;
    /// `-0` stays `-0`.
    ///
    /// Accuracy in `f64`: 4 ULP, up to the last numbers before 1 and -1.
    #[track_caller]
    pub fn erf_inv(self) -> Self {
        self.record(|_| in_f64("erf_inv", [self], |[x]| erf_inv(x)))
    }
}

/// Returns `erfc` of an f64.
pub(super) fn erfc(x: Value<'_>) -> Value<'_> {
    // From 28 on the result is 0; without the bound infinity would meet itself.
    let far = x.min(28.0);
    let t = ((far - 2.0) / (far + 2.0) - 0.15) / 0.75;
    let scaled = polynomial(t, ERFCX) / (far * 2.0 + 1.0);
    x.lt(0.5).select(1.0 - x.erf(), exp_of_minus_square(far) * scaled)
}

fn erf_inv(x: Value<'_>) -> Value<'_> {
    let magnitude = x.abs();
    let center = x * polynomial(x * x / 0.281_25 - 1.0, ERF_INV_CENTER);
    // ln(1 - x*x) from two exact sums: near 1 the square would lose the digits that count.
    let s = (-((-magnitude).log1p() + magnitude.log1p())).sqrt();
    let middle = s * polynomial((s - 1.7) / 0.8, ERF_INV_MIDDLE);
    let tail = s * polynomial((s - 4.35) / 1.85, ERF_INV_TAIL);
    let outer = sign_of(x) * s.lt(2.5).select(middle, tail);
    let finite = magnitude.le(0.75).select(center, outer);
    magnitude.eq(1.0).select(x * f64::INFINITY, finite)
}
