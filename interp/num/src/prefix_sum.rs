//! A running sum whose value is asked for after each term.
use super::accumulator::is_narrow;
use super::exact::{round_to_odd, two_sum};
use hlo::{ElementType, Scalar};

/// A sum of f64 as two numbers, and a bound on what these lack.
///
/// As long as the bound is 0 the sum of the two is exact, which it is for all but long sums of
/// numbers of very different magnitudes.
#[derive(Debug, Clone, Copy)]
pub struct PrefixSum {
    high: f64,
    low: f64,
    bound: f64,
    is_decided: bool,
}

impl PrefixSum {
    /// Returns the sum of one term.
    #[inline]
    pub fn new(first: f64) -> Self {
        Self { high: first, low: 0.0, bound: 0.0, is_decided: true }
    }
    /// Adds a number.
    #[inline]
    pub fn add(&mut self, x: f64) {
        let (high, error) = two_sum(self.high, x);
        let (low, lost) = two_sum(self.low, error);
        (self.high, self.low) = (high, low);
        self.bound += lost.abs();
    }
    /// Returns the sum, correctly rounded to the float type `ty` when the caller rounds this number
    /// to it, if [`PrefixSum::is_decided`].
    #[inline]
    pub fn rounded(&mut self, ty: ElementType) -> f64 {
        let (high, low) = two_sum(self.high, self.low);
        if self.bound != 0.0 {
            return self.within_bound((high, low), ty);
        }
        // A sum of zeros has the sign that IEEE 754 gives it.
        if self.low == 0.0 {
            self.high
        } else if is_narrow(ty) {
            to_odd(high, low)
        } else {
            high
        }
    }
    #[cold]
    fn within_bound(&mut self, (high, low): (f64, f64), ty: ElementType) -> f64 {
        // The bound is a sum of as many terms, and moving the rest by it rounds.
        let error = 2.0 * self.bound + low.abs() * f64::EPSILON;
        let [least, most] = [low - error, low + error].map(|low| {
            let (high, low) = two_sum(high, low);
            if is_narrow(ty) { round_to_odd(high, low) } else { high }
        });
        let bits = |x: f64| Scalar::Float(x).round_to(ty).to_bits(ty);
        self.is_decided &= least.is_finite() && most.is_finite() && bits(least) == bits(most);
        least
    }
    /// Returns whether all values that were returned are correctly rounded: infinities, NaN and
    /// sums that nearly cancel are not decided.
    #[inline]
    pub fn is_decided(&self) -> bool {
        self.is_decided
    }
}

/// [`round_to_odd`] of a finite number, without branches.
#[inline]
fn to_odd(value: f64, rest: f64) -> f64 {
    let bits = value.to_bits();
    let moved = if (rest > 0.0) == (value > 0.0) { bits + 1 } else { bits.wrapping_sub(1) };
    f64::from_bits(if rest == 0.0 || bits & 1 == 1 { bits } else { moved })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulator::ExactSum;
    use crate::exact::pow2;
    use crate::single::to_f32;

    /// Sums are those of the exact accumulator wherever they are decided; returns how many are not.
    fn undecided(terms: &[f64], ty: ElementType) -> usize {
        let (mut sum, mut exact) = (PrefixSum::new(-0.0), ExactSum::new(-0.0));
        let mut count = 0;
        for &x in terms {
            sum.add(x);
            exact.add(x);
            let found = Scalar::Float(sum.rounded(ty)).round_to(ty);
            let expected = Scalar::Float(exact.rounded(ty)).round_to(ty);
            if sum.is_decided() {
                assert_eq!(found.to_bits(ty), expected.to_bits(ty), "{x}");
            }
            count += usize::from(!sum.is_decided());
            sum.is_decided = true;
        }
        count
    }

    #[test]
    fn sums_are_correctly_rounded() {
        let mut state = 3u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state
        };
        for range in [1, 4, 20, 60, 200] {
            let terms: Vec<f64> = (0..3000)
                .map(|_| {
                    let exponent = i32::try_from(next() % range).unwrap() - 40;
                    f64::from(to_f32(next().cast_signed().into())) * pow2(exponent)
                })
                .collect();
            for ty in [ElementType::F32, ElementType::Bf16, ElementType::F64] {
                let cancelled: Vec<f64> = terms.iter().flat_map(|&x| [x, 1.0, -x]).collect();
                for terms in [&terms, &cancelled] {
                    let count = undecided(terms, ty);
                    assert!(count == 0 || range > 60, "{count} of {range} in {ty:?}");
                }
            }
        }
    }

    #[test]
    fn zeros_and_ties() {
        assert_eq!(undecided(&[-0.0, -0.0, 0.0, -0.0, 1.0, -1.0, -0.0], ElementType::F32), 0);
        let tie = [1.0, pow2(-24), pow2(-80), -pow2(-80), -pow2(-81)];
        assert_eq!(undecided(&tie, ElementType::F32), 0);
        let tiny = [1.0, pow2(-24), pow2(-120), pow2(-200)];
        assert_eq!(undecided(&tiny, ElementType::F32), 0);
        let mut sum = PrefixSum::new(0.0);
        sum.add(f64::INFINITY);
        sum.rounded(ElementType::F32);
        assert!(!sum.is_decided());
    }
}
