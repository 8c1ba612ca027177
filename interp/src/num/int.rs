//! Arithmetic on whole numbers: two's complement, wrapping at the type's own width.
//!
//! Values come sign- or zero-extended to 64 bits. A result is computed modulo 2^64 and then wrapped to the type, which
//! is the same as computing modulo 2^n: 2^n divides 2^64. Where an operation looks at single bits
//! (shifts, counts, high products) the width enters here.
use hlo::op::{Binary, Unary};

/// One signed operand of `bits` bits.
#[inline]
pub(super) fn unary_signed(op: Unary, bits: u32, x: i64) -> i64 {
    let wide = match op {
        Unary::Abs => x.wrapping_abs(),
        Unary::Negate => x.wrapping_neg(),
        Unary::Not => !x,
        Unary::Sign => x.signum(),
        Unary::CountLeadingZeros => i64::from(leading_zeros(bits, x.cast_unsigned())),
        // XLA counts the bits of an s4 after sign extension to a byte, evaluator and XLA:CPU alike, so the popcnt of
        // s4 -1 is 8, which wraps to -8. For s2 they differ, and XLA:CPU's logical width holds.
        Unary::Popcnt => i64::from(ones(if bits == 4 { 8 } else { bits }, x.cast_unsigned())),
        Unary::Acos
        | Unary::Acosh
        | Unary::Asin
        | Unary::Asinh
        | Unary::Atanh
        | Unary::Cbrt
        | Unary::Ceil
        | Unary::Cosine
        | Unary::Cosh
        | Unary::Erf
        | Unary::Exponential
        | Unary::ExponentialMinusOne
        | Unary::Floor
        | Unary::Imag
        | Unary::IsFinite
        | Unary::Log
        | Unary::LogPlusOne
        | Unary::Logistic
        | Unary::Real
        | Unary::RoundNearestAfz
        | Unary::RoundNearestEven
        | Unary::Rsqrt
        | Unary::Sine
        | Unary::Sinh
        | Unary::Sqrt
        | Unary::Tan
        | Unary::Tanh => unreachable!("the verifier lets no signed integer into {op:?}"),
    };
    sign_extend(bits, wide.cast_unsigned())
}

/// One unsigned operand of `bits` bits.
#[inline]
pub(super) fn unary_unsigned(op: Unary, bits: u32, x: u64) -> u64 {
    let wide = match op {
        Unary::Negate => x.wrapping_neg(),
        Unary::Not => !x,
        Unary::CountLeadingZeros => u64::from(leading_zeros(bits, x)),
        Unary::Popcnt => u64::from(ones(bits, x)),
        Unary::Abs
        | Unary::Acos
        | Unary::Acosh
        | Unary::Asin
        | Unary::Asinh
        | Unary::Atanh
        | Unary::Cbrt
        | Unary::Ceil
        | Unary::Cosine
        | Unary::Cosh
        | Unary::Erf
        | Unary::Exponential
        | Unary::ExponentialMinusOne
        | Unary::Floor
        | Unary::Imag
        | Unary::IsFinite
        | Unary::Log
        | Unary::LogPlusOne
        | Unary::Logistic
        | Unary::Real
        | Unary::RoundNearestAfz
        | Unary::RoundNearestEven
        | Unary::Rsqrt
        | Unary::Sign
        | Unary::Sine
        | Unary::Sinh
        | Unary::Sqrt
        | Unary::Tan
        | Unary::Tanh => unreachable!("the verifier lets no unsigned integer into {op:?}"),
    };
    logical(bits, wide)
}

