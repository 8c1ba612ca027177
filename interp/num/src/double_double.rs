//! Real numbers for ops that take many steps before they round: f64, and sums of two f64.
//!
//! An op on floats of 32 bits or fewer computes in f64, which has 29 bits to spare. An op on f64
//! computes in [`DoubleDouble`], about 106 bits. Both are a [`Real`], so that the op is written
//! once.
use super::exact::{scale, two_product, two_sum};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The number type of intermediate results, wider than the type of the final result.
pub trait Real:
    Copy
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + From<f64>
{
    /// Returns the number nearest to `x`.
    fn nearest(x: DoubleDouble) -> Self;
    /// Returns the f64 nearest to it.
    fn rounded(self) -> f64;
    /// Returns the square root; NaN of a negative number.
    fn sqrt(self) -> Self;
    /// Returns `self * 2^n`.
    fn scaled(self, n: i32) -> Self;
    /// Returns `self + a * b`, one of many steps that end with [`Real::normalized`].
    fn add_product(self, a: Self, b: Self) -> Self;
    /// Returns the normalized result of such steps.
    fn normalized(self) -> Self;
}

impl Real for f64 {
    fn nearest(x: DoubleDouble) -> Self {
        x.hi
    }
    fn rounded(self) -> f64 {
        self
    }
    fn sqrt(self) -> Self {
        // IEEE 754 defines the root to the last bit.
        self.sqrt()
    }
    fn scaled(self, n: i32) -> Self {
        scale(self, n)
    }
    #[inline]
    fn add_product(self, a: Self, b: Self) -> Self {
        self + a * b
    }
    #[inline]
    fn normalized(self) -> Self {
        self
    }
}

/// The sum of two f64, of which the first is the nearest to it; an infinity or NaN is in the first,
/// and the second is 0.
///
/// The relative error of a sum is at most 3 u^2 (u = 2^-53), also if the operands cancel, that of a
/// product 5 u^2, and of a root 25/8 u^2, all to the first order and while nothing underflows. A
/// product of two f64 is exact. The proofs are in Joldes, Muller, Popescu, "Tight and rigorous
/// error bounds for basic building blocks of double-word arithmetic" (`AccurateDWPlusDW`); Muller,
/// Rideau, "Formalization of double-word arithmetic" (`DWTimesDW1`); and Lefevre et al., "Accurate
/// calculation of Euclidean norms using double-word arithmetic" (`SQRTDWtoDW`). A quotient is
/// within 11 u^2: the remainder of the first numbers is exact, and corrections of at most 3 u are
/// rounded three times and divided by the first number alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DoubleDouble {
    pub(super) hi: f64,
    pub(super) lo: f64,
}

impl DoubleDouble {
    /// 0.
    pub const ZERO: Self = Self { hi: 0.0, lo: 0.0 };
    /// A right angle, pi / 2.
    pub const FRAC_PI_2: Self =
        Self { hi: std::f64::consts::FRAC_PI_2, lo: 6.123_233_995_736_766e-17 };

    /// Returns the f64 nearest to the sum of both numbers, also if it is not normalized.
    #[inline]
    pub fn nearest_f64(self) -> f64 {
        self.hi + self.lo
    }
    /// Returns the normalized sum of a number and a much smaller one.
    #[inline]
    fn new(hi: f64, lo: f64) -> Self {
        let sum = hi + lo;
        // A zero rest is not added, which keeps a negative zero; after overflow the rest is
        // meaningless.
        if lo == 0.0 || !sum.is_finite() {
            return Self { hi, lo: 0.0 };
        }
        Self { hi: sum, lo: lo - (sum - hi) }
    }
}

