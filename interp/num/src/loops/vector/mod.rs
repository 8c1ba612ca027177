//! Correctly rounded functions of f32 in vectors of f64.
//!
//! A function is evaluated in f64 by a short formula without branches, which the compiler
//! vectorizes. Its relative error is below [`ERROR`]. Where both ends of that interval round to the
//! same f32, that is the correctly rounded result. The other elements, about one of 10^5, and those
//! for which the formula gives NaN (NaN, domain errors, large angles), are computed by the
//! definition of the function in `float_functions`. This is Ziv's strategy.
//!
//! So the results are those of the definition, and do not depend on the instruction set. The
//! formulas use fused multiply-add; processors without it use the definition alone, which is faster
//! than the formulas are there.
//!
//! Tests compare every function of one operand with its definition for all f32. The bounds of the
//! others follow from those of their parts, and are stated with them.
mod exponential;
mod logarithm;
mod roots;
mod trigonometric;

use super::instruction_set::{self, Task};
use super::{VectorLoop, elements};
use crate::float_functions::single;
use crate::single::to_f32;
use std::marker::PhantomData;

/// 2^-41, a bound of the relative error of every formula.
const ERROR: f64 = f64::from_bits((1023 - 41) << 52);
/// Elements that are computed together: enough for the compiler to vectorize the loop.
const BLOCK: usize = 32;
/// Fewer elements than this are computed one at a time.
const FEW: usize = 6;

/// A function of `N` operands.
trait VectorFn<const N: usize> {
    /// Returns the result with a relative error below [`ERROR`], or NaN where the formula does not
    /// apply.
    fn approximate(x: [f64; N]) -> f64;
    /// Returns the correctly rounded result.
    fn exact(x: [f32; N]) -> f32;
}

struct VectorSlices<'a, const N: usize, F> {
    operands: [&'a [f32]; N],
    result: &'a mut [f32],
    formula: PhantomData<F>,
}

impl<const N: usize, F: VectorFn<N>> Task for VectorSlices<'_, N, F> {
    const IS_LONG: bool = true;

    #[inline(always)]
    fn run(self) {
        let operands = self.operands.map(|x| x.as_chunks::<BLOCK>());
        let (blocks, rest) = self.result.as_chunks_mut::<BLOCK>();
        for (i, result) in blocks.iter_mut().enumerate() {
            block::<N, F>(operands.map(|x| &x.0[i]), result);
        }
        let operands = operands.map(|x| x.1);
        if rest.len() < FEW {
            return Self { operands, result: rest, formula: self.formula }.run_baseline();
        }
        let mut padded = [[0.0; BLOCK]; N];
        for (padded, x) in padded.iter_mut().zip(operands) {
            padded[..x.len()].copy_from_slice(x);
        }
        let mut result = [0.0; BLOCK];
        block::<N, F>(padded.each_ref(), &mut result);
        rest.copy_from_slice(&result[..rest.len()]);
    }
    fn run_baseline(self) {
        for (i, result) in self.result.iter_mut().enumerate() {
            *result = F::exact(self.operands.map(|x| x[i]));
        }
    }
}

#[inline(always)]
fn block<const N: usize, F: VectorFn<N>>(operands: [&[f32; BLOCK]; N], result: &mut [f32; BLOCK]) {
    let mut open = [0; BLOCK];
    let mut any = 0;
    for i in 0..BLOCK {
        let y = F::approximate(operands.map(|x| x[i].into()));
        let (low, high) = (to_f32(y * (1.0 - ERROR)), to_f32(y * (1.0 + ERROR)));
        result[i] = low;
        open[i] = (low.to_bits() ^ high.to_bits()) | u32::from(y.is_nan());
        any |= open[i];
    }
    if any != 0 {
        compute_exactly::<N, F>(operands, &open, result);
    }
}
#[cold]
fn compute_exactly<const N: usize, F: VectorFn<N>>(
    operands: [&[f32; BLOCK]; N],
    open: &[u32; BLOCK],
    result: &mut [f32; BLOCK],
) {
    for i in (0..BLOCK).filter(|&i| open[i] != 0) {
        result[i] = F::exact(operands.map(|x| x[i]));
    }
}

fn of<const N: usize, F: VectorFn<N> + 'static>() -> VectorLoop {
    VectorLoop::new(move |operands, result| {
        let operands = elements(operands);
        let result = bytemuck::cast_slice_mut(result);
        instruction_set::run(VectorSlices { operands, result, formula: PhantomData::<F> });
    })
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
            use super::{VectorFn, VectorLoop, of, single};
            // Items of this module come before those of the same names.
            pub(in crate::loops) use crate::loops::table::plain::*;
            $($(
                pub(in crate::loops) fn $function() -> Option<VectorLoop> {
                    struct Formula;
                    impl VectorFn<{ [$(stringify!($x)),+].len() }> for Formula {
                        #[inline(always)]
                        fn approximate([$($x),+]: [f64; { [$(stringify!($x)),+].len() }]) -> f64 {
                            super::$formulas::$function($($x),+)
                        }
                        fn exact([$($x),+]: [f32; { [$(stringify!($x)),+].len() }]) -> f32 {
                            single::$function($($x),+)
                        }
                    }
                    Some(of::<{ [$(stringify!($x)),+].len() }, Formula>())
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