/// Two signed operands of `bits` bits.
#[inline]
pub(super) fn binary_signed(op: Binary, bits: u32, a: i64, b: i64) -> i64 {
    let wide = match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Subtract => a.wrapping_sub(b),
        Binary::Multiply => a.wrapping_mul(b),
        // x / 0 is all ones and x rem 0 is x; the smallest value over -1 wraps to itself, remainder 0.
        Binary::Divide => {
            if b == 0 {
                -1
            } else {
                a.wrapping_div(b)
            }
        }
        Binary::Remainder => {
            if b == 0 {
                a
            } else {
                a.wrapping_rem(b)
            }
        }
        Binary::Maximum => a.max(b),
        Binary::Minimum => a.min(b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        // A product of two n-bit numbers fits in 2n bits, and the arithmetic shift keeps the high n of them. It lies
        // between -2^(n-1) and 2^(n-1), so the wrap to 64 bits loses nothing.
        Binary::Mulhi => wrap_i128((i128::from(a) * i128::from(b)) >> bits),
        Binary::Power => power_signed(a, b),
        Binary::ShiftLeft => {
            shift_left(bits, a.cast_unsigned(), logical(bits, b.cast_unsigned())).cast_signed()
        }
        Binary::ShiftRightArithmetic => {
            shift_right_arithmetic(bits, a, logical(bits, b.cast_unsigned()))
        }
        Binary::ShiftRightLogical => {
            let x = logical(bits, a.cast_unsigned());
            shift_right_logical(bits, x, logical(bits, b.cast_unsigned())).cast_signed()
        }
        Binary::Atan2 | Binary::Complex => {
            unreachable!("the verifier lets no signed integer into {op:?}")
        }
    };
    sign_extend(bits, wide.cast_unsigned())
}

/// Two unsigned operands of `bits` bits.
#[inline]
pub(super) fn binary_unsigned(op: Binary, bits: u32, a: u64, b: u64) -> u64 {
    let wide = match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Subtract => a.wrapping_sub(b),
        Binary::Multiply => a.wrapping_mul(b),
        Binary::Divide => a.checked_div(b).unwrap_or(u64::MAX),
        Binary::Remainder => a.checked_rem(b).unwrap_or(a),
        Binary::Maximum => a.max(b),
        Binary::Minimum => a.min(b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Mulhi => wrap_u128((u128::from(a) * u128::from(b)) >> bits),
        // The whole exponent counts: XLA:CPU looks at six bits of it, and takes one with its top bit set for negative.
        Binary::Power => power(a, b),
        Binary::ShiftLeft => shift_left(bits, a, b),
        // The top bit is replicated in unsigned types too.
        Binary::ShiftRightArithmetic => {
            shift_right_arithmetic(bits, sign_extend(bits, a), b).cast_unsigned()
        }
        Binary::ShiftRightLogical => shift_right_logical(bits, a, b),
        Binary::Atan2 | Binary::Complex => {
            unreachable!("the verifier lets no unsigned integer into {op:?}")
        }
    };
    logical(bits, wide)
}

/// The low `bits` bits; `bits` is 1 to 64.
#[inline]
fn logical(bits: u32, x: u64) -> u64 {
    x << (64 - bits) >> (64 - bits)
}
#[inline]
fn sign_extend(bits: u32, x: u64) -> i64 {
    (x << (64 - bits)).cast_signed() >> (64 - bits)
}
/// `bits` for zero.
#[inline]
fn leading_zeros(bits: u32, x: u64) -> u32 {
    logical(bits, x).leading_zeros() - (64 - bits)
}
#[inline]
fn ones(bits: u32, x: u64) -> u32 {
    logical(bits, x).count_ones()
}

// Shift amounts are read as unsigned, so a negative one is past the width like any other that is too large.
#[inline]
fn shift_left(bits: u32, x: u64, amount: u64) -> u64 {
    if amount < u64::from(bits) { x << amount } else { 0 }
}
#[inline]
fn shift_right_logical(bits: u32, x: u64, amount: u64) -> u64 {
    if amount < u64::from(bits) { x >> amount } else { 0 }
}
#[inline]
fn shift_right_arithmetic(bits: u32, x: i64, amount: u64) -> i64 {
    x >> amount.min(u64::from(bits - 1))
}

/// Exponentiation modulo 2^64 by repeated squaring; anything to the power 0 is 1.
fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result: u64 = 1;
    while exponent != 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}

/// A negative exponent gives the quotient truncated to a whole number: 0 unless the base is 1 or -1. For base 0 XLA
/// gives 0 as well.
fn power_signed(base: i64, exponent: i64) -> i64 {
    match (u64::try_from(exponent), base) {
        (Ok(exponent), _) => power(base.cast_unsigned(), exponent).cast_signed(),
        (Err(_), 1) => 1,
        (Err(_), -1) => 1 - 2 * (exponent & 1),
        (Err(_), _) => 0,
    }
}

