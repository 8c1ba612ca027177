//! Arithmetic on real numbers: every result correctly rounded, the same bits on every machine.
//!
//! - Sums, products, quotients and square roots are computed in f64 and rounded to the type. For types narrower than
//!   f64 that is the same as rounding the exact value: f64 has 53 bits, and 2p+2 are enough for a type of p bits; f32,
//!   the widest, has 24.
//! - Functions of f32 and f64 come from CORE-MATH, which rounds correctly. The platform's libm gives other bits on other
//!   machines, and is never used.
//! - Functions of narrower types are the correctly rounded f64 value, rounded once more. That is harmless unless an f64
//!   result is exactly halfway between two values of the type while the true one is not. For functions of one operand a
//!   test tries every value of every narrow type. For power, chance gives all pairs of f16 together odds of one in a
//!   thousand for a single such case, and the other types less.
#![expect(clippy::float_cmp, reason = "equality of values is meant, to the last bit")]
use super::exact::{exponent, pow2, round_to_odd, two_sum};
use hlo::op::{Binary, Unary};
use hlo::{ElementType, Scalar};

/// CORE-MATH for f32, under f64's names.
mod single {
    use super::{round_to_odd, two_sum};
    pub(super) use core_math::{
        acosf as acos, acoshf as acosh, asinf as asin, asinhf as asinh, atanhf as atanh,
        cbrtf as cbrt, cosf as cos, coshf as cosh, erff as erf, expf as exp, expm1f as expm1,
        log1pf as log1p, logf as log, rsqrtf as rsqrt, sinf as sin, sinhf as sinh, tanf as tan,
        tanhf as tanh,
    };

    /// Correctly rounded, by a search over all f32: where the f64 value lies within 3 ulp of a midpoint between two f32
    /// it is on the right side of it, except near zero.
    ///
    /// There the result is 1/2 + x/4 - x^3/48 + x^5/480, where the first two terms may make a midpoint exactly and the
    /// third tells the side, although it is too small for f64.
    pub(super) fn logistic(x: f32) -> f32 {
        let x = f64::from(x);
        if x.abs() >= 1.0 / 512.0 || x.is_nan() {
            return super::to_f32(super::double::logistic(x));
        }
        let (sum, error) = two_sum(0.5, 0.25 * x);
        let cube = x * x * x;
        let (sum, rest) = two_sum(sum, error - (cube / 48.0 - cube * x * x / 480.0));
        super::to_f32(round_to_odd(sum, rest))
    }
}

/// CORE-MATH for f64.
mod double {
    pub(super) use core_math::{
        acos, acosh, asin, asinh, atanh, cbrt, cos, cosh, erf, exp, expm1, log, log1p, rsqrt, sin,
        sinh, tan, tanh,
    };

    /// 1 / (1 + exp(-x)), within 1 ulp.
    ///
    /// For negative x it is exp(x) / (1 + exp(x)), because exp(-x) overflows long before the result vanishes. (XLA lets
    /// it overflow, so that its logistic of -100 in f32 is 0.) The sum and the quotient are corrected by their rounding
    /// errors: what is left is the error of exp, and the last rounding.
    pub(super) fn logistic(x: f64) -> f64 {
        let e = exp(-x.abs());
        // The larger term comes first, so the subtraction gives the rounding error exactly.
        let sum = 1.0 + e;
        let sum_error = e - (sum - 1.0);
        let numerator = if x < 0.0 { e } else { 1.0 };
        let quotient = numerator / sum;
        let rest = (-quotient).mul_add(sum, numerator) - quotient * sum_error;
        let corrected = quotient + rest / sum;
        // A subnormal quotient has no exact rest, and needs none: the sum is 1.
        if quotient.is_normal() { corrected } else { quotient }
    }
}

