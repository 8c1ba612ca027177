//! Functions of signed integers; results are wrapped to the type by the caller.
use super::int::{alike, leading_zeros as zeros, logical, ones, power};

alike!(i64);

#[inline]
pub(super) fn abs(x: i64) -> i64 {
    x.wrapping_abs()
}
#[inline]
pub(super) fn sign(x: i64) -> i64 {
    // In this form it is computed in vectors.
    i64::from(x > 0) - i64::from(x < 0)
}
#[inline]
pub(super) fn leading_zeros(bits: u32, x: i64) -> i64 {
    i64::from(zeros(bits, x.cast_unsigned()))
}
#[inline]
pub(super) fn popcnt(bits: u32, x: i64) -> i64 {
    i64::from(ones(bits, x.cast_unsigned()))
}

/// x / 0 is all ones; the smallest value over -1 wraps to itself.
#[inline]
pub(super) fn div(a: i64, b: i64) -> i64 {
    if b == 0 { -1 } else { a.wrapping_div(b) }
}
/// x rem 0 is x; the smallest value over -1 leaves 0.
#[inline]
pub(super) fn rem(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { a.wrapping_rem(b) }
}
/// A product of two n-bit numbers fits in 2n bits, and the arithmetic shift keeps the high n of
/// them. It lies between -2^(n-1) and 2^(n-1), so the wrap to 64 bits loses nothing.
#[inline]
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "wrapping is intended")]
pub(super) fn mulhi(bits: u32, a: i64, b: i64) -> i64 {
    ((i128::from(a) * i128::from(b)) >> bits) as i64
}
/// A negative exponent gives the quotient truncated to an integer: 0 unless the base is 1 or -1.
/// For base 0 XLA gives 0 as well.
#[inline]
pub(super) fn pow(base: i64, exponent: i64) -> i64 {
    match (u64::try_from(exponent), base) {
        (Ok(exponent), _) => power(base.cast_unsigned(), exponent).cast_signed(),
        (Err(_), 1) => 1,
        (Err(_), -1) => 1 - 2 * (exponent & 1),
        (Err(_), _) => 0,
    }
}

// Shift amounts are read as unsigned, so a negative one is past the width like any other that is
// too large.
#[inline]
pub(super) fn shift_left(bits: u32, x: i64, amount: i64) -> i64 {
    let amount = logical(bits, amount.cast_unsigned());
    super::unsigned::shift_left(bits, x.cast_unsigned(), amount).cast_signed()
}
#[inline]
pub(super) fn shift_right_arithmetic(bits: u32, x: i64, amount: i64) -> i64 {
    x >> logical(bits, amount.cast_unsigned()).min(u64::from(bits - 1))
}
#[inline]
pub(super) fn shift_right_logical(bits: u32, x: i64, amount: i64) -> i64 {
    let (x, amount) = (logical(bits, x.cast_unsigned()), logical(bits, amount.cast_unsigned()));
    super::unsigned::shift_right_logical(bits, x, amount).cast_signed()
}