#[inline]
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "wrapping is meant")]
fn wrap_i128(x: i128) -> i64 {
    x as i64
}
#[inline]
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "wrapping is meant")]
fn wrap_u128(x: u128) -> u64 {
    x as u64
}

#[cfg(test)]
mod tests {
    use crate::num::{binary, unary};
    use hlo::op::{Binary, Unary};
    use hlo::{ElementType, Scalar};

    fn signed(op: Binary, ty: ElementType, a: &[i64], b: &[i64]) -> Vec<i64> {
        let one = |(&a, &b)| match binary(op, ty, Scalar::Signed(a), Scalar::Signed(b)) {
            Scalar::Signed(x) => x,
            other => panic!("{other:?}"),
        };
        a.iter().zip(b).map(one).collect()
    }
    fn unsigned(op: Binary, ty: ElementType, a: &[u64], b: &[u64]) -> Vec<u64> {
        let one = |(&a, &b)| match binary(op, ty, Scalar::Unsigned(a), Scalar::Unsigned(b)) {
            Scalar::Unsigned(x) => x,
            other => panic!("{other:?}"),
        };
        a.iter().zip(b).map(one).collect()
    }
    fn signed1(op: Unary, ty: ElementType, x: &[i64]) -> Vec<i64> {
        let one = |&x| match unary(op, ty, Scalar::Signed(x)) {
            Scalar::Signed(x) => x,
            other => panic!("{other:?}"),
        };
        x.iter().map(one).collect()
    }
    fn unsigned1(op: Unary, ty: ElementType, x: &[u64]) -> Vec<u64> {
        let one = |&x| match unary(op, ty, Scalar::Unsigned(x)) {
            Scalar::Unsigned(x) => x,
            other => panic!("{other:?}"),
        };
        x.iter().map(one).collect()
    }

    #[test]
    fn shifts() {
        use Binary::{ShiftLeft, ShiftRightArithmetic, ShiftRightLogical};
        use ElementType::{S4, S8, S64, U8, U64};
        let (x, by) = ([255, 128, 128, 255, 127], [1, 9, 8, 255, 8]);
        assert_eq!(unsigned(ShiftRightArithmetic, U8, &x, &by), [255, 255, 255, 255, 0]);
        let (x, by) = ([-1, -128, 127, 1, -1], [1, 9, 8, -1, -128]);
        assert_eq!(signed(ShiftRightArithmetic, S8, &x, &by), [-1, -1, 0, 0, -1]);
        assert_eq!(signed(ShiftRightLogical, S8, &x, &by), [127, 0, 0, 0, 0]);
        assert_eq!(signed(ShiftLeft, S8, &x, &by), [-2, 0, 0, 0, 0]);
        let (x, by) = ([-8, 7, -1, 1], [3, 4, -1, 2]);
        assert_eq!(signed(ShiftRightArithmetic, S4, &x, &by), [-1, 0, -1, 0]);
        assert_eq!(signed(ShiftRightLogical, S4, &x, &by), [1, 0, 0, 0]);
        assert_eq!(signed(ShiftLeft, S4, &x, &by), [0, 0, 0, 4]);
        assert_eq!(signed(ShiftRightArithmetic, S64, &[i64::MIN; 2], &[63, -1]), [-1, -1]);
        assert_eq!(unsigned(ShiftLeft, U64, &[1; 2], &[63, 64]), [1 << 63, 0]);
    }

    #[test]
    fn counts_are_of_the_logical_width_but_for_popcnt_of_s4() {
        use ElementType::{S2, S4, S8, S64, U2, U4};
        use Unary::{CountLeadingZeros, Popcnt};
        assert_eq!(signed1(Popcnt, S4, &[-8, -1, 7]), [5, -8, 3]);
        assert_eq!(signed1(Popcnt, S2, &[-2, -1]), [1, -2]);
        assert_eq!(signed1(Popcnt, S64, &[-1]), [64]);
        assert_eq!(unsigned1(Popcnt, U4, &[15, 8]), [4, 1]);
        assert_eq!(signed1(CountLeadingZeros, S8, &[-128, 0, 1]), [0, 8, 7]);
        assert_eq!(signed1(CountLeadingZeros, S2, &[0, -1]), [-2, 0]);
        assert_eq!(unsigned1(CountLeadingZeros, U2, &[0, 1]), [2, 1]);
    }

