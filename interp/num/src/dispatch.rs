//! Dispatch from an op and a class of element types to the function that defines it, generated from
//! the op table.
//!
//! A row names a function and the classes it exists for: `Tanh .. tanh [F C]` is `single::tanh` of
//! f32, `double::tanh` of the other floats and `Complex::tanh`. Functions of integers are in
//! `signed` and `unsigned`, those of `pred` in `pred`. A function takes its operands; before them,
//! optionally, the element type (for integers its number of bits).
use super::complex::{Complex, IntoScalar};
use super::float_functions::{double, single};
use super::{float, int, pred, signed, unsigned};
use hlo::op::{Binary, Unary};
use hlo::{ElementType, Scalar};
use std::fmt::{Debug, Display};

/// Expands to the first block if the class is in the list of a row; otherwise the op does not exist
/// for the class.
#[doc(hidden)]
#[macro_export]
macro_rules! if_class {
    ($class:ident [] $yes:block else $no:block) => { $no };
    (P [P $($rest:ident)*] $yes:block else $no:block) => { $yes };
    (S [S $($rest:ident)*] $yes:block else $no:block) => { $yes };
    (U [U $($rest:ident)*] $yes:block else $no:block) => { $yes };
    (F [F $($rest:ident)*] $yes:block else $no:block) => { $yes };
    (C [C $($rest:ident)*] $yes:block else $no:block) => { $yes };
    ($class:ident [$other:ident $($rest:ident)*] $yes:block else $no:block) => {
        if_class!($class [$($rest)*] $yes else $no)
    };
}
/// Expands to the function of floats if its result is a float of the same type.
#[doc(hidden)]
#[macro_export]
macro_rules! same_type {
    ([pred $($rest:tt)*] $function:expr) => {
        None
    };
    ([complex $($rest:tt)*] $function:expr) => {
        None
    };
    ($flags:tt $function:expr) => {
        Some($function)
    };
}

/// A function of one operand `X` that may take a `T` before it; `Arguments` distinguishes the two.
pub(super) trait Unary1<Arguments, T, X, R> {
    fn apply(self, ty: T, x: X) -> R;
}
impl<T, X, R, F: Fn(X) -> R> Unary1<(X,), T, X, R> for F {
    #[inline]
    fn apply(self, _: T, x: X) -> R {
        self(x)
    }
}
impl<T, X, R, F: Fn(T, X) -> R> Unary1<(T, X), T, X, R> for F {
    #[inline]
    fn apply(self, ty: T, x: X) -> R {
        self(ty, x)
    }
}

/// A function of two operands `X` that may take a `T` before them.
pub(super) trait Binary2<Arguments, T, X, R> {
    fn apply_both(self, ty: T, a: X, b: X) -> R;
}
impl<T, X, R, F: Fn(X, X) -> R> Binary2<(X, X), T, X, R> for F {
    #[inline]
    fn apply_both(self, _: T, a: X, b: X) -> R {
        self(a, b)
    }
}
impl<T, X, R, F: Fn(T, X, X) -> R> Binary2<(T, X, X), T, X, R> for F {
    #[inline]
    fn apply_both(self, ty: T, a: X, b: X) -> R {
        self(ty, a, b)
    }
}

/// Panics: the op does not exist for these operands.
#[cold]
#[inline]
pub fn undefined(op: &impl Debug, of: &impl Display) -> ! {
    unreachable!("the verifier rejects {op:?} of {of}")
}

