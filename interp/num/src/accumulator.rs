//! Sums that are rounded once.
//!
//! [`ExactSum`] is exact: the reference functions in `spec` use it, and kernels where the error
//! bound of a faster sum does not decide its rounding. Its value is the correctly rounded sum,
//! whatever the order, the cancellation and the intermediate magnitudes. [`Sum`] carries its
//! rounding errors in a second f64 (Neumaier's variant of Kahan's summation): tiles of products and
//! linear algebra use it.
use super::exact::{round_to_odd, scale, two_product, two_sum};
use hlo::{ElementType, Scalar};

/// A running sum of f64 and its rounding errors.
#[derive(Debug, Clone, Copy)]
pub struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    /// Returns the sum of one number.
    #[inline]
    pub fn new(first: f64) -> Self {
        Self { sum: first, lost: 0.0 }
    }
    /// Returns a sum with the rounding errors accumulated so far.
    #[inline]
    pub fn with_errors(sum: f64, lost: f64) -> Self {
        Self { sum, lost }
    }
    /// Returns the sum, and the rounding errors accumulated so far.
    #[inline]
    pub fn with_lost(self) -> (f64, f64) {
        (self.sum, self.lost)
    }
    /// Adds a number.
    #[inline]
    pub fn add(&mut self, x: f64) {
        let (sum, error) = two_sum(self.sum, x);
        (self.sum, self.lost) = (sum, self.lost + error);
    }
    /// Adds `a * b` without rounding the product.
    #[inline]
    pub fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.add(product);
        self.lost += a.mul_add(b, -product);
    }
    /// Returns the sum as two numbers that do not overlap: the nearest f64, and the rest.
    #[inline]
    pub fn parts(self) -> (f64, f64) {
        two_sum(self.sum, self.lost)
    }
    /// Returns the sum together with its rounding errors.
    #[inline]
    pub fn value(self) -> f64 {
        // Without errors the sum is exact, and a negative zero is kept.
        if self.lost == 0.0 {
            return self.sum;
        }
        // The error of an infinity or NaN is not added: it would turn an infinite sum into NaN.
        let whole = self.sum + self.lost;
        if self.sum.is_finite() && !whole.is_nan() { whole } else { self.sum }
    }
}

/// An exact sum of f64 and of products of f64.
///
/// The sum is the exact sum of `parts`, none of which has ever been rounded, and of `wide`. Three
/// numbers hold the sum of nearly all arrays; the fixed-point number holds the rest.
#[derive(Debug, Clone)]
pub struct ExactSum {
    parts: [f64; 3],
    wide: Option<Box<FixedPoint>>,
    /// The IEEE 754 sum of the infinities and NaN among the terms.
    special: f64,
}

impl ExactSum {
    /// Bytes that a sum may take beside its own.
    pub const LARGEST: usize = size_of::<FixedPoint>();

    /// Returns the sum of one term. An empty sum is `ExactSum::new(0.0)`.
    #[inline]
    pub fn new(first: f64) -> Self {
        // -0 is the neutral element of addition: a sum of zeros has the sign that IEEE 754 gives
        // it.
        let mut sum = Self { parts: [-0.0; 3], wide: None, special: 0.0 };
        sum.add(first);
        sum
    }

    /// Adds `x`.
    #[inline]
    pub fn add(&mut self, x: f64) {
        // The most frequent case: nothing is lost. A sum that is not finite has a NaN as its rest.
        let (sum, rest) = two_sum(self.parts[0], x);
        if rest == 0.0 {
            self.parts[0] = sum;
        } else {
            self.add_slowly(x);
        }
    }

    /// Adds an infinity or a NaN, or what the first part alone does not hold.
    fn add_slowly(&mut self, x: f64) {
        if !x.is_finite() {
            self.special += x;
            return;
        }
        if !(self.parts[0] + x).is_finite() {
            return self.wide().add(x);
        }
        let mut rest = x;
        for part in &mut self.parts {
            let (sum, lost) = two_sum(*part, rest);
            if lost.is_nan() {
                // Near the largest f64 the error of a finite sum may be found through an infinity.
                break;
            }
            (*part, rest) = (sum, lost);
            if rest == 0.0 {
                return;
            }
        }
        self.wide().add(rest);
    }

