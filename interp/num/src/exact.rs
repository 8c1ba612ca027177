//! Exact floating-point arithmetic: sums and products with their rounding errors, scaling by powers
//! of two.
//!
//! `f64::mul_add` does not make results depend on the machine: IEEE 754 defines it to the last bit.

/// 2^`exponent`, for exponents from -1074 to 1023.
#[inline]
pub fn pow2(exponent: i32) -> f64 {
    // The biased exponent of a normal number, or the position of the only bit of a subnormal one.
    match u64::try_from(exponent + 1023) {
        Ok(biased) if biased > 0 => f64::from_bits(biased << 52),
        Ok(_) | Err(_) => f64::from_bits(1 << (exponent + 1074)),
    }
}

/// Returns the exponent of `x`: the largest n with 2^n <= |x|. 0 for zero, infinity and NaN, which
/// need no scaling.
#[inline]
pub(super) fn exponent(x: f64) -> i32 {
    if x == 0.0 || !x.is_finite() {
        return 0;
    }
    let biased = |x: f64| {
        let field = x.to_bits() >> 52 & 0x7ff;
        i32::try_from(field).expect("11 bits fit")
    };
    if x.is_normal() { biased(x) - 1023 } else { biased(x * pow2(64)) - 64 - 1023 }
}

/// Returns `x` times 2^`n`, for any `n`, rounded once unless the result is subnormal.
#[inline]
pub(super) fn scale(x: f64, n: i32) -> f64 {
    if (-1022..=1023).contains(&n) {
        return x * pow2(n);
    }
    let n = n.clamp(-2200, 2200);
    // In three steps: half of 2200 exceeds the largest exponent.
    let third = n / 3;
    x * pow2(n - 2 * third) * pow2(third) * pow2(third)
}

/// Returns `a + b` rounded, and the rounding error.
#[inline]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// Returns `a * b` rounded, and the rounding error; exact unless the product over- or underflows.
#[inline]
pub(super) fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// Returns `value` + `rest` rounded to odd: if `rest` is not 0, whichever neighbor has an odd last
/// bit.
///
/// The odd bit marks an inexact result, so that rounding it once more, to a narrower type, equals
/// rounding the exact sum.
#[inline]
pub fn round_to_odd(value: f64, rest: f64) -> f64 {
    if rest == 0.0 || !value.is_finite() || value.to_bits() & 1 == 1 {
        value
    } else if rest > 0.0 {
        value.next_up()
    } else {
        value.next_down()
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the tests compare exact values")]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_and_exponents_agree() {
        for n in [-1074, -1073, -1023, -1022, -1, 0, 1, 1023] {
            assert_eq!(exponent(pow2(n)), n);
            assert_eq!(scale(1.0, n), pow2(n));
            assert_eq!(scale(pow2(n), -n), 1.0);
        }
        assert_eq!(exponent(-1.99), 0);
        assert_eq!(scale(1.0, 5000), f64::INFINITY);
        assert_eq!(scale(5e-324, 2097), pow2(1023));
    }

    #[test]
    fn rounding_to_odd_keeps_the_side() {
        // 1 + 2^-24 is the midpoint between two f32; the rest says on which side the exact value
        // lies.
        let midpoint = 1.0 + pow2(-24);
        assert!(round_to_odd(midpoint, 1e-30) > midpoint);
        assert!(round_to_odd(midpoint, -1e-30) < midpoint);
        assert_eq!(round_to_odd(midpoint, 0.0), midpoint);
    }
}
