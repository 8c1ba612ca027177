//! Loops by formulas that may leave the results of some elements open.
//!
//! A formula has no branches, so the compiler vectorizes it. Elements that it leaves open are
//! computed by the definition of the function. Processors without fused multiply-add use the
//! definition alone, which is faster than formulas are there.
use super::instruction_set::{self, Task};
use super::{VectorLoop, elements};
use bytemuck::{Pod, Zeroable};
use std::marker::PhantomData;

/// Elements that are computed together: enough for the compiler to vectorize the loop.
const BLOCK: usize = 32;

/// A function of `N` operands.
pub(super) trait Formula<const N: usize>: Send + Sync + 'static {
    /// The type of the operands.
    type Of: Pod;
    /// The type of the result.
    type Result: Pod;
    /// Fewer elements than this are computed by the definition; 0 where its results differ.
    const FEW: usize = 6;
    /// Returns the result, and 0 unless it is open.
    fn formula(x: [Self::Of; N]) -> (Self::Result, u32);
    /// Returns the result by the definition.
    fn definition(x: [Self::Of; N]) -> Self::Result;
}

struct Blocks<'a, const N: usize, F: Formula<N>> {
    /// As many elements as the result has, or one for all.
    operands: [&'a [F::Of]; N],
    result: &'a mut [F::Result],
    formula: PhantomData<F>,
}

impl<const N: usize, F: Formula<N>> Task for Blocks<'_, N, F> {
    const IS_LONG: bool = true;

    #[inline(always)]
    fn run(self) {
        let count = self.result.len();
        let one = self.operands.map(|x| x.len() == 1 && count > 1);
        let fill = |x: &[F::Of]| [x.first().copied().unwrap_or_else(Zeroable::zeroed); BLOCK];
        let mut padded = self.operands.map(fill);
        let operands = self.operands.map(|x| x.as_chunks::<BLOCK>());
        let (blocks, rest) = self.result.as_chunks_mut::<BLOCK>();
        for (i, result) in blocks.iter_mut().enumerate() {
            let operand = |k: usize| if one[k] { &padded[k] } else { &operands[k].0[i] };
            block::<N, F>(std::array::from_fn(operand), result);
        }
        let last = std::array::from_fn(|k| if one[k] { self.operands[k] } else { operands[k].1 });
        if rest.len() < F::FEW {
            return Self { operands: last, result: rest, formula: self.formula }.run_baseline();
        }
        for (padded, x) in padded.iter_mut().zip(last) {
            padded[..x.len()].copy_from_slice(x);
        }
        if !rest.is_empty() {
            let mut result = [Zeroable::zeroed(); BLOCK];
            block::<N, F>(padded.each_ref(), &mut result);
            rest.copy_from_slice(&result[..rest.len()]);
        }
    }
    fn run_baseline(self) {
        for (i, result) in self.result.iter_mut().enumerate() {
            *result = F::definition(self.operands.map(|x| if x.len() == 1 { x[0] } else { x[i] }));
        }
    }
}

#[inline(always)]
fn block<const N: usize, F: Formula<N>>(
    operands: [&[F::Of; BLOCK]; N],
    result: &mut [F::Result; BLOCK],
) {
    let mut open = [0; BLOCK];
    let mut any = 0;
    for i in 0..BLOCK {
        (result[i], open[i]) = F::formula(operands.map(|x| x[i]));
        any |= open[i];
    }
    if any != 0 {
        define::<N, F>(operands, &open, result);
    }
}
#[cold]
fn define<const N: usize, F: Formula<N>>(
    operands: [&[F::Of; BLOCK]; N],
    open: &[u32; BLOCK],
    result: &mut [F::Result; BLOCK],
) {
    for i in (0..BLOCK).filter(|&i| open[i] != 0) {
        result[i] = F::definition(operands.map(|x| x[i]));
    }
}

/// Returns the loop of a formula.
pub(super) fn of<const N: usize, F: Formula<N>>() -> VectorLoop {
    let run = |operands: &[&[u8]], result: &mut [u8]| {
        let operands = elements(operands);
        let result = bytemuck::cast_slice_mut(result);
        instruction_set::run(Blocks { operands, result, formula: PhantomData::<F> });
    };
    VectorLoop { takes_scalars: N > 1, ..VectorLoop::new(run) }
}