macro_rules! define {
    (
        unary { $($un:ident $un_name:tt $un_fn:ident $un_class:tt $un_acc:tt $un_flags:tt;)* }
        binary { $($bin:ident $bin_name:tt $bin_fn:ident $bin_class:tt $bin_acc:tt $bin_flags:tt;)* }
        structured $structured:tt
        was $was:tt
    ) => {
        /// Returns the result of an operation of one operand, of type `ty`.
        ///
        /// `abs`, `real` and `imag` of a complex number have the component type, `is-finite` is a
        /// `pred`; all others have type `ty`.
        #[inline]
        pub fn unary(op: Unary, ty: ElementType, x: Scalar) -> Scalar {
            match x {
                Scalar::Pred(x) => Scalar::Pred(match op {
                    $(Unary::$un => if_class!(P $un_class { pred::$un_fn(x) } else { undefined(&op, &ty) }),)*
                }),
                Scalar::Signed(x) => int::wrapped_signed(ty, match op {
                    $(Unary::$un => if_class!(S $un_class { signed::$un_fn.apply(ty.bits(), x) } else { undefined(&op, &ty) }),)*
                }),
                Scalar::Unsigned(x) => int::wrapped_unsigned(ty, match op {
                    $(Unary::$un => if_class!(U $un_class { unsigned::$un_fn.apply(ty.bits(), x) } else { undefined(&op, &ty) }),)*
                }),
                Scalar::Float(x) => match op {
                    $(Unary::$un => if_class!(F $un_class { float::unary(ty, x, single::$un_fn, double::$un_fn) } else { undefined(&op, &ty) }),)*
                },
                Scalar::Complex(re, im) => match op {
                    $(Unary::$un => if_class!(C $un_class { Complex::$un_fn.apply(ty, Complex { re, im }).into_scalar(ty) } else { undefined(&op, &ty) }),)*
                },
            }
        }

        /// Returns the result of an operation of two operands, both of type `ty`.
        ///
        /// `complex` of two floats is a complex number; all others are of type `ty`.
        #[inline]
        pub fn binary(op: Binary, ty: ElementType, a: Scalar, b: Scalar) -> Scalar {
            match (a, b) {
                (Scalar::Pred(a), Scalar::Pred(b)) => Scalar::Pred(match op {
                    $(Binary::$bin => if_class!(P $bin_class { pred::$bin_fn(a, b) } else { undefined(&op, &ty) }),)*
                }),
                (Scalar::Signed(a), Scalar::Signed(b)) => int::wrapped_signed(ty, match op {
                    $(Binary::$bin => if_class!(S $bin_class { signed::$bin_fn.apply_both(ty.bits(), a, b) } else { undefined(&op, &ty) }),)*
                }),
                (Scalar::Unsigned(a), Scalar::Unsigned(b)) => int::wrapped_unsigned(ty, match op {
                    $(Binary::$bin => if_class!(U $bin_class { unsigned::$bin_fn.apply_both(ty.bits(), a, b) } else { undefined(&op, &ty) }),)*
                }),
                (Scalar::Float(a), Scalar::Float(b)) => match op {
                    $(Binary::$bin => if_class!(F $bin_class { float::binary(op, ty, (a, b), single::$bin_fn, double::$bin_fn) } else { undefined(&op, &ty) }),)*
                },
                (Scalar::Complex(a_re, a_im), Scalar::Complex(b_re, b_im)) => {
                    let (a, b) = (Complex { re: a_re, im: a_im }, Complex { re: b_re, im: b_im });
                    match op {
                        $(Binary::$bin => if_class!(C $bin_class { Complex::$bin_fn.apply_both(ty, a, b).into_scalar(ty) } else { undefined(&op, &ty) }),)*
                    }
                }
                _ => different_classes(a, b),
            }
        }

        /// Returns an operation on one `f32` as a plain function, for typed loops; its results have
        /// the same bits as those of [`unary`].
        ///
        /// None where the result is of another type or no float has the operation.
        #[inline]
        pub fn unary_f32(op: Unary) -> Option<fn(f32) -> f32> {
            match op {
                $(Unary::$un => if_class!(F $un_class { same_type!($un_flags single::$un_fn) } else { None }),)*
            }
        }
        /// As [`unary_f32`], of an `f64`.
        #[inline]
        pub fn unary_f64(op: Unary) -> Option<fn(f64) -> f64> {
            match op {
                $(Unary::$un => if_class!(F $un_class { same_type!($un_flags double::$un_fn) } else { None }),)*
            }
        }
        /// Returns an operation on two `f32` as a plain function, for typed loops; its results have
        /// the same bits as those of [`binary`].
        ///
        /// None where the result is of another type or no float has the operation.
        #[inline]
        pub fn binary_f32(op: Binary) -> Option<fn(f32, f32) -> f32> {
            match op {
                $(Binary::$bin => if_class!(F $bin_class { same_type!($bin_flags single::$bin_fn) } else { None }),)*
            }
        }
        /// As [`binary_f32`], of two `f64`.
        #[inline]
        pub fn binary_f64(op: Binary) -> Option<fn(f64, f64) -> f64> {
            match op {
                $(Binary::$bin => if_class!(F $bin_class { same_type!($bin_flags double::$bin_fn) } else { None }),)*
            }
        }
    };
}
hlo::for_each_op!(define);

#[cold]
fn different_classes(a: Scalar, b: Scalar) -> ! {
    unreachable!("the verifier rejects operands of different types: {a:?} and {b:?}")
}