macro_rules! real_unary {
    ($(#[$doc:meta])* $name:ident, $float:ident, $functions:ident) => {
        $(#[$doc])*
        #[inline]
        pub(crate) fn $name(op: Unary, x: $float) -> $float {
            match op {
                Unary::Abs => x.abs(),
                Unary::Acos => $functions::acos(x),
                Unary::Acosh => $functions::acosh(x),
                Unary::Asin => $functions::asin(x),
                Unary::Asinh => $functions::asinh(x),
                Unary::Atanh => $functions::atanh(x),
                Unary::Cbrt => $functions::cbrt(x),
                Unary::Ceil => x.ceil(),
                Unary::Cosine => $functions::cos(x),
                Unary::Cosh => $functions::cosh(x),
                Unary::Erf => $functions::erf(x),
                Unary::Exponential => $functions::exp(x),
                Unary::ExponentialMinusOne => $functions::expm1(x),
                Unary::Floor => x.floor(),
                Unary::Imag => 0.0,
                Unary::Log => $functions::log(x),
                Unary::LogPlusOne => $functions::log1p(x),
                Unary::Logistic => $functions::logistic(x),
                Unary::Negate => -x,
                Unary::Real => x,
                Unary::RoundNearestAfz => x.round(),
                Unary::RoundNearestEven => x.round_ties_even(),
                Unary::Rsqrt => $functions::rsqrt(x),
                // Zeros and NaN are their own sign.
                Unary::Sign => if x == 0.0 || x.is_nan() { x } else { $float::copysign(1.0, x) },
                Unary::Sine => $functions::sin(x),
                Unary::Sinh => $functions::sinh(x),
                Unary::Sqrt => x.sqrt(),
                Unary::Tan => $functions::tan(x),
                Unary::Tanh => $functions::tanh(x),
                Unary::IsFinite => unreachable!("is-finite gives a pred"),
                Unary::CountLeadingZeros | Unary::Not | Unary::Popcnt => {
                    unreachable!("the verifier lets no float into {op:?}")
                }
            }
        }
    };
}
real_unary!(
    /// An operation on one f32; `is-finite` is not among them.
    unary_f32, f32, single
);
real_unary!(
    /// An operation on one f64; `is-finite` is not among them.
    unary_f64, f64, double
);

/// An operation on one value of type `ty`.
#[inline]
pub(super) fn unary(op: Unary, ty: ElementType, x: f64) -> f64 {
    if ty == ElementType::F32 {
        f64::from(unary_f32(op, to_f32(x)))
    } else if ty == ElementType::F64 {
        unary_f64(op, x)
    } else {
        round_to(ty, unary_f64(op, x))
    }
}

/// An operation on two values of type `ty`; `complex` is not among them.
#[inline]
pub(super) fn binary(op: Binary, ty: ElementType, a: f64, b: f64) -> f64 {
    match op {
        Binary::Add => round_to(ty, a + b),
        Binary::Subtract => round_to(ty, a - b),
        Binary::Multiply => round_to(ty, a * b),
        Binary::Divide => round_to(ty, a / b),
        // C's fmod, which is exact: the remainder is always a value of the type. Even where the compiler calls a
        // library for it, there is only one right answer. Types without zero or NaN still need the rounding.
        Binary::Remainder => round_to(ty, a % b),
        Binary::Maximum => maximum(a, b),
        Binary::Minimum => minimum(a, b),
        Binary::Power => power(ty, a, b),
        Binary::Atan2 => atan2(ty, a, b),
        Binary::Complex => unreachable!("complex gives a complex number"),
        Binary::And
        | Binary::Mulhi
        | Binary::Or
        | Binary::ShiftLeft
        | Binary::ShiftRightArithmetic
        | Binary::ShiftRightLogical
        | Binary::Xor => unreachable!("the verifier lets no float into {op:?}"),
    }
}

/// IEEE 754-2019 maximum: NaN wins, and +0 is above -0. XLA:CPU does the same; XLA's evaluator takes either zero.
#[inline]
pub(crate) fn maximum(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() {
        a
    } else if a == b {
        if a.is_sign_positive() { a } else { b }
    } else {
        b
    }
}

/// IEEE 754-2019 minimum: NaN wins, and -0 is below +0.
#[inline]
pub(crate) fn minimum(a: f64, b: f64) -> f64 {
    if a < b || a.is_nan() {
        a
    } else if a == b {
        if a.is_sign_negative() { a } else { b }
    } else {
        b
    }
}

fn power(ty: ElementType, x: f64, y: f64) -> f64 {
    // These two hold for NaN as well, and CORE-MATH makes a difference between NaNs.
    if y == 0.0 || x == 1.0 {
        1.0
    } else if ty == ElementType::F32 {
        f64::from(core_math::powf(to_f32(x), to_f32(y)))
    } else {
        round_to(ty, core_math::pow(x, y))
    }
}

fn atan2(ty: ElementType, y: f64, x: f64) -> f64 {
    if ty == ElementType::F32 {
        return f64::from(core_math::atan2f(to_f32(y), to_f32(x)));
    }
    let angle = core_math::atan2(y, x);
    // Near zero the angle is the quotient less a part too small for f64, and the quotient of two bf16 can be exactly
    // halfway between two subnormal ones. The angle has to fall below it.
    let below_tie = ty != ElementType::F64 && angle != 0.0 && angle.abs() < pow2(-100);
    round_to(ty, if below_tie { angle - angle * pow2(-52) } else { angle })
}

/// Maps a float to an integer of the same place in the total order.
///
/// Sign and magnitude are turned into a signed number. In the types without -0 the bits of -0 are the NaN and come
/// first; `f8e8m0fnu` has no sign, and its NaN comes last.
pub(crate) fn total_order_key(ty: ElementType, x: Scalar) -> i64 {
    let bits = u64::try_from(x.to_bits(ty)).expect("a float has at most 64 bits");
    let sign = 1 << (ty.bits() - 1);
    let one_nan = matches!(
        ty,
        ElementType::F8E4M3B11Fnuz | ElementType::F8E5M2Fnuz | ElementType::F8E4M3Fnuz
    );
    if ty == ElementType::F8E8M0Fnu || bits & sign == 0 {
        bits.cast_signed()
    } else if one_nan && bits == sign {
        i64::MIN
    } else {
        !(bits ^ sign).cast_signed()
    }
}

/// `x`, of type `ty`, rounded to nearest even in a format of `e` exponent and `m` mantissa bits, without subnormal
/// numbers: past its range lie infinity and, of the same sign, zero.
///
/// A field that is no narrower than that of `ty` changes nothing. NaN stays NaN, also where no mantissa bit is left to
/// mark it (XLA's evaluator makes it infinite).
pub(super) fn reduce_precision(ty: ElementType, e: u32, m: u32, x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let (type_e, type_m, smallest_normal) = fields(ty);
    // Very small numbers are scaled up: the unit they are rounded to may have no reciprocal. Every power is exact.
    let up = if x.abs() < pow2(-900) { 100 } else { 0 };
    let mut y = x * pow2(up);
    if m < type_m {
        let m = i32::try_from(m).expect("less than 52");
        // The subnormal numbers of `ty` itself are rounded to the unit of its smallest normal ones.
        let unit = exponent(x).max(smallest_normal) - m + up;
        y = (y * pow2(-unit)).round_ties_even() * pow2(unit);
    }
    y *= pow2(-up);
    if e < type_e && y != 0.0 && y.is_finite() {
        let bias = (1 << (e - 1)) - 1;
        if exponent(y) > bias {
            y = f64::INFINITY.copysign(x);
        } else if exponent(y) <= -bias {
            y = 0.0_f64.copysign(x);
        }
    }
    round_to(ty, y)
}

/// See [`stochastic_convert`](super::stochastic_convert).
pub(super) fn stochastic_convert(from_bits: u32, to_bits: u32, x: f64, random: u64) -> i64 {
    let max = i64::MAX >> (64 - to_bits);
    if x.is_nan() {
        return 0;
    }
    // 2^(n-1) bounds both sides: reaching max is passing max - 1 by a whole, and the step below stops at max.
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
    let rounded = rounded.min(max);
    if x < 0.0 { -rounded } else { rounded }
}

/// Exponent bits, mantissa bits, and the exponent of the smallest normal number of a float type.
fn fields(ty: ElementType) -> (u32, u32, i32) {
    match ty {
        ElementType::F16 => (5, 10, -14),
        ElementType::Bf16 => (8, 7, -126),
        ElementType::F32 => (8, 23, -126),
        ElementType::F64 => (11, 52, -1022),
        ElementType::F8E5M2 => (5, 2, -14),
        ElementType::F8E4M3 | ElementType::F8E4M3Fn => (4, 3, -6),
        ElementType::F8E3M4 => (3, 4, -2),
        ElementType::F8E4M3B11Fnuz => (4, 3, -10),
        ElementType::F8E5M2Fnuz => (5, 2, -15),
        ElementType::F8E4M3Fnuz => (4, 3, -7),
        ElementType::F8E8M0Fnu => (8, 0, -127),
        ElementType::F6E3M2Fn => (3, 2, -2),
        ElementType::F6E2M3Fn => (2, 3, 0),
        ElementType::F4E2M1Fn => (2, 1, 0),
        ElementType::Pred
        | ElementType::S1
        | ElementType::S2
        | ElementType::S4
        | ElementType::S8
        | ElementType::S16
        | ElementType::S32
        | ElementType::S64
        | ElementType::U1
        | ElementType::U2
        | ElementType::U4
        | ElementType::U8
        | ElementType::U16
        | ElementType::U32
        | ElementType::U64
        | ElementType::C64
        | ElementType::C128 => unreachable!("{ty} is no float"),
    }
}

/// One rounding to a float type; the two common ones without the detour, which costs more than the arithmetic.
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
        other => unreachable!("rounding turned a float into {other:?}"),
    }
}
#[inline]
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "rounds to nearest")]
pub(super) fn to_f32(x: f64) -> f32 {
    x as f32
}
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "whole and in range")]
fn to_i64(x: f64) -> i64 {
    x as i64
}
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, below 2^64, and cut on purpose"
)]
fn to_u128(x: f64) -> u128 {
    x as u128
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num;
    use crate::num::{Direction, Order};

    const NARROW: [ElementType; 13] = [
        ElementType::F16,
        ElementType::Bf16,
        ElementType::F8E5M2,
        ElementType::F8E4M3,
        ElementType::F8E3M4,
        ElementType::F8E4M3Fn,
        ElementType::F8E4M3B11Fnuz,
        ElementType::F8E5M2Fnuz,
        ElementType::F8E4M3Fnuz,
        ElementType::F8E8M0Fnu,
        ElementType::F6E3M2Fn,
        ElementType::F6E2M3Fn,
        ElementType::F4E2M1Fn,
    ];
    const FUNCTIONS: [Unary; 19] = [
        Unary::Acos,
        Unary::Acosh,
        Unary::Asin,
        Unary::Asinh,
        Unary::Atanh,
        Unary::Cbrt,
        Unary::Cosine,
        Unary::Cosh,
        Unary::Erf,
        Unary::Exponential,
        Unary::ExponentialMinusOne,
        Unary::Log,
        Unary::LogPlusOne,
        Unary::Logistic,
        Unary::Rsqrt,
        Unary::Sine,
        Unary::Sinh,
        Unary::Tan,
        Unary::Tanh,
    ];
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    /// The same value, and the same sign of zero; all NaN are the same.
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
    fn rounding_to_whole_numbers() {
        check_unary(Unary::Ceil, &[(-0.5, -0.0), (1.25, 2.0), (INF, INF), (NAN, NAN)]);
        check_unary(Unary::Floor, &[(-0.5, -1.0), (1.25, 1.0), (-0.0, -0.0)]);
        check_unary(Unary::RoundNearestAfz, &[(-0.5, -1.0), (2.5, 3.0), (-0.25, -0.0)]);
        check_unary(Unary::RoundNearestEven, &[(-0.5, -0.0), (2.5, 2.0), (3.5, 4.0)]);
        assert_eq!(unary_f32(Unary::RoundNearestAfz, 0.5_f32.next_down()), 0.0);
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
    fn logistic_of_f32_looks_past_f64() {
        // Halfway cases in f64, which the third term of the series decides; and a result below the normal range.
        let cases = [
            (0x34c0_0000, 0x3f00_0001),
            (0x3566_0000, 0x3f00_0004),
            (0xb6ce_0000, 0x3eff_ffcd),
            (0xba92_8601, 0x3eff_db5f),
            ((-100.0_f32).to_bits(), 0x0000_001b),
        ];
        for (x, expected) in cases {
            let got = unary_f32(Unary::Logistic, f32::from_bits(x));
            assert_eq!(got.to_bits(), expected, "{x:08x}");
        }
    }

    #[test]
    fn a_second_rounding_of_functions_changes_no_narrow_value() {
        for ty in NARROW {
            for bits in 0..1_u128 << ty.bits() {
                let Scalar::Float(x) = Scalar::from_bits(ty, bits) else { panic!("a float") };
                for op in FUNCTIONS {
                    let y = unary_f64(op, x);
                    // If both neighbours in f64 round alike, or y is a value of the type, the true value does as y does.
                    let (below, above) = (round_to(ty, y.next_down()), round_to(ty, y.next_up()));
                    let between = below != above && !below.is_nan() && !above.is_nan();
                    let exact = round_to(ty, y) == y;
                    assert!(!between || exact, "{op:?} {ty} {x:e} gives {y:e}");
                }
            }
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
            num::compare(Direction::Lt, Order::TotalOrder, ty, a, b)
        };
        // The language does not tell the sign of its constant.
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
