//! The loop of each op of the op table, for each type of the processor.
use super::approximate::loops as approximate_loops;
use super::narrow::{ScalarDefinition, narrow_type, rounded_bf16, through_f32, widened_bf16};
use super::native_types::with_type;
use super::vector::loops as single_loops;
use super::{Integer, Short, VectorLoop, both, each, pair};
use crate::Arithmetic;
use crate::dispatch::{Binary2, Unary1};
use crate::float_functions::{double, single};
use crate::if_class;
use crate::{pred, signed, unsigned};
use half::bf16;
use hlo::literal::Native;
use hlo::op::{Accuracy, Binary, Unary};
use hlo::{ElementType, Op};

/// Expands to the loop of a function of floats whose result is of the same type.
macro_rules! of_floats {
    ([pred $($rest:tt)*] $float:ident $function:path, $($x:ident)+) => {
        None
    };
    ([complex $($rest:tt)*] $float:ident $function:path, $($x:ident)+) => {
        None
    };
    ($flags:tt $float:ident $function:path, $x:ident) => {
        Some(each(|[$x]: [$float; 1]| $function($x)))
    };
    ($flags:tt $float:ident $function:path, $a:ident $b:ident) => {
        Some(pair(|[$a, $b]: [$float; 2]| $function($a, $b)))
    };
}

/// Makes the loop of bf16 by a function of f32.
macro_rules! of_bf16 {
    ([pred $($rest:tt)*] $function:path, $($x:ident)+) => {
        None
    };
    ([complex $($rest:tt)*] $function:path, $($x:ident)+) => {
        None
    };
    ($flags:tt $function:path, $x:ident) => {
        Some(each(|[$x]: [bf16; 1]| rounded_bf16($function(widened_bf16($x)))))
    };
    ($flags:tt $function:path, $a:ident $b:ident) => {
        Some(pair(|[$a, $b]: [bf16; 2]| {
            rounded_bf16($function(widened_bf16($a), widened_bf16($b)))
        }))
    };
}

macro_rules! define {
    (
        unary { $($un:ident $un_name:tt $un_fn:ident $un_class:tt $un_acc:tt $un_flags:tt;)* }
        binary { $($bin:ident $bin_name:tt $bin_fn:ident $bin_class:tt $bin_acc:tt $bin_flags:tt;)* }
        structured $structured:tt
        was $was:tt
    ) => {
        /// Loops of the functions of f32, under the names of the op table, one element at a time.
        #[expect(dead_code, reason = "those with a formula in `vector` have another loop")]
        pub(super) mod plain {
            use super::{VectorLoop, each, if_class, pair, single};
            $(pub(in crate::loops) fn $un_fn() -> Option<VectorLoop> {
                if_class!(F $un_class { of_floats!($un_flags f32 single::$un_fn, x) } else { None })
            })*
            $(pub(in crate::loops) fn $bin_fn() -> Option<VectorLoop> {
                if_class!(F $bin_class { of_floats!($bin_flags f32 single::$bin_fn, a b) } else { None })
            })*
        }
        /// No loops, under the names of the op table.
        #[expect(dead_code, reason = "those with a formula in `approximate` have a loop")]
        pub(super) mod none {
            use super::VectorLoop;
            $(pub(in crate::loops) fn $un_fn() -> Option<VectorLoop> {
                None
            })*
        }
        fn single_unary(op: Unary) -> Option<VectorLoop> {
            match op { $(Unary::$un => single_loops::$un_fn(),)* }
        }
        fn approximate_unary(op: Unary) -> Option<VectorLoop> {
            match op { $(Unary::$un => approximate_loops::$un_fn(),)* }
        }
        fn single_binary(op: Binary) -> Option<VectorLoop> {
            match op { $(Binary::$bin => single_loops::$bin_fn(),)* }
        }
        fn double_unary(op: Unary) -> Option<VectorLoop> {
            match op {
                $(Unary::$un => if_class!(F $un_class { of_floats!($un_flags f64 double::$un_fn, x) } else { None }),)*
            }
        }
        fn double_binary(op: Binary) -> Option<VectorLoop> {
            match op {
                $(Binary::$bin => if_class!(F $bin_class { of_floats!($bin_flags f64 double::$bin_fn, a b) } else { None }),)*
            }
        }
        fn bf16_unary(op: Unary) -> Option<VectorLoop> {
            match op {
                $(Unary::$un => if_class!(F $un_class { of_bf16!($un_flags single::$un_fn, x) } else { None }),)*
            }
        }
        fn bf16_binary(op: Binary) -> Option<VectorLoop> {
            match op {
                $(Binary::$bin => if_class!(F $bin_class { of_bf16!($bin_flags single::$bin_fn, a b) } else { None }),)*
            }
        }
        fn signed_unary<T: Integer<Wide = i64>>(op: Unary) -> Option<VectorLoop> {
            match op {
                $(Unary::$un => if_class!(S $un_class {
                    Some(each(|[x]: [T; 1]| T::narrow(signed::$un_fn.apply(T::BITS, x.widen()))))
                } else { None }),)*
            }
        }
        fn signed_binary<T: Integer<Wide = i64>>(op: Binary) -> Option<VectorLoop> {
            match op {
                $(Binary::$bin => if_class!(S $bin_class {
                    Some(both(|[a, b]: [T; 2]| T::narrow(signed::$bin_fn.apply_both(T::BITS, a.widen(), b.widen()))))
                } else { None }),)*
            }
        }
        fn unsigned_unary<T: Integer<Wide = u64>>(op: Unary) -> Option<VectorLoop> {
            match op {
                $(Unary::$un => if_class!(U $un_class {
                    Some(each(|[x]: [T; 1]| T::narrow(unsigned::$un_fn.apply(T::BITS, x.widen()))))
                } else { None }),)*
            }
        }
        fn unsigned_binary<T: Integer<Wide = u64>>(op: Binary) -> Option<VectorLoop> {
            match op {
                $(Binary::$bin => if_class!(U $bin_class {
                    Some(both(|[a, b]: [T; 2]| T::narrow(unsigned::$bin_fn.apply_both(T::BITS, a.widen(), b.widen()))))
                } else { None }),)*
            }
        }
        fn pred_unary(op: Unary) -> Option<VectorLoop> {
            match op {
                $(Unary::$un => if_class!(P $un_class {
                    Some(each(|[x]: [u8; 1]| u8::from(pred::$un_fn(x != 0))))
                } else { None }),)*
            }
        }
        fn pred_binary(op: Binary) -> Option<VectorLoop> {
            match op {
                $(Binary::$bin => if_class!(P $bin_class {
                    Some(both(|[a, b]: [u8; 2]| u8::from(pred::$bin_fn(a != 0, b != 0))))
                } else { None }),)*
            }
        }
    };
}
hlo::for_each_op!(define);

