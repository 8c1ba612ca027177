//! Arithmetic on real numbers: every result correctly rounded, the same bits on every machine.
//!
//! - Sums, products, quotients and square roots are computed in f64 and rounded to the type. For
//!   types narrower than f64 that is the same as rounding the exact value: f64 has 53 bits, and
//!   2p+2 are enough for a type of p bits; f32, the widest, has 24.
//! - Functions of f32 and f64 come from CORE-MATH, which rounds correctly (`float_functions`).
//! - Functions of narrower types are the correctly rounded f64 value, rounded once more. That is
//!   harmless unless an f64 result is exactly halfway between two values of the type while the true
//!   one is not. Tests go through all arguments of all narrow types, pairs of 16 bits included, and
//!   find this for tiny angles only, which are handled.
use super::exact::pow2;
use super::single::to_f32;
use hlo::elem::Special;
use hlo::op::Binary;
use hlo::{ElementType, Scalar};

/// The result of a function of floats in wide form, of the element type that the function gives.
pub(super) trait Rounded: Sized {
    fn rounded(self, ty: ElementType) -> Scalar;
    /// Returns the result of a function of two operands, whose f64 result may need a correction in
    /// narrower types.
    #[inline]
    fn corrected(self, _: Binary, ty: ElementType) -> Scalar {
        self.rounded(ty)
    }
}
impl Rounded for f32 {
    #[inline]
    fn rounded(self, _: ElementType) -> Scalar {
        Scalar::Float(f64::from(self))
    }
}
impl Rounded for f64 {
    #[inline]
    fn rounded(self, ty: ElementType) -> Scalar {
        Scalar::Float(round_to(ty, self))
    }
    #[inline]
    fn corrected(self, op: Binary, ty: ElementType) -> Scalar {
        if ty == ElementType::F64 {
            return Scalar::Float(self);
        }
        before_rounding(op, ty, self).rounded(ty)
    }
}
impl Rounded for bool {
    #[inline]
    fn rounded(self, _: ElementType) -> Scalar {
        Scalar::Pred(self)
    }
}

/// Returns a function of one value of type `ty`, given for f32 and for f64.
#[inline]
pub(super) fn unary<A: Rounded, B: Rounded>(
    ty: ElementType,
    x: f64,
    single: impl Fn(f32) -> A,
    double: impl Fn(f64) -> B,
) -> Scalar {
    if ty == ElementType::F32 { single(to_f32(x)).rounded(ty) } else { double(x).rounded(ty) }
}

/// Returns a function of two values of type `ty`, given for f32 and for f64.
#[inline]
pub(super) fn binary<A: Rounded, B: Rounded>(
    op: Binary,
    ty: ElementType,
    (a, b): (f64, f64),
    single: impl Fn(f32, f32) -> A,
    double: impl Fn(f64, f64) -> B,
) -> Scalar {
    if ty == ElementType::F32 {
        return single(to_f32(a), to_f32(b)).rounded(ty);
    }
    double(a, b).corrected(op, ty)
}

/// Returns the f64 result of an operation on two narrow values, adjusted where rounding twice would
/// be wrong.
///
/// - Near zero the angle is the quotient less a part too small for f64, and the quotient of two
///   bf16 can be exactly halfway between two subnormal ones. The angle has to be below it.
/// - A power of nonzero numbers is not zero, which matters in the type without zero: there the
///   result is its smallest value instead the type that has no zero.
#[inline]
pub(super) fn before_rounding(op: Binary, ty: ElementType, result: f64) -> f64 {
    if op == Binary::Atan2 && result != 0.0 && result.abs() < pow2(-100) {
        result - result * pow2(-52)
    } else if op == Binary::Power && ty == ElementType::F8E8M0Fnu && result == 0.0 {
        f64::MIN_POSITIVE
    } else {
        result
    }
}