    /// Adds `a * b`.
    #[inline]
    pub fn add_product(&mut self, a: f64, b: f64) {
        /// 2^-960: the rounding error of a product of at least this size is no smaller than the
        /// smallest f64.
        const LEAST: f64 = f64::from_bits((1023 - 960) << 52);
        let (product, error) = two_product(a, b);
        if product.is_finite() && product.abs() >= LEAST {
            self.add(product);
            if error != 0.0 {
                self.add(error);
            }
        } else if a == 0.0 || b == 0.0 || !a.is_finite() || !b.is_finite() {
            self.add(product);
        } else {
            self.wide().add_product(a, b);
        }
    }

    /// Returns the sum, correctly rounded to the float type `ty` (or to its parts) when the caller
    /// rounds this number to it; for any other type the nearest f64.
    pub fn rounded(&self, ty: ElementType) -> f64 {
        let is_narrow = is_narrow(ty);
        if !self.special.is_finite() {
            return self.special;
        }
        let [a, b, c] = self.parts;
        let (low, rest) = two_sum(b, c);
        let (high, low) = two_sum(a, low);
        match &self.wide {
            None if rest == 0.0 && is_narrow => round_to_odd(high, low),
            None if rest == 0.0 => high,
            None | Some(_) => {
                let mut wide = self.wide.as_deref().cloned().unwrap_or_default();
                self.parts.iter().for_each(|&part| wide.add(part));
                wide.rounded(is_narrow)
            }
        }
    }

    #[cold]
    fn wide(&mut self) -> &mut FixedPoint {
        self.wide.get_or_insert_default()
    }
}

/// Returns whether `ty` is a float narrower than f64, or made of two.
#[inline]
pub fn is_narrow(ty: ElementType) -> bool {
    ty.component().is_float() && ty.component() != ElementType::F64
}

/// Bits of a digit.
const DIGIT: i32 = 32;
/// The exponent of the lowest bit: that of the product of the two smallest f64.
const LOWEST: i32 = -2 * 1074;
/// Up to 2^2048, the square of the largest f64, and 64 bits more.
const DIGITS: usize = 134;

/// A fixed-point number wide enough for every sum of products of f64: the sum of
/// `digits[i] * 2^(32 i + LOWEST)`.
#[derive(Debug, Clone)]
struct FixedPoint {
    /// Digits of either sign, with spare bits for carries.
    digits: [i64; DIGITS],
    /// Additions since carries were last propagated.
    additions: u32,
}

impl Default for FixedPoint {
    fn default() -> Self {
        Self { digits: [0; DIGITS], additions: 0 }
    }
}

impl FixedPoint {
    fn add(&mut self, x: f64) {
        let (significand, exponent) = integer(x);
        self.add_integer(significand.into(), exponent, x.is_sign_negative());
    }

    fn add_product(&mut self, a: f64, b: f64) {
        let ((x, x_exponent), (y, y_exponent)) = (integer(a), integer(b));
        let is_negative = a.is_sign_negative() != b.is_sign_negative();
        self.add_integer(u128::from(x) * u128::from(y), x_exponent + y_exponent, is_negative);
    }

    /// Adds or subtracts `significand * 2^exponent`; the significand has at most 106 bits.
    fn add_integer(&mut self, significand: u128, exponent: i32, is_negative: bool) {
        let bit = exponent - LOWEST;
        let first = usize::try_from(bit / DIGIT).expect("no exponent is below the lowest");
        let shift = bit % DIGIT;
        // The low digit's bits first, so that no shift loses any.
        let mut rest = significand;
        for i in 0..5 {
            let digit = match i {
                0 => (rest << shift) & u128::from(u32::MAX),
                _ => rest & u128::from(u32::MAX),
            };
            rest >>= if i == 0 { DIGIT - shift } else { DIGIT };
            let digit = i64::try_from(digit).expect("32 bits");
            // The fifth digit of the largest product is 0.
            if digit != 0 {
                self.digits[first + i] += if is_negative { -digit } else { digit };
            }
        }
        self.additions += 1;
        if self.additions == 1 << 30 {
            self.carry();
        }
    }

    /// Propagates carries: digits are then in `0..2^32`. Returns whether the number is negative:
    /// the last digit, which no sum reaches, then holds the borrow.
    fn carry(&mut self) -> bool {
        let mut carry = 0;
        let (last, digits) = self.digits.split_last_mut().expect("there are digits");
        for digit in digits {
            let sum = *digit + carry;
            *digit = sum & i64::from(u32::MAX);
            carry = sum >> DIGIT;
        }
        *last += carry;
        self.additions = 0;
        *last < 0
    }