/// Returns the loop of an op on a type of the processor, bf16 or f16, if its result has the same
/// type.
#[inline]
pub fn unary_loop(op: Unary, ty: ElementType, arithmetic: Arithmetic) -> Option<VectorLoop> {
    match arithmetic {
        Arithmetic::Exact => exact_unary(op, ty),
        Arithmetic::Fast => fast_unary(op, ty).or_else(|| exact_unary(op, ty)),
    }
}
/// Returns whether the loop of an op approximates a function.
#[inline]
pub fn is_approximate(op: Unary, ty: ElementType, arithmetic: Arithmetic) -> bool {
    match arithmetic {
        Arithmetic::Exact => false,
        Arithmetic::Fast => fast_unary(op, ty).is_some(),
    }
}
/// Returns the loop of a function that f32 approximates within the accuracy of the op. Rounding the
/// result once more does not matter then.
pub(super) fn fast_unary(op: Unary, ty: ElementType) -> Option<VectorLoop> {
    let single = approximate_unary(op)?;
    if ty == ElementType::F32 {
        return Some(single);
    }
    narrow_type!(ty, T => return Some(through_f32::<1, T>(single, None)));
    None
}
fn exact_unary(op: Unary, ty: ElementType) -> Option<VectorLoop> {
    with_type!(ty, T => return signed_unary::<T>(op), [i8, i16, i32, i64]);
    with_type!(ty, T => return unsigned_unary::<T>(op), [u8, u16, u32, u64]);
    with_type!(ty, _T => return single_unary(op), [f32]);
    with_type!(ty, _T => return double_unary(op), [f64]);
    // One loop, in registers. Where f32 may round too early, elements are rounded one by one.
    if ty == ElementType::Bf16 && !rounds_twice(&Op::Unary(op)) {
        return bf16_unary(op);
    }
    narrow_type!(ty, T => {
        let definition: ScalarDefinition<1> = Box::new(move |[x]| crate::unary(op, T::TYPE, x));
        return Some(through_f32::<1, T>(single_unary(op)?, Some(definition).filter(|_| rounds_twice(&Op::Unary(op)))));
    });
    if ty == ElementType::Pred { pred_unary(op) } else { None }
}
/// As [`unary_loop`], for an op of two operands.
pub fn binary_loop(op: Binary, ty: ElementType) -> Option<VectorLoop> {
    with_type!(ty, T => return signed_binary::<T>(op), [i8, i16, i32, i64]);
    with_type!(ty, T => return unsigned_binary::<T>(op), [u8, u16, u32, u64]);
    with_type!(ty, _T => return Some(VectorLoop { short: Short::of(op), ..single_binary(op)? }), [f32]);
    with_type!(ty, _T => return double_binary(op), [f64]);
    if ty == ElementType::Bf16 && !rounds_twice(&Op::Binary(op)) {
        return bf16_binary(op);
    }
    narrow_type!(ty, T => {
        let definition: ScalarDefinition<2> = Box::new(move |[a, b]| crate::binary(op, T::TYPE, a, b));
        return Some(through_f32::<2, T>(single_binary(op)?, Some(definition).filter(|_| rounds_twice(&Op::Binary(op)))));
    });
    if ty == ElementType::Pred { pred_binary(op) } else { None }
}

/// Returns whether rounding the result of an op to f32 and then to a narrower type may differ from
/// rounding once: for functions. Of sums, products and quotients f32 has enough bits.
fn rounds_twice(op: &Op) -> bool {
    op.opcode().accuracy() != Accuracy::Exact
}
