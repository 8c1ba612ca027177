//! Integers: two's complement, wrapping at the type's own width.
//!
//! Values come sign- or zero-extended to 64 bits. A result is computed modulo 2^64 and then wrapped
//! to the type, which is the same as computing modulo 2^n: 2^n divides 2^64. An operation on single
//! bits (shifts, counts, high products) takes the width.
use hlo::{ElementType, Scalar};

/// Returns the integer of type `ty` that is equal to `x` modulo 2^n.
#[inline]
pub(super) fn wrapped_signed(ty: ElementType, x: i64) -> Scalar {
    Scalar::Signed(sign_extend(ty.bits(), x.cast_unsigned()))
}
/// Returns the integer of type `ty` that is equal to `x` modulo 2^n.
#[inline]
pub(super) fn wrapped_unsigned(ty: ElementType, x: u64) -> Scalar {
    Scalar::Unsigned(logical(ty.bits(), x))
}

/// Returns the low `bits` bits; `bits` is 1 to 64.
#[inline]
pub(super) fn logical(bits: u32, x: u64) -> u64 {
    x << (64 - bits) >> (64 - bits)
}
#[inline]
pub(super) fn sign_extend(bits: u32, x: u64) -> i64 {
    (x << (64 - bits)).cast_signed() >> (64 - bits)
}
/// Returns `bits` for zero.
#[inline]
pub(super) fn leading_zeros(bits: u32, x: u64) -> u32 {
    logical(bits, x).leading_zeros() - (64 - bits)
}
#[inline]
pub(super) fn ones(bits: u32, x: u64) -> u32 {
    logical(bits, x).count_ones()
}

/// The functions that signed and unsigned integers have alike, of the wide type of a class.
macro_rules! alike {
    ($wide:ident: $($function:ident($($x:ident)+) $result:expr;)*) => {$(
        #[inline]
        pub(super) fn $function($($x: $wide),+) -> $wide {
            $result
        }
    )*};
    ($wide:ident) => {
        $crate::int::alike! {
            $wide:
            neg(x) x.wrapping_neg();
            not(x) !x;
            add(a b) a.wrapping_add(b);
            sub(a b) a.wrapping_sub(b);
            mul(a b) a.wrapping_mul(b);
            max(a b) a.max(b);
            min(a b) a.min(b);
            and(a b) a & b;
            or(a b) a | b;
            xor(a b) a ^ b;
        }
    };
}
pub(super) use alike;

/// Exponentiation modulo 2^64 by repeated squaring; anything to the power 0 is 1.
pub(super) fn power(mut base: u64, mut exponent: u64) -> u64 {
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

#[cfg(test)]
mod tests {
    use crate::{binary, unary};
    use hlo::op::{Binary, Unary};
    use hlo::{ElementType, Scalar};

    macro_rules! of_class {
        ($class:ident $wide:ident $of_two:ident $of_one:ident) => {
            fn $of_two(op: Binary, ty: ElementType, a: &[$wide], b: &[$wide]) -> Vec<$wide> {
                let one = |(&a, &b)| match binary(op, ty, Scalar::$class(a), Scalar::$class(b)) {
                    Scalar::$class(x) => x,
                    other => panic!("{other:?}"),
                };
                a.iter().zip(b).map(one).collect()
            }
            fn $of_one(op: Unary, ty: ElementType, x: &[$wide]) -> Vec<$wide> {
                let one = |&x| match unary(op, ty, Scalar::$class(x)) {
                    Scalar::$class(x) => x,
                    other => panic!("{other:?}"),
                };
                x.iter().map(one).collect()
            }
        };
    }
    of_class!(Signed i64 signed signed1);
    of_class!(Unsigned u64 unsigned unsigned1);

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
    fn counts_are_of_the_logical_width() {
        use ElementType::{S2, S4, S8, S64, U2, U4};
        use Unary::{CountLeadingZeros, Popcnt};
        assert_eq!(signed1(Popcnt, S4, &[-8, -1, 7]), [1, 4, 3]);
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