    /// Returns the nearest f64, ties to even; or the f64 that [`round_to_odd`] gives.
    fn rounded(mut self, to_odd: bool) -> f64 {
        let is_negative = self.carry();
        if is_negative {
            self.digits.iter_mut().for_each(|digit| *digit = -*digit);
            self.carry();
        }
        let Some(top) = self.digits.iter().rposition(|&digit| digit != 0) else { return 0.0 };
        // The leading 96 bits or fewer as one integer, whose last bit is set if any lower bit is.
        let digit = |i: Option<usize>| i.map_or(0, |i| self.digits[i].unsigned_abs().into());
        let below = |n: usize| top.checked_sub(n);
        let mut leading: u128 = digit(Some(top)) << 64 | digit(below(1)) << 32 | digit(below(2));
        if self.digits[..top.saturating_sub(2)].iter().any(|&digit| digit != 0) {
            leading |= 1;
        }
        let number = |n: usize| i32::try_from(n).expect("a number of digits");
        let exponent = (number(top) - 2) * DIGIT + LOWEST;
        // Bits that do not fit the 53 of an f64, or lie below its smallest number.
        let bits = 128 - leading.leading_zeros().cast_signed();
        let dropped = (bits - 53).max(-1074 - exponent).max(0);
        // The integer has at most 96 bits.
        let shift = dropped.min(127);
        let (mut kept, lost) = (leading >> shift, leading & ((1 << shift) - 1));
        let half = (1u128 << shift) >> 1;
        if to_odd {
            kept |= u128::from(lost != 0);
        } else if lost > half || lost == half && lost != 0 && kept & 1 == 1 {
            kept += 1;
        }
        let kept = u64::try_from(kept).expect("at most 53 bits and a carry");
        let x = scale(Scalar::Unsigned(kept).as_f64(), exponent + dropped);
        if is_negative { -x } else { x }
    }
}

