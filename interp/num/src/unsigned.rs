//! Functions of unsigned integers; results are wrapped to the type by the caller.
use super::int::{alike, leading_zeros as zeros, ones, power, sign_extend};

alike!(u64);

#[inline]
pub(super) fn leading_zeros(bits: u32, x: u64) -> u64 {
    u64::from(zeros(bits, x))
}
#[inline]
pub(super) fn popcnt(bits: u32, x: u64) -> u64 {
    u64::from(ones(bits, x))
}

/// x / 0 is all ones.
#[inline]
pub(super) fn div(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(u64::MAX)
}
/// x rem 0 is x.
#[inline]
pub(super) fn rem(a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(a)
}
#[inline]
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "wrapping is intended")]
pub(super) fn mulhi(bits: u32, a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> bits) as u64
}
/// All bits of the exponent count. XLA:CPU reads six of them, and takes an exponent with the top
/// bit set as negative.
#[inline]
pub(super) fn pow(base: u64, exponent: u64) -> u64 {
    power(base, exponent)
}

// The compiler shifts in a type of so many bits only if no amount is larger.
#[inline]
pub(super) fn shift_left(bits: u32, x: u64, amount: u64) -> u64 {
    let shifted = x << (amount & u64::from(bits - 1));
    if amount < u64::from(bits) { shifted } else { 0 }
}
/// The top bit is replicated in unsigned types too.
#[inline]
pub(super) fn shift_right_arithmetic(bits: u32, x: u64, amount: u64) -> u64 {
    (sign_extend(bits, x) >> amount.min(u64::from(bits - 1))).cast_unsigned()
}
#[inline]
pub(super) fn shift_right_logical(bits: u32, x: u64, amount: u64) -> u64 {
    let shifted = x >> (amount & u64::from(bits - 1));
    if amount < u64::from(bits) { shifted } else { 0 }
}
