//! Loops of one function over the elements of arrays, in types of the processor.
//!
//! A loop converts each element to the wide form in which its function is defined and the result
//! back. The compiler sees both and computes in the type itself, in vectors.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
mod approximate;
mod byte;
mod chain;
mod complex;
mod convert;
mod division;
mod extreme;
mod formula;
mod in_order;
pub mod instruction_set;
mod magnitude;
mod narrow;
mod native_types;
mod order;
mod power;
mod precision;
mod progression;
mod rows;
mod select;
mod shift;
mod sum;
mod table;
#[cfg(test)]
mod tests;
mod update;
mod vector;

use bytemuck::Pod;
pub use chain::{Short, Then, Word, chain_loop, rotation_loop};
pub use convert::convert_loop;
pub use extreme::{ExtremeLoops, extreme_loops};
pub use in_order::{InOrderFn, in_order_loop};
use instruction_set::Task;
pub use narrow::Narrow;
pub use order::{clamp_loop, compare_loop};
pub use precision::reduce_precision_loop;
pub use progression::{Progression, WriteElements};
pub use rows::{RowsFn, rows_loop};
pub use select::select_loop;
use std::ops::Deref;
use std::sync::Arc;
pub use sum::{AT_ONCE, LongSum, RowSums, SHORT_ROW, SumLoops};
pub use table::{binary_loop, is_approximate, unary_loop};
use update::update_loop;
pub use update::{OUTSIDE, Targets, UpdateFn, replace_loop};

/// A loop over the bytes of operands and of a result, aligned for their types and with the same
/// number of elements.
#[derive(Clone)]
pub struct VectorLoop {
    run: Arc<LoopFn>,
    /// Whether an operand may have one element, for all elements of the result.
    pub takes_scalars: bool,
    /// The operation of f32, if it may be one of a chain.
    pub short: Option<Short>,
    /// The operation of u32, if it may be one of a rotation.
    pub word: Option<Word>,
    /// The loop of its function over elements at offsets.
    update: Option<Arc<UpdateFn>>,
}

type LoopFn = dyn Fn(&[&[u8]], &mut [u8]) + Send + Sync;

impl VectorLoop {
    pub(crate) fn new(run: impl Fn(&[&[u8]], &mut [u8]) + Send + Sync + 'static) -> Self {
        Self { run: Arc::new(run), takes_scalars: false, short: None, word: None, update: None }
    }
    /// Returns the loop over elements at offsets of an op of two operands and a result of one type,
    /// whose elements have this many bytes.
    #[must_use]
    pub fn at_offsets(self, width: usize) -> Arc<UpdateFn> {
        self.update.clone().unwrap_or_else(|| update::by_runs(self, width))
    }
}

impl Deref for VectorLoop {
    type Target = LoopFn;
    fn deref(&self) -> &Self::Target {
        &*self.run
    }
}

/// Returns the loop of a function of `N` operands of one type.
fn each<const N: usize, A: Pod, R: Pod, F: Fn([A; N]) -> R + Copy + Send + Sync + 'static>(
    function: F,
) -> VectorLoop
where
    for<'a> Each<'a, N, A, R, F>: Task,
{
    VectorLoop::new(move |operands, result| {
        let result = bytemuck::cast_slice_mut(result);
        instruction_set::run(Each { operands: elements(operands), result, function });
    })
}

/// Returns the elements of each operand.
fn elements<'a, const N: usize, A: Pod>(operands: &[&'a [u8]]) -> [&'a [A]; N] {
    std::array::from_fn(|k| bytemuck::cast_slice(operands[k]))
}

/// Returns the loop of a function of two operands, of which neither has one element for all.
fn both<A: Pod>(function: impl Fn([A; 2]) -> A + Copy + Send + Sync + 'static) -> VectorLoop {
    VectorLoop { update: update_loop(function), ..each(function) }
}

/// Returns the loop of a function of two operands, of which one may have one element.
fn pair<A: Pod, R: Pod>(
    function: impl Fn([A; 2]) -> R + Copy + Send + Sync + 'static,
) -> VectorLoop {
    let run = move |operands: &[&[u8]], result: &mut [u8]| {
        let [a, b] = elements::<2, A>(operands);
        let result: &mut [R] = bytemuck::cast_slice_mut(result);
        match (a, b) {
            (&[a], &[b]) => result.fill(function([a, b])),
            (&[a], b) => {
                let function = move |[b]: [A; 1]| function([a, b]);
                instruction_set::run(Each { operands: [b], result, function });
            }
            (a, &[b]) => {
                let function = move |[a]: [A; 1]| function([a, b]);
                instruction_set::run(Each { operands: [a], result, function });
            }
            (a, b) => instruction_set::run(Each { operands: [a, b], result, function }),
        }
    };
    VectorLoop { takes_scalars: true, update: update_loop(function), ..VectorLoop::new(run) }
}

struct Each<'a, const N: usize, A, R, F> {
    operands: [&'a [A]; N],
    result: &'a mut [R],
    function: F,
}

/// Expands to the loop over this number of operands. Loops generic in the number would have the
/// compiler compile functions of arrays for each function of elements.
macro_rules! loop_of {
    ($count:literal: $($operand:ident)*) => {
        impl<A: Copy, R, F: Fn([A; $count]) -> R> Task for Each<'_, $count, A, R, F> {
            // Short loops wait for the cache, which gives twice as many bytes to wide vectors. Each
            // set of instructions is compiled: the types of most modules are worth that.
            const IS_LONG: bool = matches!(size_of::<A>(), 2 | 4);
            #[inline(always)]
            fn run(self) {
                let count = self.result.len();
                let [$($operand),*] = self.operands;
                // Indices below the length of each slice need no checks, with which the last
                // elements would be computed one by one.
                $(let $operand = &$operand[..count];)*
                for i in 0..count {
                    self.result[i] = (self.function)([$($operand[i]),*]);
                }
            }
        }
    };
}
loop_of!(1: a);
loop_of!(2: a b);
loop_of!(3: a b c);
loop_of!(4: a b c d);

/// An integer type of the processor.
trait Integer: Pod {
    /// The type in which functions of integers of its class are defined.
    type Wide;
    const BITS: u32;
    fn widen(self) -> Self::Wide;
    /// Wraps.
    fn narrow(wide: Self::Wide) -> Self;
}
macro_rules! integers {
    ($($wide:ident: $($ty:ident)*;)*) => {
        $($(impl Integer for $ty {
            type Wide = $wide;
            const BITS: u32 = $ty::BITS;
            #[inline]
            fn widen(self) -> $wide {
                self.into()
            }
            #[inline]
            #[allow(
                clippy::as_conversions, clippy::cast_possible_truncation, trivial_numeric_casts,
                reason = "wraps"
            )]
            fn narrow(wide: $wide) -> Self {
                wide as Self
            }
        })*)*
    };
}
integers! {
    i64: i8 i16 i32 i64;
    u64: u8 u16 u32 u64;
}