/// Returns a finite `|x|` as an integer times a power of two.
fn integer(x: f64) -> (u64, i32) {
    let bits = x.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match i32::try_from(bits >> 52 & 0x7ff).expect("11 bits") {
        0 => (fraction, -1074),
        biased => (fraction | 1 << 52, biased - 1075),
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values are compared")]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_rounding_loses() {
        let mut sum = Sum::new(1e16);
        for _ in 0..10 {
            sum.add(1.0);
        }
        sum.add(-1e16);
        assert_eq!(sum.value(), 10.0);
        let mut dot = Sum::new(0.0);
        let x = 1.0 + f64::EPSILON;
        dot.add_product(x, x);
        dot.add(-1.0 - 2.0 * f64::EPSILON);
        assert_eq!(dot.value(), f64::EPSILON * f64::EPSILON);
    }

    /// The error of the sum of the largest f64 and of half the distance to its neighbor is found
    /// through an infinity.
    #[test]
    fn sums_near_the_largest_number_do_not_depend_on_the_order() {
        let half = 2.993_760_464_302_079_7e292;
        let (small, large) = (-8.988_465_674_311_579e307, f64::MAX);
        let sum = |terms: &[f64]| {
            let mut sum = ExactSum::new(0.0);
            for &x in terms {
                sum.add(x);
            }
            sum.rounded(ElementType::F64)
        };
        assert_eq!(sum(&[-half, large]), sum(&[large, -half]));
        assert_eq!(sum(&[-half, large]), 1.797_693_134_862_315_5e308);
        let tiny = [1.995_840_309_534_719_6e292, 1.995_840_309_534_72e292];
        assert_eq!(sum(&[tiny[0], tiny[1], small, large]), 8.988_465_674_311_582e307);
        assert_eq!(sum(&[large, small, tiny[1], tiny[0]]), 8.988_465_674_311_582e307);
    }

    #[test]
    fn negative_zero_stays() {
        let mut sum = Sum::new(-0.0);
        sum.add(-0.0);
        assert!(sum.value().is_sign_negative());
        sum.add(0.0);
        assert!(sum.value().is_sign_positive());
    }

    #[test]
    fn infinities_stay() {
        let mut sum = Sum::new(0.0);
        sum.add(f64::INFINITY);
        sum.add(1.0);
        assert_eq!(sum.value(), f64::INFINITY);
        sum.add(f64::NEG_INFINITY);
        assert!(sum.value().is_nan());
    }

    fn exact(terms: &[f64]) -> ExactSum {
        let mut sum = ExactSum::new(terms[0]);
        terms[1..].iter().for_each(|&x| sum.add(x));
        sum
    }

    #[test]
    fn exact_sums_are_rounded_once() {
        let f64_of = |terms: &[f64]| exact(terms).rounded(ElementType::F64);
        assert_eq!(f64_of(&[1e300, 1.0, 1e-300, -1e300, -1.0]), 1e-300);
        assert_eq!(f64_of(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
        assert_eq!(f64_of(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(f64_of(&[-5e-324, 1e-320, 5e-324]), 1e-320);
        // 1 + 2^-53 is a tie, which rounds to the even 1; any more rounds up.
        let half = f64::EPSILON / 2.0;
        assert_eq!(f64_of(&[1.0, half]), 1.0);
        assert_eq!(f64_of(&[1.0, half, 5e-324]), 1.0 + f64::EPSILON);
        assert_eq!(f64_of(&[-1.0, -half, -5e-324]), -1.0 - f64::EPSILON);
        assert_eq!(f64_of(&[1.0 + f64::EPSILON, half]), 1.0 + 2.0 * f64::EPSILON);
        // The nearest f64 of this sum is a tie of f32, which the sum itself is not.
        let tie = [1.0, 2.0_f64.powi(-24), 2.0_f64.powi(-80)];
        let narrow = exact(&tie).rounded(ElementType::F32);
        assert_eq!(
            Scalar::Float(narrow).round_to(ElementType::F32),
            Scalar::Float(1.0 + f64::from(f32::EPSILON))
        );
    }

    #[test]
    fn exact_sums_keep_special_values() {
        let f64_of = |terms: &[f64]| exact(terms).rounded(ElementType::F64);
        assert!(f64_of(&[-0.0, -0.0]).is_sign_negative());
        assert!(f64_of(&[-0.0, 0.0]).is_sign_positive());
        assert!(f64_of(&[-0.0, 1.0, -1.0]).is_sign_positive());
        assert_eq!(f64_of(&[1.0, f64::INFINITY]), f64::INFINITY);
        assert!(f64_of(&[f64::INFINITY, 1.0, f64::NEG_INFINITY]).is_nan());
        let mut sum = ExactSum::new(0.0);
        sum.add_product(0.0, f64::INFINITY);
        assert!(sum.rounded(ElementType::F64).is_nan());
    }

    #[test]
    fn exact_products_of_all_sizes() {
        let product = |a: f64, b: f64, c: f64| {
            let mut sum = ExactSum::new(0.0);
            sum.add_product(a, b);
            sum.add_product(a, -c);
            sum.rounded(ElementType::F64)
        };
        assert_eq!(product(f64::MAX, 4.0, 3.0), f64::MAX);
        assert_eq!(product(1e-300, 1e-20, 0.0), 1e-320);
        assert_eq!(product(5e-324, 0.5, 0.0), 0.0);
        assert_eq!(product(5e-324, 0.75, 0.0), 5e-324);
        let x = 1.0 + f64::EPSILON;
        assert_eq!(product(x, x, x - f64::EPSILON), f64::EPSILON * x);
    }

    /// Sums in any order, and in the fixed-point number alone, are the same.
    #[test]
    fn exact_sums_do_not_depend_on_order() {
        let mut state = 7u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state
        };
        for _ in 0..200 {
            let terms: Vec<f64> = (0..20)
                .map(|_| {
                    let exponent = i32::try_from(next() >> 24).unwrap() - 128;
                    scale(f64::from(next().cast_signed()), exponent)
                })
                .collect();
            let mut wide = FixedPoint::default();
            for &x in &terms {
                wide.add(x);
            }
            let reversed: Vec<f64> = terms.iter().rev().copied().collect();
            for ty in [ElementType::F64, ElementType::F32] {
                let sum = exact(&terms).rounded(ty);
                assert_eq!(sum, exact(&reversed).rounded(ty));
                assert_eq!(sum, wide.clone().rounded(ty == ElementType::F32));
            }
        }
    }
}
