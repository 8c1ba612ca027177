//! Numbers in twice the precision, of any size.
use super::double_double::{DoubleDouble, Real};
use super::exact::{exponent, scale};

/// The number `value * 2^exponent`, which may be out of the range of f64.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scaled {
    pub(super) value: DoubleDouble,
    pub(super) exponent: i32,
}

impl Scaled {
    /// Returns a finite number with a value near 1, or zero.
    pub(super) fn of(x: f64) -> Self {
        let exponent = exponent(x);
        Self { value: scale(x, -exponent).into(), exponent }
    }
    fn product(a: f64, b: f64) -> Self {
        let (a, b) = (Self::of(a), Self::of(b));
        let value = DoubleDouble::product(a.value.hi, b.value.hi);
        // The exponent of a zero does not count in a sum.
        let exponent = if value.hi == 0.0 { -10_000 } else { a.exponent + b.exponent };
        Self { value, exponent }
    }
    /// Returns `a * b + c * d` of finite numbers.
    pub(super) fn products(a: f64, b: f64, c: f64, d: f64) -> Self {
        let (p, q) = (Self::product(a, b), Self::product(c, d));
        let exponent = p.exponent.max(q.exponent);
        let [p, q] = [p, q].map(|x| x.value.scaled(x.exponent - exponent));
        Self { value: p + q, exponent }
    }
    pub(super) fn times(self, other: Self) -> Self {
        Self { value: self.value * other.value, exponent: self.exponent + other.exponent }
    }
    pub(super) fn over(self, other: Self) -> Self {
        Self { value: self.value / other.value, exponent: self.exponent - other.exponent }
    }
    pub(super) fn to_f64(self) -> f64 {
        self.value.scaled_to_f64(self.exponent)
    }
    pub(super) fn unscaled(self) -> DoubleDouble {
        self.value.scaled(self.exponent)
    }
}
