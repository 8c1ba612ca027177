//! The loop of each op of the op table, for each type of the processor.
use super::approximate::loops as approximate_loops;
use super::byte::{self, table_loop};
use super::complex::ComplexElement;
use super::division::division_loop;
use super::magnitude::magnitude_loop;
use super::narrow::{
    Narrow, ScalarDefinition, bytes_through_f32, extreme_loop, narrow_type, sign_loop, through_f32,
};
use super::native_types::with_type;
use super::power::{f32_exponents, f64_exponents, power_loop};
use super::shift::shift_loop;
use super::vector::{complex as formulas, loops as single_loops};
use super::{Integer, Short, VectorLoop, Word, both, each, pair};
use crate::Arithmetic;
use crate::complex::Complex;
use crate::dispatch::{Binary2, Unary1};
use crate::float::before_rounding;
use crate::float_functions::{double, single};
use crate::if_class;
use crate::{pred, signed, unsigned};
use hlo::literal::Native;
use hlo::op::{Accuracy, Binary, Unary};
use hlo::{ElementType, Op};
use std::convert::identity;

/// Expands to the loop of a function of floats, given in a type `$wide` to which `$widen` converts
/// and from which `$round` converts.
macro_rules! of_floats {
    ([pred $($rest:tt)*] $float:ident $widen:path, $round:path, $function:path, $x:ident) => {
        Some(each(|[$x]: [$float; 1]| u8::from($function($widen($x)))))
    };
    ([complex $($rest:tt)*] $float:ident $widen:path, $round:path, $function:path, $a:ident $b:ident) => {
        Some(pair(|[$a, $b]: [$float; 2]| [$a, $b]))
    };
    ($flags:tt $float:ident $widen:path, $round:path, $function:path, $x:ident) => {
        Some(each(|[$x]: [$float; 1]| $round($function($widen($x)))))
    };
    ($flags:tt $float:ident $widen:path, $round:path, $function:path, $a:ident $b:ident) => {
        Some(pair(|[$a, $b]: [$float; 2]| $round($function($widen($a), $widen($b)))))
    };
}

/// Expands to the loop of a function of complex numbers.
macro_rules! of_complex {
    ([component $($rest:tt)*] $number:ident $function:path) => {
        Some(each(|[z]: [$number; 1]| $number::part($function.apply($number::TYPE, z.wide()))))
    };
    ($flags:tt $number:ident $function:path) => {
        Some(each(|[z]: [$number; 1]| $number::of($function.apply($number::TYPE, z.wide()))))
    };
}