/// Maps a float to an integer of the same rank in the total order.
///
/// Sign and magnitude become a signed number. In the types without -0 the bits of -0 are the NaN
/// and come first; `f8e8m0fnu` has no sign, and its NaN comes last.
pub fn total_order_key(ty: ElementType, x: Scalar) -> i64 {
    let bits = u64::try_from(x.to_bits(ty)).expect("a float has at most 64 bits");
    let sign = 1 << (ty.bits() - 1);
    let special = ty.float_format().map_or(Special::Ieee, |format| format.special);
    if special == Special::PowerOfTwo || bits & sign == 0 {
        bits.cast_signed()
    } else if special == Special::Fnuz && bits == sign {
        i64::MIN
    } else {
        !(bits ^ sign).cast_signed()
    }
}

/// Returns `x`, of type `ty`, rounded to nearest even in a format of `e` exponent and `m` mantissa
/// bits, without subnormal numbers: values beyond its range become infinity or, below it, zero of
/// the same sign.
///
/// A field at least as wide as that of `ty` changes nothing. As in XLA, the even one of two codes
/// has an even last bit: where no mantissa bit is left, that is an even stored exponent, so 1.5
/// becomes 2, and so does 3. NaN stays NaN, also where no mantissa bit is left to mark it (XLA's
/// evaluator makes it infinite).
pub(super) fn reduce_precision(ty: ElementType, e: u32, m: u32, x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let format = ty.float_format().expect("verified: the type is a float");
    let mut code = format.encode(x.abs());
    if m < format.mantissa_bits {
        let drop = format.mantissa_bits - m;
        // A carry out of the mantissa increments the exponent, as required.
        code = (code + (1 << (drop - 1)) - 1 + (code >> drop & 1)) >> drop << drop;
    }
    let mut size = if code > format.largest() { f64::INFINITY } else { format.decode(code) };
    if e < format.exponent_bits {
        let stored = i32::try_from(code >> format.mantissa_bits).expect("at most 11 bits");
        let (exponent, bias) = (stored - format.bias, (1 << (e - 1)) - 1);
        if exponent > bias {
            size = f64::INFINITY;
        } else if exponent <= -bias {
            size = 0.0;
        }
    }
    round_to(ty, size.copysign(x))
}

/// See [`stochastic_convert`](super::stochastic_convert).
pub(super) fn stochastic_convert(from_bits: u32, to_bits: u32, x: f64, random: u64) -> i64 {
    let max = i64::MAX >> (64 - to_bits);
    if x.is_nan() {
        return 0;
    }
    // 2^(n-1) bounds both sides: the increment below stops at the ends of the type.
    let bound = pow2(i32::try_from(to_bits).expect("at most 64") - 1);
    if x >= bound {
        return max;
    }
    if x <= -bound {
        return !max;
    }
    let size = x.abs();
    let whole = to_i64(size.trunc());
    // The fraction has no more bits than the float, so this is exact.
    let fraction = (size - size.trunc()) * pow2(i32::try_from(from_bits).expect("at most 64"));
    let rounded =
        if u128::from(random) < to_u128(fraction) { whole.saturating_add(1) } else { whole };
    if x < 0.0 { (-rounded).max(!max) } else { rounded.min(max) }
}

