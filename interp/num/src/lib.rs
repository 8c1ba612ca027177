//! Arithmetic on single elements: the definition of every elementwise operation; and what every
//! loop over elements needs.
//!
//! A value is a [`Scalar`], an element in wide form; a result is rounded or wrapped to its type.
//! XLA defines the operation and its edge cases; the accuracy is:
//!
//! - integers wrap at their own width (`int`);
//! - real results are correctly rounded, the same on every machine (`float`);
//! - complex results have bounds, stated where they are computed (`complex`).
//!
//! XLA's double roundings, flushed denormals and polynomial approximations are not reproduced.
//!
//! The verifier rejects all other combinations of operation and type; here they panic.
//!
//! | what | modules |
//! |---|---|
//! | arithmetic of elements | this one, [`float`], [`int`], [`complex_of`], [`accumulator`], [`double_double`], [`random`] |
//! | loops over elements in types of the processor | [`loops`], [`prefix_sum`], [`fourier`] |
//! | computations of scalars, and when programs become machine code | [`scalar_program`], [`tier_up`] |
//! | the run that a loop is part of | [`scope`], [`clock`], [`parallel`], [`error`] |
//! | arrays and their indices | [`array`](mod@array), [`index`] |
#![warn(clippy::wildcard_enum_match_arm)]
pub mod accumulator;
pub mod angle;
mod arithmetic;
pub mod array;
pub mod clock;
mod complex;
mod complex_area;
mod complex_exp;
pub mod complex_of;
mod complex_power;
mod complex_root;
pub mod dispatch;
pub mod double_double;
mod double_double_functions;
pub mod error;
pub mod exact;
pub mod float;
pub mod float_functions;
pub mod fourier;
pub mod index;
pub mod int;
mod logistic;
pub mod loops;
pub mod parallel;
mod pred;
pub mod prefix_sum;
pub mod random;
pub mod scalar_program;
mod scaled;
pub mod scope;
mod signed;
pub mod single;
pub mod tier_up;
pub mod twiddle;
mod unsigned;

use complex::Complex;
use hlo::op::Binary;
use hlo::{ElementType, Scalar};
use std::cmp::Ordering;

pub use arithmetic::Arithmetic;
pub use clock::is_run_over;
pub use error::{Code, Error, Result, over_memory_limit};
pub use scope::Scope;

pub use dispatch::{binary, binary_f32, binary_f64, unary, unary_f32, unary_f64};
pub use hlo::op::value::{ComparisonType as Order, Direction};

/// Returns whether this relation holds for `a` and `b`, of type `ty`.
///
/// Complex numbers compare by the real part, then the imaginary part. XLA's evaluator does not
/// order them, and XLA:CPU orders them this way.
#[inline]
pub fn compare(direction: Direction, order: Order, ty: ElementType, a: Scalar, b: Scalar) -> bool {
    let ordering = match (order, a, b) {
        (Order::Signed, Scalar::Signed(a), Scalar::Signed(b)) => Some(a.cmp(&b)),
        (Order::Unsigned, Scalar::Unsigned(a), Scalar::Unsigned(b)) => Some(a.cmp(&b)),
        (Order::Unsigned, Scalar::Pred(a), Scalar::Pred(b)) => Some(a.cmp(&b)),
        (Order::Float, Scalar::Float(a), Scalar::Float(b)) => a.partial_cmp(&b),
        (Order::Float, Scalar::Complex(a_re, a_im), Scalar::Complex(b_re, b_im)) => {
            let (a, b) = (Complex { re: a_re, im: a_im }, Complex { re: b_re, im: b_im });
            complex::compare(a, b)
        }
        (Order::TotalOrder, Scalar::Float(_), Scalar::Float(_)) => {
            Some(float::total_order_key(ty, a).cmp(&float::total_order_key(ty, b)))
        }
        (Order::Float | Order::TotalOrder | Order::Signed | Order::Unsigned, _, _) => {
            unreachable!("the verifier rejects a {order:?} comparison of {a:?} and {b:?}")
        }
    };
    match direction {
        Direction::Eq => ordering == Some(Ordering::Equal),
        Direction::Ne => ordering != Some(Ordering::Equal),
        Direction::Ge => ordering.is_some_and(Ordering::is_ge),
        Direction::Gt => ordering == Some(Ordering::Greater),
        Direction::Le => ordering.is_some_and(Ordering::is_le),
        Direction::Lt => ordering == Some(Ordering::Less),
    }
}

/// Returns `x` between bounds: `minimum(hi, maximum(x, lo))`, so the result is `hi` where the
/// bounds cross, and NaN if any of the three is NaN.
#[inline]
pub fn clamp(ty: ElementType, lo: Scalar, x: Scalar, hi: Scalar) -> Scalar {
    binary(Binary::Minimum, ty, hi, binary(Binary::Maximum, ty, x, lo))
}

/// Returns `x`, of the float type `ty`, rounded to a format with these numbers of exponent and
/// mantissa bits; it stays of type `ty`.
pub fn reduce_precision(
    ty: ElementType,
    exponent_bits: u32,
    mantissa_bits: u32,
    x: Scalar,
) -> Scalar {
    match x {
        Scalar::Float(x) => {
            Scalar::Float(float::reduce_precision(ty, exponent_bits, mantissa_bits, x))
        }
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Complex(..) => {
            unreachable!("the verifier rejects reduce-precision of {x:?}")
        }
    }
}