/// Expands to the loop of a function of two floats of a byte.
macro_rules! of_byte {
    ([complex $($rest:tt)*] $decoded:ident $round:ident $function:path) => {
        None
    };
    ($flags:tt $decoded:ident $round:ident $function:path) => {
        Some(pair(move |[a, b]: [u8; 2]| {
            $round($function($decoded[usize::from(a)], $decoded[usize::from(b)]))
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
            use super::{VectorLoop, each, identity, if_class, pair, single};
            $(pub(in crate::loops) fn $un_fn() -> Option<VectorLoop> {
                if_class!(F $un_class { of_floats!($un_flags f32 identity, identity, single::$un_fn, x) } else { None })
            })*
            $(pub(in crate::loops) fn $bin_fn() -> Option<VectorLoop> {
                if_class!(F $bin_class { of_floats!($bin_flags f32 identity, identity, single::$bin_fn, a b) } else { None })
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
                $(Unary::$un => if_class!(F $un_class { of_floats!($un_flags f64 identity, identity, double::$un_fn, x) } else { None }),)*
            }
        }
        fn double_binary(op: Binary) -> Option<VectorLoop> {
            match op {
                $(Binary::$bin => if_class!(F $bin_class { of_floats!($bin_flags f64 identity, identity, double::$bin_fn, a b) } else { None }),)*
            }
        }
        fn narrow_unary<T: Narrow>(op: Unary) -> Option<VectorLoop> {
            match op {
                $(Unary::$un => if_class!(F $un_class { of_floats!($un_flags T T::wide, T::rounded, single::$un_fn, x) } else { None }),)*
            }
        }
        fn narrow_binary<T: Narrow>(op: Binary) -> Option<VectorLoop> {
            match op {
                $(Binary::$bin => if_class!(F $bin_class { of_floats!($bin_flags T T::wide, T::rounded, single::$bin_fn, a b) } else { None }),)*
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
        fn complex_unary<Z: ComplexElement>(op: Unary) -> Option<VectorLoop> {
            match op {
                $(Unary::$un => if_class!(C $un_class { of_complex!($un_flags Z Complex::$un_fn) } else { None }),)*
            }
        }
        fn complex_binary<Z: ComplexElement>(op: Binary) -> Option<VectorLoop> {
            match op {
                $(Binary::$bin => if_class!(C $bin_class {
                    Some(pair(|[a, b]: [Z; 2]| Z::of(Complex::$bin_fn.apply_both(Z::TYPE, a.wide(), b.wide()))))
                } else { None }),)*
            }
        }
        fn byte_binary(op: Binary, ty: ElementType) -> Option<VectorLoop> {
            let (decoded, format) = (byte::decoded(ty), ty.float_format()?);
            let round = move |x| byte::low_byte(format.encode(before_rounding(op, ty, x)));
            match op {
                $(Binary::$bin => if_class!(F $bin_class { of_byte!($bin_flags decoded round double::$bin_fn) } else { None }),)*
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

/// Returns the loop of an op; `None` if it does not exist for the type.
#[inline]
pub fn unary_loop(op: Unary, ty: ElementType, arithmetic: Arithmetic) -> Option<VectorLoop> {
    match arithmetic {
        Arithmetic::Exact => exact_unary(op, ty),
        Arithmetic::Fast => fast_unary(op, ty).or_else(|| exact_unary(op, ty)),
    }
}
/// Returns whether the loop of an op on operands of a type differs from its definition.
#[inline]
pub fn is_approximate(op: &Op, ty: ElementType, arithmetic: Arithmetic) -> bool {
    arithmetic == Arithmetic::Fast
        && (matches!(op, Op::Unary(op) if fast_unary(*op, ty).is_some())
            || matches!(op, Op::Binary(op) if formulas::fast_binary(*op, ty).is_some()))
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
    if !op.types().contains(ty) {
        return None;
    }
    with_type!(ty, T => return signed_unary::<T>(op), [i8, i16, i32, i64]);
    with_type!(ty, T => return unsigned_unary::<T>(op), [u8, u16, u32, u64]);
    with_type!(ty, _T => return single_unary(op), [f32]);
    with_type!(ty, _T => return double_unary(op), [f64]);
    narrow_type!(ty, T => {
        // One loop, in registers. Where f32 may round too early, elements are rounded one by one.
        if !rounds_twice(&Op::Unary(op)) {
            return sign_loop::<T>(op).or_else(|| narrow_unary::<T>(op));
        }
        let definition: ScalarDefinition<1> = Box::new(move |[x]| crate::unary(op, T::TYPE, x));
        return Some(through_f32::<1, T>(single_unary(op)?, Some(definition)));
    });
    with_type!(ty, Z => {
        let magnitude = || (op == Unary::Abs).then(magnitude_loop);
        return formulas::unary(op).or_else(magnitude).or_else(|| complex_unary::<Z>(op));
    }, [[f32; 2]]);
    with_type!(ty, Z => return complex_unary::<Z>(op), [[f64; 2]]);
    if ty == ElementType::Pred {
        return pred_unary(op);
    }
    let to = if op == Unary::IsFinite { ElementType::Pred } else { ty };
    Some(table_loop(ty, to, move |x| crate::unary(op, ty, x)))
}
/// As [`unary_loop`], for an op of two operands.
#[inline]
pub fn binary_loop(op: Binary, ty: ElementType, arithmetic: Arithmetic) -> Option<VectorLoop> {
    match arithmetic {
        Arithmetic::Exact => exact_binary(op, ty),
        Arithmetic::Fast => formulas::fast_binary(op, ty).or_else(|| exact_binary(op, ty)),
    }
}
pub(super) fn exact_binary(op: Binary, ty: ElementType) -> Option<VectorLoop> {
    let has_parts = ty == ElementType::F32 || ty == ElementType::F64;
    if !op.types().contains(ty) || (op == Binary::Complex && !has_parts) {
        return None;
    }
    if let Some(function) = division_loop(op, ty).or_else(|| shift_loop(op, ty)) {
        return Some(function);
    }
    if op == Binary::Power {
        with_type!(ty, F => return Some(power_loop::<F>(single_binary(op)?, f32_exponents())), [f32]);
        with_type!(ty, F => return Some(power_loop::<F>(double_binary(op)?, f64_exponents())), [f64]);
    }
    with_type!(ty, T => return signed_binary::<T>(op), [i8, i16, i32, i64]);
    with_type!(ty, T => return unsigned_binary::<T>(op), [u8, u16, u64]);
    with_type!(ty, T => return Some(VectorLoop { word: Word::of(op), ..unsigned_binary::<T>(op)? }), [u32]);
    with_type!(ty, _T => return Some(VectorLoop { short: Short::of(op), ..single_binary(op)? }), [f32]);
    with_type!(ty, _T => return double_binary(op), [f64]);
    narrow_type!(ty, T => {
        if !rounds_twice(&Op::Binary(op)) {
            return extreme_loop::<T>(op).or_else(|| narrow_binary::<T>(op));
        }
        let definition: ScalarDefinition<2> = Box::new(move |[a, b]| crate::binary(op, T::TYPE, a, b));
        return Some(through_f32::<2, T>(exact_binary(op, ElementType::F32)?, Some(definition)));
    });
    let by_parts = |wide| match [Binary::Add, Binary::Subtract].contains(&op) {
        true => Some(by_parts(wide, exact_binary(op, ty.component())?)),
        false => Some(wide),
    };
    with_type!(ty, Z => {
        return formulas::binary(op).or_else(|| complex_binary::<Z>(op).and_then(by_parts));
    }, [[f32; 2]]);
    with_type!(ty, Z => {
        return formulas::long_binary(op).or_else(|| complex_binary::<Z>(op).and_then(by_parts));
    }, [[f64; 2]]);
    match ty.bits() <= byte::FEW_BITS {
        _ if ty == ElementType::Pred => pred_binary(op),
        true => Some(byte::pair_loop(ty, move |a, b| crate::binary(op, ty, a, b))),
        // The range of f32 holds the results, but for the type that has its exponents.
        false if ty != ElementType::F8E8M0Fnu && !rounds_twice(&Op::Binary(op)) => {
            Some(VectorLoop {
                update: byte_binary(op, ty)?.update,
                ..bytes_through_f32::<2>(exact_binary(op, ElementType::F32)?, ty)?
            })
        }
        false => byte_binary(op, ty),
    }
}

/// Returns the loop of an op of complex numbers that is one of their parts.
fn by_parts(whole: VectorLoop, parts: VectorLoop) -> VectorLoop {
    let (takes_scalars, update) = (whole.takes_scalars, whole.update.clone());
    let run = move |operands: &[&[u8]], result: &mut [u8]| {
        let are_arrays = operands.iter().all(|x| x.len() == result.len());
        if are_arrays { parts(operands, result) } else { whole(operands, result) }
    };
    VectorLoop { takes_scalars, update, ..VectorLoop::new(run) }
}

/// Returns whether rounding the result of an op to f32 and then to a narrower type may differ from
/// rounding once: for functions. Of sums, products and quotients f32 has enough bits.
fn rounds_twice(op: &Op) -> bool {
    op.opcode().accuracy() != Accuracy::Exact
}