impl From<f64> for DoubleDouble {
    #[inline]
    fn from(x: f64) -> Self {
        Self { hi: x, lo: 0.0 }
    }
}
impl Neg for DoubleDouble {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}
impl Add for DoubleDouble {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        let (sum, error) = two_sum(self.hi, other.hi);
        let (low, low_error) = two_sum(self.lo, other.lo);
        let first = Self::new(sum, error + low);
        Self::new(first.hi, first.lo + low_error)
    }
}
impl Sub for DoubleDouble {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}
impl Mul for DoubleDouble {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        let (product, error) = two_product(self.hi, other.hi);
        if !product.is_finite() {
            return product.into();
        }
        Self::new(product, error + (self.hi * other.lo + self.lo * other.hi))
    }
}
impl Div for DoubleDouble {
    type Output = Self;
    #[inline]
    fn div(self, other: Self) -> Self {
        let first = self.hi / other.hi;
        if !first.is_finite() || first == 0.0 || other.hi.is_infinite() {
            return first.into();
        }
        // The first term is exact.
        let rest = (-first).mul_add(other.hi, self.hi) + (-first).mul_add(other.lo, self.lo);
        Self::new(first, rest / other.hi)
    }
}
impl Real for DoubleDouble {
    fn nearest(x: DoubleDouble) -> Self {
        x
    }
    fn rounded(self) -> f64 {
        self.hi
    }
    fn sqrt(self) -> Self {
        let root = self.hi.sqrt();
        if root == 0.0 || !root.is_finite() {
            return root.into();
        }
        let (square, error) = two_product(root, root);
        let rest = (self.hi - square) - error + self.lo;
        Self::new(root, rest / (2.0 * root))
    }
    fn scaled(self, n: i32) -> Self {
        Self { hi: scale(self.hi, n), lo: scale(self.lo, n) }
    }
    /// Accumulates all errors in the second number without normalizing: a third of the work of a
    /// sum and a product.
    #[inline]
    fn add_product(self, a: Self, b: Self) -> Self {
        let (product, error) = two_product(a.hi, b.hi);
        let (sum, sum_error) = two_sum(self.hi, product);
        let rest = (error + sum_error) + (a.hi * b.lo + a.lo * b.hi);
        Self { hi: sum, lo: self.lo + rest }
    }
    #[inline]
    fn normalized(self) -> Self {
        Self::new(self.hi, self.lo)
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values are compared")]
mod tests {
    use super::*;

    fn twice(hi: f64, lo: f64) -> DoubleDouble {
        DoubleDouble::new(hi, lo)
    }
    /// Returns whether two numbers agree in some hundred bits.
    fn close(a: DoubleDouble, b: DoubleDouble) -> bool {
        (a - b).hi.abs() <= b.hi.abs() * 2.0_f64.powi(-100)
    }

    #[test]
    fn keeps_what_rounding_loses() {
        let tiny = 2.0_f64.powi(-50);
        let x = DoubleDouble::from(1.0) + tiny.into();
        assert_eq!((x - 1.0.into()).rounded(), tiny);
        assert_eq!((x * x - 1.0.into() - (2.0 * tiny).into()).rounded(), tiny * tiny);
    }

    #[test]
    fn quotients_and_roots_multiply_back() {
        for x in [3.0, 7.0, 0.1, 1e300, 1e-200, 12_345.678] {
            let x = twice(x, x * 2.0_f64.powi(-60));
            let third = x / 3.0.into();
            assert!(close(third * 3.0.into(), x), "{x:?}");
            let root = x.sqrt();
            assert!(close(root * root, x), "{x:?}");
        }
        let third = DoubleDouble::from(1.0) / 3.0.into();
        assert_eq!((third.hi, third.lo), (1.0 / 3.0, 1.850_371_707_708_594e-17));
    }

    #[test]
    fn sums_of_products_are_as_good_as_step_by_step() {
        let numbers: Vec<DoubleDouble> =
            (1..200).map(|k| DoubleDouble::from(1.0) / f64::from(k).into()).collect();
        let one_by_one = numbers.iter().fold(DoubleDouble::ZERO, |sum, &x| sum + x * x);
        let at_once =
            numbers.iter().fold(DoubleDouble::ZERO, |sum, &x| sum.add_product(x, x)).normalized();
        assert!(close(at_once, one_by_one));
        let infinite = DoubleDouble::ZERO.add_product(1e200.into(), 1e200.into());
        assert_eq!(infinite.add_product(1.0.into(), 1.0.into()).normalized().hi, f64::INFINITY);
    }

    #[test]
    fn special_values_are_those_of_f64() {
        let of = |x: f64| DoubleDouble::from(x);
        let values = [0.0, -0.0, 1.0, -2.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e308];
        let same = |a: DoubleDouble, b: f64, what: &str| {
            assert!(
                a.hi == b && a.hi.signum() == b.signum() || a.hi.is_nan() && b.is_nan(),
                "{what}"
            );
            assert!(!a.lo.is_nan(), "{what}");
        };
        for a in values {
            for b in values {
                same(of(a) + of(b), a + b, &format!("{a} + {b}"));
                same(of(a) - of(b), a - b, &format!("{a} - {b}"));
                same(of(a) * of(b), a * b, &format!("{a} * {b}"));
                same(of(a) / of(b), a / b, &format!("{a} / {b}"));
            }
            same(of(a).sqrt(), a.sqrt(), &format!("sqrt {a}"));
        }
    }
}
