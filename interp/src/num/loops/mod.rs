//! Loops of one function over the elements of arrays, in types of the processor.
//!
//! A loop converts each element to the wide form in which its function is defined and the result back. The compiler sees
//! both and computes in the type itself, in vectors.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
mod convert;
pub(crate) mod instruction_set;
mod magnitude;
mod narrow;
mod order;
mod select;
mod sum;
mod table;
#[cfg(test)]
mod tests;
mod vector;

use bytemuck::Pod;
pub(crate) use convert::convert_loop;
use instruction_set::Task;
pub(crate) use magnitude::magnitude_loop;
pub(crate) use order::{clamp_loop, compare_loop};
pub(crate) use select::select_loop;
use std::sync::Arc;
pub(crate) use sum::{AT_ONCE, SumLoops};
pub(crate) use table::{binary_loop, unary_loop};

/// A loop over the bytes of operands and of a result, aligned for their types and with the same number of elements.
pub(crate) type Loop = Arc<dyn Fn(&[&[u8]], &mut [u8]) + Send + Sync>;

/// Returns the loop of a function of `N` operands of one type.
fn each<const N: usize, A: Pod, R: Pod>(
    function: impl Fn([A; N]) -> R + Copy + Send + Sync + 'static,
) -> Loop {
    Arc::new(move |operands, result| {
        let operands = std::array::from_fn(|k| bytemuck::cast_slice(operands[k]));
        let result = bytemuck::cast_slice_mut(result);
        instruction_set::run(Each { operands, result, function });
    })
}

struct Each<'a, const N: usize, A, R, F> {
    operands: [&'a [A]; N],
    result: &'a mut [R],
    function: F,
}

impl<const N: usize, A: Copy, R, F: Fn([A; N]) -> R> Task for Each<'_, N, A, R, F> {
    #[inline(always)]
    fn run(self) {
        let count = self.result.len();
        // Slices of equal length need no checks in the loop.
        let operands = self.operands.map(|x| &x[..count]);
        for (i, result) in self.result.iter_mut().enumerate() {
            *result = (self.function)(std::array::from_fn(|k| operands[k][i]));
        }
    }
}

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
