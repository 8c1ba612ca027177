//! Correctly rounded functions of f32 in vectors of f64.
//!
//! A function is evaluated in f64 by a short formula. Its relative error is below [`ERROR`]. Where
//! both ends of that interval round to the same f32, that is the correctly rounded result. The other
//! elements, about one of 10^5, and those for which the formula gives NaN (NaN, domain errors, large
//! angles), are open. This is Ziv's strategy.
//!
//! So the results are those of the definition in `float_functions`, and do not depend on the
//! instruction set.
//!
//! Tests compare every function of one operand with its definition for all f32. The bounds of the
//! others follow from those of their parts, and are stated with them.
pub(super) mod complex;
mod exponential;
mod logarithm;
mod roots;
mod trigonometric;

use super::VectorLoop;
use super::formula::{Formula, of};
use crate::float_functions::single;
use crate::single::to_f32;

/// 2^-41, a bound of the relative error of every formula.
const ERROR: f64 = f64::from_bits((1023 - 41) << 52);

/// Returns the f32 nearest to a number that is known within [`ERROR`], and 0 unless it is open.
#[inline(always)]
pub(super) fn decided(y: f64) -> (f32, u32) {
    let (low, high) = (to_f32(y * (1.0 - ERROR)), to_f32(y * (1.0 + ERROR)));
    (low, (low.to_bits() ^ high.to_bits()) | u32::from(y.is_nan()))
}

/// Returns the polynomial with these coefficients, the highest first.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: &'static [f64; N]) -> f64 {
    let mut sum = coefficients[0];
    for &c in &coefficients[1..] {
        sum = sum.mul_add(x, c);
    }
    sum
}

/// Loops of the functions that have a formula, and of all others; the names are those of the op
/// table.
macro_rules! functions {
    ($($formulas:ident { $($function:ident($($x:ident)+))* })*) => {
        pub(super) mod loops {
            use super::{Formula, VectorLoop, decided, of, single};
            // Items of this module come before those of the same names.
            pub(in crate::loops) use crate::loops::table::plain::*;
            $($(
                pub(in crate::loops) fn $function() -> Option<VectorLoop> {
                    struct Checked;
                    impl Formula<{ [$(stringify!($x)),+].len() }> for Checked {
                        type Of = f32;
                        type Result = f32;
                        #[inline(always)]
                        fn formula([$($x),+]: [f32; { [$(stringify!($x)),+].len() }]) -> (f32, u32) {
                            decided(super::$formulas::$function($($x.into()),+))
                        }
                        fn definition([$($x),+]: [f32; { [$(stringify!($x)),+].len() }]) -> f32 {
                            single::$function($($x),+)
                        }
                    }
                    Some(of::<{ [$(stringify!($x)),+].len() }, Checked>())
                }
            )*)*
        }
    };
}
functions! {
    exponential { exp(x) expm1(x) tanh(x) sinh(x) cosh(x) logistic(x) erf(x) }
    logarithm { log(x) log1p(x) asinh(x) acosh(x) atanh(x) pow(x y) }
    trigonometric { sin(x) cos(x) tan(x) asin(x) acos(x) atan2(y x) }
    roots { rsqrt(x) cbrt(x) }
}
