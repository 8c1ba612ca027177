//! Sums of floats in f64, with the sums of their magnitudes, which bound the error.
use super::instruction_set::{self, Task};
use super::table::with_type;
use crate::num::accumulator::ExactSum;
use crate::options::Arithmetic;
use bytemuck::Pod;
use half::{bf16, f16};
use hlo::ElementType;

/// Numbers that are summed in turn, so that an addition does not wait for the one before it.
const LANES: usize = 16;
const SINGLE_LANES: usize = 64;

/// The loops that sum elements of a type with at most 24 significant bits. Operands are bytes, aligned for the type.
/// Where no bound of the error is asked for, magnitudes are 0 while sums are finite.
#[derive(Clone, Copy)]
pub(crate) struct SumLoops {
    /// Returns the sum of the elements and that of their magnitudes. Each element takes part in at most
    /// `count / 16 + 32` additions.
    pub(crate) row: fn(&[u8]) -> (f64, f64),
    /// Adds each element to the sum at its index, and its magnitude to the one there.
    pub(crate) columns: fn(&[u8], &mut [f64], &mut [f64]),
    /// Adds the elements to an exact sum.
    pub(crate) exact: fn(&[u8], &mut ExactSum),
}

impl SumLoops {
    /// Returns the loops of a type.
    pub(crate) fn of(ty: ElementType, arithmetic: Arithmetic) -> Option<Self> {
        with_type!(ty, T => return Some(match arithmetic {
            Arithmetic::Exact => Self {
                row: row::<T>,
                columns: columns::<T, true>,
                exact: exact::<T>,
            },
            Arithmetic::Fast => Self {
                row: row_of_f32::<T>,
                columns: columns::<T, false>,
                exact: exact::<T>,
            },
        }), [f32, bf16, f16]);
        None
    }
}

/// A float that f32 contains.
trait Term: Pod {
    fn single(self) -> f32;
    #[inline]
    fn wide(self) -> f64 {
        self.single().into()
    }
}
impl Term for f32 {
    #[inline]
    fn single(self) -> f32 {
        self
    }
}
impl Term for bf16 {
    #[inline]
    fn single(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
}
impl Term for f16 {
    #[inline]
    fn single(self) -> f32 {
        self.to_f32()
    }
}

fn row<T: Term>(elements: &[u8]) -> (f64, f64) {
    // -0 is the neutral element of addition.
    let (mut sums, mut magnitudes) = ([-0.0; LANES], [0.0; LANES]);
    let elements: &[T] = bytemuck::cast_slice(elements);
    let (blocks, rest) = elements.as_chunks();
    instruction_set::run(Row { blocks, sums: &mut sums, magnitudes: &mut magnitudes });
    let rest = rest.iter().map(|x| x.wide());
    let sum = rest.clone().chain(sums).fold(-0.0, |sum, x| sum + x);
    let magnitude = rest.map(f64::abs).chain(magnitudes).sum();
    (sum, magnitude)
}

/// The sum of the elements in lanes of f32. A sum that is not finite is left open: the exact one may be.
fn row_of_f32<T: Term>(elements: &[u8]) -> (f64, f64) {
    let mut sums = [-0.0; SINGLE_LANES];
    let elements: &[T] = bytemuck::cast_slice(elements);
    let (blocks, rest) = elements.as_chunks();
    instruction_set::run(SingleRow { blocks, sums: &mut sums });
    let rest = rest.iter().map(|x| x.wide());
    let sum = rest.chain(sums.map(f64::from)).fold(-0.0, |sum, x| sum + x);
    (sum, if sum.is_finite() { 0.0 } else { f64::INFINITY })
}

struct SingleRow<'a, T> {
    blocks: &'a [[T; SINGLE_LANES]],
    sums: &'a mut [f32; SINGLE_LANES],
}

impl<T: Term> Task for SingleRow<'_, T> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let mut sums = *self.sums;
        for block in self.blocks {
            for (sum, x) in sums.iter_mut().zip(block) {
                *sum += x.single();
            }
        }
        *self.sums = sums;
    }
}

fn exact<T: Term>(elements: &[u8], sum: &mut ExactSum) {
    for x in bytemuck::cast_slice::<u8, T>(elements) {
        sum.add(x.wide());
    }
}

struct Row<'a, T> {
    blocks: &'a [[T; LANES]],
    sums: &'a mut [f64; LANES],
    magnitudes: &'a mut [f64; LANES],
}

impl<T: Term> Task for Row<'_, T> {
    #[inline(always)]
    fn run(self) {
        let (mut sums, mut magnitudes) = (*self.sums, *self.magnitudes);
        for block in self.blocks {
            for lane in 0..LANES {
                let x = block[lane].wide();
                sums[lane] += x;
                magnitudes[lane] += x.abs();
            }
        }
        (*self.sums, *self.magnitudes) = (sums, magnitudes);
    }
}

fn columns<T: Term, const HAS_BOUND: bool>(
    elements: &[u8],
    sums: &mut [f64],
    magnitudes: &mut [f64],
) {
    let elements: &[T] = bytemuck::cast_slice(elements);
    instruction_set::run(Columns::<'_, _, HAS_BOUND> { elements, sums, magnitudes });
}

struct Columns<'a, T, const HAS_BOUND: bool> {
    elements: &'a [T],
    sums: &'a mut [f64],
    magnitudes: &'a mut [f64],
}

impl<T: Term, const HAS_BOUND: bool> Task for Columns<'_, T, HAS_BOUND> {
    #[inline(always)]
    fn run(self) {
        let targets = self.sums.iter_mut().zip(self.magnitudes);
        for ((sum, magnitude), x) in targets.zip(self.elements) {
            let x = x.wide();
            *sum += x;
            if HAS_BOUND {
                *magnitude += x.abs();
            }
        }
    }
}