/// Returns `x` rounded once to a float type; the common types are handled directly, since the
/// general path is slow.
#[inline]
fn round_to(ty: ElementType, x: f64) -> f64 {
    if ty == ElementType::F32 {
        return f64::from(to_f32(x));
    }
    if ty == ElementType::F64 {
        return x;
    }
    match Scalar::Float(x).round_to(ty) {
        Scalar::Float(x) => x,
        other @ (Scalar::Pred(_)
        | Scalar::Signed(_)
        | Scalar::Unsigned(_)
        | Scalar::Complex(..)) => {
            unreachable!("rounding turned a float into {other:?}")
        }
    }
}
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "an integer in range")]
fn to_i64(x: f64) -> i64 {
    x as i64
}
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, below 2^64, and truncated on purpose"
)]
fn to_u128(x: f64) -> u128 {
    x as u128
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values are compared")]
mod tests {
    use super::*;
    use crate::{Direction, Order};
    use hlo::op::Unary;

    fn unary(op: Unary, ty: ElementType, x: f64) -> f64 {
        crate::unary(op, ty, Scalar::Float(x)).as_f64()
    }
    fn binary(op: Binary, ty: ElementType, a: f64, b: f64) -> f64 {
        crate::binary(op, ty, Scalar::Float(a), Scalar::Float(b)).as_f64()
    }

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    /// Asserts that two values are equal, and have equal signs of zero; all NaN are equal.
    #[track_caller]
    fn same(got: f64, expected: f64, of: &str) {
        let equal = got == expected && got.is_sign_negative() == expected.is_sign_negative();
        assert!(equal || (got.is_nan() && expected.is_nan()), "{of}: {got:e} is not {expected:e}");
    }
    #[track_caller]
    fn check_unary(op: Unary, cases: &[(f64, f64)]) {
        for &(x, expected) in cases {
            for ty in [ElementType::F32, ElementType::F64, ElementType::Bf16] {
                same(unary(op, ty, x), round_to(ty, expected), &format!("{op:?} {ty} {x}"));
            }
        }
    }
    #[track_caller]
    fn check_binary(op: Binary, cases: &[(f64, f64, f64)]) {
        for &(x, y, expected) in cases {
            for ty in [ElementType::F32, ElementType::F64, ElementType::Bf16] {
                same(binary(op, ty, x, y), round_to(ty, expected), &format!("{op:?} {ty} {x} {y}"));
            }
        }
    }

    #[test]
    fn rounding_to_integers() {
        check_unary(Unary::Ceil, &[(-0.5, -0.0), (1.25, 2.0), (INF, INF), (NAN, NAN)]);
        check_unary(Unary::Floor, &[(-0.5, -1.0), (1.25, 1.0), (-0.0, -0.0)]);
        check_unary(Unary::RoundNearestAfz, &[(-0.5, -1.0), (2.5, 3.0), (-0.25, -0.0)]);
        check_unary(Unary::RoundNearestEven, &[(-0.5, -0.0), (2.5, 2.0), (3.5, 4.0)]);
        let below_half = f64::from(0.5_f32.next_down());
        same(unary(Unary::RoundNearestAfz, ElementType::F32, below_half), 0.0, "below half");
        check_unary(Unary::Sign, &[(NAN, NAN), (-0.0, -0.0), (0.0, 0.0), (-7.0, -1.0)]);
    }

    #[test]
    fn special_values_of_functions() {
        let pi = std::f64::consts::PI;
        check_unary(Unary::Sqrt, &[(-0.0, -0.0), (-1.0, NAN), (INF, INF), (4.0, 2.0)]);
        check_unary(Unary::Rsqrt, &[(0.0, INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (4.0, 0.5)]);
        check_unary(Unary::Cbrt, &[(-8.0, -2.0), (-0.0, -0.0)]);
        check_unary(Unary::Exponential, &[(-INF, 0.0), (INF, INF), (-0.0, 1.0)]);
        check_unary(Unary::ExponentialMinusOne, &[(-INF, -1.0), (-0.0, -0.0)]);
        check_unary(Unary::Log, &[(0.0, -INF), (-0.0, -INF), (-1.0, NAN), (1.0, 0.0)]);
        check_unary(Unary::LogPlusOne, &[(-1.0, -INF), (-0.0, -0.0), (-2.0, NAN)]);
        check_unary(Unary::Logistic, &[(0.0, 0.5), (INF, 1.0), (-INF, 0.0), (NAN, NAN)]);
        check_unary(Unary::Tanh, &[(INF, 1.0), (-INF, -1.0), (-0.0, -0.0)]);
        check_unary(Unary::Erf, &[(INF, 1.0), (-INF, -1.0), (-0.0, -0.0)]);
        check_unary(Unary::Atanh, &[(1.0, INF), (-1.0, -INF), (-0.0, -0.0), (2.0, NAN)]);
        check_unary(Unary::Asin, &[(-0.0, -0.0), (1.5, NAN), (1.0, pi / 2.0)]);
        check_unary(Unary::Acosh, &[(1.0, 0.0), (0.5, NAN), (INF, INF)]);
        check_unary(Unary::Sine, &[(INF, NAN), (-0.0, -0.0)]);
        same(unary(Unary::Acos, ElementType::F64, -1.0), pi, "acos");
        check_unary(Unary::Acos, &[(1.0, 0.0)]);
    }

    #[test]
    fn special_values_of_two_operands() {
        check_binary(Binary::Maximum, &[(NAN, 1.0, NAN), (1.0, NAN, NAN), (-0.0, 0.0, 0.0)]);
        check_binary(Binary::Maximum, &[(0.0, -0.0, 0.0), (1.0, 2.0, 2.0), (2.0, 1.0, 2.0)]);
        check_binary(Binary::Minimum, &[(NAN, 1.0, NAN), (1.0, NAN, NAN), (-0.0, 0.0, -0.0)]);
        check_binary(Binary::Minimum, &[(0.0, -0.0, -0.0), (1.0, 2.0, 1.0), (2.0, 1.0, 1.0)]);
        check_binary(Binary::Remainder, &[(-5.5, 2.0, -1.5), (5.5, -2.0, 1.5), (1.0, 0.0, NAN)]);
        check_binary(Binary::Remainder, &[(INF, 2.0, NAN), (3.0, INF, 3.0), (-4.0, 2.0, -0.0)]);
        check_binary(Binary::Divide, &[(0.0, 0.0, NAN), (-1.0, 0.0, -INF)]);
        check_binary(Binary::Power, &[(NAN, 0.0, 1.0), (1.0, NAN, 1.0), (-8.0, 1.0 / 3.0, NAN)]);
        check_binary(Binary::Power, &[(-0.0, -3.0, -INF), (-1.0, INF, 1.0), (-INF, -3.0, -0.0)]);
        check_binary(Binary::Atan2, &[(-0.0, -1.0, -std::f64::consts::PI), (0.0, 1.0, 0.0)]);
        check_binary(Binary::Atan2, &[(INF, INF, std::f64::consts::FRAC_PI_4)]);
    }

    #[test]
    fn functions_are_correctly_rounded() {
        let ty = ElementType::F64;
        // From 300 bits of precision.
        let cases = [
            (1.5, [0.966_105_146_475_310_8, 4.481_689_070_338_064_5, 0.905_148_253_644_866_4]),
            (-2.25, [-0.998_537_283_413_318_8, 0.105_399_224_561_864_33, -0.978_026_114_738_813_6]),
            (0.1, [0.112_462_916_018_284_9, 1.105_170_918_075_647_7, 0.099_667_994_624_955_82]),
        ];
        for (x, [erf, exp, tanh]) in cases {
            same(unary(Unary::Erf, ty, x), erf, "erf");
            same(unary(Unary::Exponential, ty, x), exp, "exp");
            same(unary(Unary::Tanh, ty, x), tanh, "tanh");
        }
        same(unary(Unary::Logistic, ty, -2.25), 0.095_349_464_899_109_49, "logistic");
    }

    #[test]
    fn logistic_of_f32_is_decided_beyond_f64() {
        // Ties in f64, which the third term of the series decides; and a subnormal result.
        let cases = [
            (0x34c0_0000, 0x3f00_0001),
            (0x3566_0000, 0x3f00_0004),
            (0xb6ce_0000, 0x3eff_ffcd),
            (0xba92_8601, 0x3eff_db5f),
            ((-100.0_f32).to_bits(), 0x0000_001b),
        ];
        for (x, expected) in cases {
            let x = f64::from(f32::from_bits(x));
            let expected = f64::from(f32::from_bits(expected));
            same(unary(Unary::Logistic, ElementType::F32, x), expected, "logistic");
        }
    }

    #[test]
    fn a_tiny_angle_rounds_below_a_tie() {
        // y / x is 1.5 times the smallest bf16, and the angle is less.
        let smallest = pow2(-133);
        let angle = binary(Binary::Atan2, ElementType::Bf16, 24.0 * smallest, 16.0);
        same(angle, smallest, "atan2");
    }

    #[test]
    fn one_rounding_of_sums_and_products() {
        // 1 + 2^-8 + 2^-40 is above the midpoint, and rounding to f32 first would lose that.
        let sum = binary(Binary::Add, ElementType::Bf16, 1.0 + pow2(-7), pow2(-8));
        same(sum, 1.0 + pow2(-6), "tie to even");
        let product = binary(Binary::Multiply, ElementType::F16, 300.0, 300.0);
        same(product, INF, "overflow");
        same(binary(Binary::Divide, ElementType::F32, 1.0, 3.0), f64::from(1.0_f32 / 3.0), "third");
        same(binary(Binary::Subtract, ElementType::F8E4M3Fnuz, 1.0, 1.0), 0.0, "zero");
        same(unary(Unary::Negate, ElementType::F8E4M3Fnuz, 0.0), 0.0, "there is no -0");
        same(binary(Binary::Subtract, ElementType::F8E8M0Fnu, 1.0, 1.0), NAN, "there is no zero");
        same(binary(Binary::Divide, ElementType::F4E2M1Fn, 1.0, 0.0), 6.0, "there is no infinity");
    }

    #[test]
    fn total_order() {
        let less = |ty, a: f64, b: f64| {
            let (a, b) = (Scalar::Float(a), Scalar::Float(b));
            crate::compare(Direction::Lt, Order::TotalOrder, ty, a, b)
        };
        // The language does not define the sign of its constant.
        let nan = NAN.abs();
        let ordered = [-nan, -INF, -1.0, -pow2(-14), -0.0, 0.0, pow2(-14), 1.0, INF, nan];
        for ty in [ElementType::F64, ElementType::F32, ElementType::F16, ElementType::F8E5M2] {
            for pair in ordered.windows(2) {
                let (a, b) = (pair[0], pair[1]);
                assert!(less(ty, a, b) && !less(ty, b, a), "{ty} {a} {b}");
            }
        }
        assert!(less(ElementType::F8E4M3Fnuz, NAN, -240.0));
        assert!(less(ElementType::F8E8M0Fnu, 1.0, NAN));
        assert!(less(ElementType::F8E8M0Fnu, pow2(-127), 0.5));
        assert!(less(ElementType::F4E2M1Fn, -0.0, 0.0));
    }

    #[test]
    fn reducing_precision() {
        let reduce = |ty, e, m, x: f64| reduce_precision(ty, e, m, x);
        let f32_cases =
            [(65519.0, 65504.0), (65520.0, INF), (6.0e-5, 0.0), (-6.0e-5, -0.0), (NAN, NAN)];
        for (x, expected) in f32_cases {
            same(reduce(ElementType::F32, 5, 10, x), expected, "e5m10");
        }
        let x = f64::from(6.2e-5_f32);
        same(reduce(ElementType::F32, 5, 10, x), f64::from(6.198_883e-5_f32), "e5m10");
        for (x, expected) in [(NAN, NAN), (1.5, 2.0), (65536.0, INF), (1e-6, 0.0)] {
            same(reduce(ElementType::F32, 5, 0, x), expected, "e5m0");
        }
        for (x, expected) in [(1.0, 0.0), (-2.0, -INF), (f64::from(f32::MAX), INF)] {
            same(reduce(ElementType::F32, 1, 23, x), expected, "e1m23");
        }
        // Subnormal numbers of the type round to the unit of its smallest normal ones.
        same(reduce(ElementType::F32, 8, 22, pow2(-149)), 0.0, "tie to even");
        same(reduce(ElementType::F32, 8, 22, 3.0 * pow2(-149)), pow2(-147), "tie to even");
        same(reduce(ElementType::F64, 11, 51, 3.0 * pow2(-1074)), pow2(-1072), "tie to even");
        same(reduce(ElementType::F64, 11, 52, 5e-324), 5e-324, "nothing to do");
        same(reduce(ElementType::F64, 11, 1, f64::MAX), INF, "a carry");
        same(reduce(ElementType::F64, 1, 52, f64::MAX), INF, "e1");
    }
}