    #[test]
    fn division_by_zero_and_overflow() {
        use Binary::{Divide, Remainder};
        use ElementType::{S8, S32, S64, U4, U8};
        assert_eq!(signed(Divide, S32, &[7, -7, 5], &[-2, 2, 0]), [-3, -3, -1]);
        assert_eq!(signed(Remainder, S32, &[7, -7, 5], &[-2, 2, 0]), [1, -1, 5]);
        assert_eq!(signed(Divide, S8, &[-128], &[-1]), [-128]);
        assert_eq!(signed(Remainder, S8, &[-128], &[-1]), [0]);
        assert_eq!(signed(Divide, S64, &[i64::MIN], &[-1]), [i64::MIN]);
        assert_eq!(signed(Remainder, S64, &[i64::MIN], &[-1]), [0]);
        assert_eq!(unsigned(Divide, U8, &[9, 9], &[2, 0]), [4, 255]);
        assert_eq!(unsigned(Divide, U4, &[9], &[0]), [15]);
        assert_eq!(unsigned(Remainder, U8, &[9, 9], &[2, 0]), [1, 9]);
    }

    #[test]
    fn power_wraps_with_the_whole_exponent() {
        use Binary::Power;
        use ElementType::{S8, S32, S64, U8};
        let (x, y) = ([2, -1, -1, 0, 0], [7, -3, -2, -1, 0]);
        assert_eq!(signed(Power, S8, &x, &y), [-128, -1, 1, 0, 1]);
        assert_eq!(signed(Power, S64, &[2, 1, 2], &[64, -9, -1]), [0, 1, 0]);
        assert_eq!(signed(Power, S32, &[3], &[70]), [3_i32.wrapping_pow(70).into()]);
        assert_eq!(unsigned(Power, U8, &[3], &[200]), [3_u8.wrapping_pow(200).into()]);
    }

    #[test]
    fn mulhi_is_the_high_half() {
        use Binary::Mulhi;
        use ElementType::{S4, S8, S64, U4, U64};
        assert_eq!(signed(Mulhi, S8, &[127, -128, -128], &[127, 127, -128]), [63, -64, 64]);
        assert_eq!(signed(Mulhi, S4, &[7, -8], &[7, 7]), [3, -4]);
        assert_eq!(signed(Mulhi, S64, &[i64::MIN], &[i64::MIN]), [1 << 62]);
        assert_eq!(unsigned(Mulhi, U4, &[15], &[15]), [14]);
        assert_eq!(unsigned(Mulhi, U64, &[u64::MAX], &[u64::MAX]), [u64::MAX - 1]);
    }

    #[test]
    fn sums_and_signs_wrap() {
        use ElementType::{S2, S4, S8, S64, U4, U8};
        assert_eq!(signed(Binary::Add, S4, &[7], &[1]), [-8]);
        assert_eq!(signed(Binary::Add, S2, &[1], &[1]), [-2]);
        assert_eq!(unsigned(Binary::Add, U4, &[15], &[1]), [0]);
        assert_eq!(unsigned(Binary::Subtract, U4, &[0], &[1]), [15]);
        assert_eq!(signed(Binary::Multiply, S64, &[i64::MAX], &[2]), [-2]);
        assert_eq!(signed(Binary::Maximum, S8, &[-1], &[1]), [1]);
        assert_eq!(unsigned(Binary::Minimum, U8, &[255], &[1]), [1]);
        assert_eq!(signed1(Unary::Abs, S8, &[-128, -3]), [-128, 3]);
        assert_eq!(signed1(Unary::Negate, S64, &[i64::MIN]), [i64::MIN]);
        assert_eq!(signed1(Unary::Sign, S8, &[-7, 0, 7]), [-1, 0, 1]);
        assert_eq!(unsigned1(Unary::Negate, U8, &[1]), [255]);
        assert_eq!(unsigned1(Unary::Not, U4, &[5]), [10]);
        assert_eq!(signed1(Unary::Not, S4, &[5]), [-6]);
    }
}
