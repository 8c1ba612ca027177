//! Functions that the code calls, with the calling convention of C.
use hlo::op::{Binary, Unary};
use hlo::{ElementType, Scalar};
use num::float_functions::{double, single};
use num::{if_class, same_type};

pub(super) type Unary32 = extern "C" fn(f32) -> f32;
pub(super) type Unary64 = extern "C" fn(f64) -> f64;
pub(super) type Binary32 = extern "C" fn(f32, f32) -> f32;
pub(super) type Binary64 = extern "C" fn(f64, f64) -> f64;

/// Expands to a function of C's calling convention.
macro_rules! function {
    ($float:ident, $ty:ty, $function:path, $($x:ident)+) => {{
        extern "C" fn function($($x: $float),+) -> $float {
            $function($($x),+)
        }
        let function: $ty = function;
        function
    }};
}

macro_rules! define {
    (
        unary { $($un:ident $un_name:tt $un_fn:ident $un_class:tt $un_acc:tt $un_flags:tt;)* }
        binary { $($bin:ident $bin_name:tt $bin_fn:ident $bin_class:tt $bin_acc:tt $bin_flags:tt;)* }
        structured $structured:tt
        was $was:tt
    ) => {
        /// Returns the function of an f32, if its result is an f32.
        pub(super) fn unary_f32(op: Unary) -> Option<Unary32> {
            match op {
                $(Unary::$un => if_class!(F $un_class {
                    same_type!($un_flags function!(f32, Unary32, single::$un_fn, x))
                } else { None }),)*
            }
        }
        /// Returns the function of an f64, if its result is an f64.
        pub(super) fn unary_f64(op: Unary) -> Option<Unary64> {
            match op {
                $(Unary::$un => if_class!(F $un_class {
                    same_type!($un_flags function!(f64, Unary64, double::$un_fn, x))
                } else { None }),)*
            }
        }
        /// Returns the function of two f32, if its result is an f32.
        pub(super) fn binary_f32(op: Binary) -> Option<Binary32> {
            match op {
                $(Binary::$bin => if_class!(F $bin_class {
                    same_type!($bin_flags function!(f32, Binary32, single::$bin_fn, a b))
                } else { None }),)*
            }
        }
        /// Returns the function of two f64, if its result is an f64.
        pub(super) fn binary_f64(op: Binary) -> Option<Binary64> {
            match op {
                $(Binary::$bin => if_class!(F $bin_class {
                    same_type!($bin_flags function!(f64, Binary64, double::$bin_fn, a b))
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