/// Returns `x`, of the float type `from`, rounded up or down to a signed integer of type `to`: away
/// from zero if `random`, read as a fraction of 2^bits, is below the fractional part of `x`.
///
/// `None` if `to` is not a signed integer: XLA does not define that.
pub fn stochastic_convert(
    from: ElementType,
    to: ElementType,
    x: Scalar,
    random: Scalar,
) -> Option<Scalar> {
    match (x, random, to.class()) {
        (Scalar::Float(x), Scalar::Unsigned(random), hlo::Class::Signed) => {
            Some(Scalar::Signed(float::stochastic_convert(from.bits(), to.bits(), x, random)))
        }
        (Scalar::Float(_), Scalar::Unsigned(_), _) => None,
        _ => unreachable!("the verifier rejects stochastic-convert of {x:?} and {random:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo::op::Unary;

    fn float(x: f64) -> Scalar {
        Scalar::Float(x)
    }

    #[test]
    fn float_comparison_leaves_nan_out() {
        use Direction::{Eq, Ge, Gt, Le, Lt, Ne};
        let test = |direction, a, b| {
            compare(direction, Order::Float, ElementType::F32, float(a), float(b))
        };
        for direction in [Eq, Ge, Gt, Le, Lt] {
            assert!(!test(direction, f64::NAN, 1.0));
            assert!(!test(direction, f64::NAN, f64::NAN));
        }
        assert!(test(Ne, f64::NAN, f64::NAN));
        assert!(test(Eq, -0.0, 0.0) && test(Ge, -0.0, 0.0) && !test(Lt, -0.0, 0.0));
        assert!(test(Gt, 2.0, 1.0) && test(Le, 1.0, 2.0) && !test(Ne, 1.0, 1.0));
    }

    #[test]
    fn integers_and_preds_compare_by_value() {
        let s8 = |x| Scalar::Signed(x);
        assert!(compare(Direction::Lt, Order::Signed, ElementType::S8, s8(-1), s8(1)));
        let u8 = |x| Scalar::Unsigned(x);
        assert!(compare(Direction::Gt, Order::Unsigned, ElementType::U8, u8(255), u8(1)));
        let pred = |x| Scalar::Pred(x);
        let ty = ElementType::Pred;
        assert!(compare(Direction::Lt, Order::Unsigned, ty, pred(false), pred(true)));
    }

    #[test]
    fn clamp_takes_the_upper_bound_last() {
        let ty = ElementType::S32;
        let clamp_s32 =
            |lo, x, hi| clamp(ty, Scalar::Signed(lo), Scalar::Signed(x), Scalar::Signed(hi));
        assert_eq!(clamp_s32(0, -3, 5), Scalar::Signed(0));
        assert_eq!(clamp_s32(0, 9, 5), Scalar::Signed(5));
        assert_eq!(clamp_s32(5, 3, 0), Scalar::Signed(0));
        let nan = f64::NAN;
        for (lo, x, hi) in [(nan, 1.0, 2.0), (0.0, nan, 2.0), (0.0, 1.0, nan)] {
            let Scalar::Float(result) = clamp(ElementType::F32, float(lo), float(x), float(hi))
            else {
                panic!("a float")
            };
            assert!(result.is_nan());
        }
    }

    #[test]
    fn results_of_another_type() {
        let ty = ElementType::F32;
        assert_eq!(unary(Unary::IsFinite, ty, float(f64::INFINITY)), Scalar::Pred(false));
        assert_eq!(unary(Unary::IsFinite, ty, float(1.0)), Scalar::Pred(true));
        assert_eq!(
            binary(Binary::Complex, ty, float(1.0), float(-0.0)),
            Scalar::Complex(1.0, -0.0)
        );
        assert_eq!(unary(Unary::Imag, ty, float(3.0)), float(0.0));
        let z = Scalar::Complex(3.0, -4.0);
        assert_eq!(unary(Unary::Abs, ElementType::C64, z), float(5.0));
        assert_eq!(unary(Unary::Imag, ElementType::C64, z), float(-4.0));
        assert_eq!(unary(Unary::Real, ty, float(3.0)), float(3.0));
    }

    #[test]
    fn stochastic_conversion() {
        let convert = |x: f64, random: u64| {
            let (x, random) = (float(x), Scalar::Unsigned(random));
            stochastic_convert(ElementType::F32, ElementType::S8, x, random)
        };
        let x = [1.5, 1.5, -1.5, f64::from(127.9_f32), 200.0, f64::NAN, f64::NEG_INFINITY];
        let random = [0, 1 << 31, 0, 0, 0, 0, 0];
        let expected = [2, 1, -2, 127, 127, 0, -128];
        for ((x, random), expected) in x.into_iter().zip(random).zip(expected) {
            assert_eq!(convert(x, random), Some(Scalar::Signed(expected)), "{x}");
        }
        let to_unsigned =
            stochastic_convert(ElementType::F32, ElementType::U8, float(1.0), Scalar::Unsigned(0));
        assert_eq!(to_unsigned, None);
    }
}
