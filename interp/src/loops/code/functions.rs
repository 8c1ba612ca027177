//! Functions that the code calls, with the calling convention of C.
#![expect(clippy::as_conversions, reason = "functions have addresses")]
use super::address::number as number_of;
use hlo::op::{Binary, Unary};
use hlo::{ElementType, Scalar};
use num::float_functions::{double, single};
use num::{if_class, same_type};

/// Expands to the address of a function with C's calling convention.
macro_rules! address_of {
    ($float:ident, $function:path, $($x:ident)+) => {{
        extern "C" fn function($($x: $float),+) -> $float {
            $function($($x),+)
        }
        number_of((function as *const ()).expose_provenance())
    }};
}

macro_rules! define {
    (
        unary { $($un:ident $un_name:tt $un_fn:ident $un_class:tt $un_acc:tt $un_flags:tt;)* }
        binary { $($bin:ident $bin_name:tt $bin_fn:ident $bin_class:tt $bin_acc:tt $bin_flags:tt;)* }
        structured $structured:tt
        was $was:tt
    ) => {
        /// Returns the address of the function of an f32 or of an f64, if its result is one too.
        pub(super) fn unary(op: Unary, is_single: bool) -> Option<i64> {
            match op {
                $(Unary::$un => if_class!(F $un_class {
                    same_type!($un_flags if is_single {
                        address_of!(f32, single::$un_fn, x)
                    } else {
                        address_of!(f64, double::$un_fn, x)
                    })
                } else { None }),)*
            }
        }
        /// Returns the address of the function of two f32 or of two f64, if its result is one too.
        pub(super) fn binary(op: Binary, is_single: bool) -> Option<i64> {
            match op {
                $(Binary::$bin => if_class!(F $bin_class {
                    same_type!($bin_flags if is_single {
                        address_of!(f32, single::$bin_fn, a b)
                    } else {
                        address_of!(f64, double::$bin_fn, a b)
                    })
                } else { None }),)*
            }
        }
    };
}
hlo::for_each_op!(define);

/// Rounds to the float type of this number.
pub(super) extern "C" fn round_to(number: u64, x: f64) -> f64 {
    float(Scalar::Float(x).round_to(numbered(number)))
}

/// Returns the float with these bits, of the type of this number.
pub(super) extern "C" fn widened(number: u64, bits: u64) -> f64 {
    float(Scalar::from_bits(numbered(number), bits.into()))
}

/// Returns the bits of a float in the type of this number.
pub(super) extern "C" fn narrowed(number: u64, x: f64) -> u64 {
    u64::try_from(Scalar::Float(x).to_bits(numbered(number))).unwrap_or_default()
}

fn float(x: Scalar) -> f64 {
    match x {
        Scalar::Float(x) => x,
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Complex(..) => f64::NAN,
    }
}

fn numbered(number: u64) -> ElementType {
    let ty = usize::try_from(number).ok().and_then(|number| ElementType::ALL.get(number));
    ty.copied().unwrap_or(ElementType::F64)
}

/// Returns the number of a type.
pub(super) fn number(ty: ElementType) -> i64 {
    let number = ElementType::ALL.iter().position(|&other| other == ty);
    number.and_then(|number| i64::try_from(number).ok()).expect("there are few element types")
}
