//! The angle of a point in f64.
//!
//! CORE-MATH ends the process where it cannot decide how to round: where the angle is within 2^-182
//! of a number of f64 or of the middle between two. Products of small integers give such angles:
//! those of (2^51 (1 + 3e), 1.5 + 3e) and (2^50 (1 + 6e), 1.5 + 6e) for e = 2^-52. They are small,
//! so that y / x and a few terms of a series decide.
use super::exact::pow2;
use std::cmp::Ordering;

/// Returns the angle of the point (x, y), correctly rounded.
#[inline]
pub fn atan2(y: f64, x: f64) -> f64 {
    small(y, x).unwrap_or_else(|| core_math::atan2(y, x))
}

/// Returns the angle if it is between 2^-60 and 2^-27.
///
/// A smaller angle is y / x but for a relative error below 2^-120, and a quotient is no nearer to
/// the middle of two numbers than 2^-107 of itself.
#[inline]
fn small(y: f64, x: f64) -> Option<f64> {
    let (distance, quotient) = (y.abs(), y.abs() / x);
    let is_small = (pow2(-60)..pow2(-27)).contains(&quotient);
    is_small.then(|| {
        // Products of the parts neither overflow nor lose bits.
        let scale = if x > pow2(500) {
            pow2(-500)
        } else if distance < pow2(-500) {
            pow2(500)
        } else {
            1.0
        };
        rounded(distance * scale, x * scale, quotient).copysign(y)
    })
}

/// Rounds t - t^3 / 3 + ..., t = y / x.
fn rounded(y: f64, x: f64, quotient: f64) -> f64 {
    let (rest, cubic) = (quotient.mul_add(-x, y) / x, quotient * quotient * quotient / 3.0);
    // Each part of the rest is within 2^-51 of itself.
    let error = (rest.abs() + cubic) * pow2(-50);
    let (low, high) = (quotient + (rest - cubic - error), quotient + (rest - cubic + error));
    let is_low = low.to_bits() == high.to_bits() || !is_above_the_middle(y, x, low);
    if is_low { low } else { high }
}

/// Returns whether the angle is larger than the middle m between `low` and the next number of f64,
/// so that y > x tan(m).
///
/// 2835 tan(m) = m (2835 + 945 m^2 + 378 m^4 + 153 m^6 + 62 m^8 + ...), and the terms that are left
/// out are below 2^-275 of it.
fn is_above_the_middle(y: f64, x: f64, low: f64) -> bool {
    let ((y, a), (x, b), (low, c)) = (parts(y), parts(x), parts(low));
    let (middle, bits) = (2 * low + 1, 1 - c); // m = middle / 2^bits
    let mut series = Natural1280::from_scaled(62, 0);
    for (k, coefficient) in [(2, 153), (4, 378), (6, 945), (8, 2835)] {
        series = series
            .times(middle)
            .times(middle)
            .plus(&Natural1280::from_scaled(coefficient, k * bits));
    }
    let left = Natural1280::from_scaled(2835, a - b + 9 * bits).times(y);
    left.compare(&series.times(middle).times(x)) == Ordering::Greater
}

/// Returns n and k of a normal number n 2^k, n of 53 bits.
fn parts(x: f64) -> (u64, i32) {
    let bits = x.to_bits();
    let exponent = i32::try_from(bits >> 52).expect("11 bits");
    (bits & ((1 << 52) - 1) | 1 << 52, exponent - 1075)
}

/// A natural number below 2^1280, the least significant digit first.
struct Natural1280([u64; 20]);

impl Natural1280 {
    /// Returns `n * 2^shift`; 0 ≤ shift.
    fn from_scaled(n: u64, shift: i32) -> Self {
        let mut digits = [0; 20];
        let shift = usize::try_from(shift).expect("a fraction has a positive number of bits");
        let wide = u128::from(n) << (shift % 64);
        (digits[shift / 64], digits[shift / 64 + 1]) = halves(wide);
        Self(digits)
    }
    fn times(&self, factor: u64) -> Self {
        let mut carry = 0;
        Self(self.0.map(|digit| {
            let (low, high) = halves(u128::from(digit) * u128::from(factor) + u128::from(carry));
            carry = high;
            low
        }))
    }
    fn plus(&self, other: &Self) -> Self {
        let (mut sum, mut carry) = ([0; 20], 0);
        for (out, (a, b)) in sum.iter_mut().zip(self.0.iter().zip(&other.0)) {
            (*out, carry) = halves(u128::from(*a) + u128::from(*b) + u128::from(carry));
        }
        Self(sum)
    }
    fn compare(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

/// Returns the low and the high half.
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "halves")]
fn halves(x: u128) -> (u64, u64) {
    (x as u64, (x >> 64) as u64)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the bits are determined")]
mod tests {
    use super::*;

    /// 1 + n e and 1.5 + n e, e = 2^-52.
    fn hard(n: f64, power: i32) -> (f64, f64) {
        (1.5 + n * f64::EPSILON, (1.0 + n * f64::EPSILON) * pow2(power))
    }

    #[test]
    fn nothing_ends_the_process() {
        // 1.5 - 3e + 172.8 e^4, times 2^-50
        let (y, x) = hard(6.0, 50);
        assert_eq!(atan2(y, x), (1.5 - 3.0 * f64::EPSILON) * pow2(-50));
        assert_eq!(atan2(-y, x), (3.0 * f64::EPSILON - 1.5) * pow2(-50));
        // 1.5 - 1.5e + 10.8 e^4, times 2^-51: just above the middle of two numbers
        let (y, x) = hard(3.0, 51);
        assert_eq!(atan2(y, x), (1.5 - f64::EPSILON) * pow2(-51));
        for scale in [pow2(950), pow2(-1000)] {
            assert_eq!(atan2(y * scale, x * scale), (1.5 - f64::EPSILON) * pow2(-51));
        }
    }

    #[test]
    fn it_agrees_with_core_math() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            f64::from_bits(0x3ff0_0000_0000_0000 | state >> 12)
        };
        for i in 0..100_000 {
            let (y, x) = (next(), next() * pow2(26 + i % 60));
            assert_eq!(atan2(y, x).to_bits(), core_math::atan2(y, x).to_bits(), "{y:e} {x:e}");
        }
        for n in 1..200 {
            // Midpoints of a quotient, moved by the cube.
            let (y, x) = hard(f64::from(n), 40);
            assert_eq!(atan2(y, x), core_math::atan2(y, x));
        }
    }
}
