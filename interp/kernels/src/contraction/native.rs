//! Products and sums in the type of the operands, without a look at their errors: integers modulo
//! 2^32 or 2^64, and floats of the engine `fast`.
use super::accumulator::{Accumulator, OwnSums};
use super::error_bound::{ErrorBound, exact_sum};
use super::operands::Rounding;
use super::tile::{self, Factor, NativeWord, Tile};
use crate::strided::{copy_short, with_half};
use half::bf16;
use hlo::{ElementType, Scalar};
use num::loops::instruction_set::{Task, run};
use num::loops::{Narrow, convert_loop};
use std::marker::PhantomData;

/// Numbers that are multiplied and added in their own type, without a bound of the error.
pub(super) struct NativeAccumulator<S>(PhantomData<S>);

/// An element that is multiplied and added as a word of a tile.
pub(super) trait Stored: Factor<Self::Word> + Sync {
    /// The type of products and sums.
    type Word: NativeSum;
    /// Returns the words of elements that are words.
    fn words(elements: &[Self]) -> Option<&[Self::Word]>;
    fn is_finite(self) -> bool;
}

macro_rules! stored {
    ($($stored:ty: $word:ty, $words:expr, $is_finite:expr;)*) => {
        $(impl Stored for $stored {
            type Word = $word;
            fn words(elements: &[Self]) -> Option<&[$word]> {
                $words(elements)
            }
            fn is_finite(self) -> bool {
                $is_finite(self)
            }
        })*
    };
}
stored! {
    i32: i32, Some, |_| true;
    i64: i64, Some, |_| true;
    f32: f32, Some, f32::is_finite;
    f64: f64, Some, f64::is_finite;
    bf16: f32, |_| None, bf16::is_finite;
}

impl<S: Stored> Accumulator for NativeAccumulator<S> {
    type Stored = S;
    type Word = S::Word;
    type Sum = S::Word;
    const HAS_BOUND: bool = false;

    #[inline]
    fn pack(element: S) -> S::Word {
        element.word()
    }
    fn words(elements: &[S]) -> Option<&[S::Word]> {
        S::words(elements)
    }
    fn finite(element: S) -> bool {
        element.is_finite()
    }
    #[inline]
    fn square(_: S::Word) -> f64 {
        0.0
    }
    fn tile(tile: &Tile<'_, S::Word>, lines: &mut [&mut [S::Word]]) {
        tile::add(tile, lines);
    }
    fn tile_in_place(tile: &Tile<'_, S::Word, S>, lines: &mut [&mut [S::Word]]) {
        tile::add(tile, lines);
    }
    #[inline(always)]
    fn add(sum: &mut S::Word, a: S::Word, b: S::Word) -> f64 {
        *sum = sum.plus_product(a, b);
        0.0
    }
    fn merge(sum: &mut S::Word, other: S::Word) {
        *sum = sum.plus(other);
    }
    fn interval(sum: S::Word, _: f64, _: ErrorBound) -> Option<[Scalar; 2]> {
        Some([sum.scalar(); 2])
    }
    fn exact(products: impl Iterator<Item = (S::Word, S::Word)>, ty: ElementType) -> Scalar {
        S::Word::exact(products, ty)
    }
    fn sums_in(slots: &mut [u8], rounding: Rounding) -> Option<&mut [S::Word]> {
        S::Word::is_element(rounding).then(|| bytemuck::try_cast_slice_mut(slots).ok())?
    }
    fn round(
        sums: &[S::Word],
        _: ErrorBound,
        _: (f64, &[f64]),
        rounding: Rounding,
        slots: &mut [u8],
    ) -> bool {
        S::Word::write(sums, rounding, slots);
        true
    }
}

impl<S: Stored> OwnSums for NativeAccumulator<S> {
    type Native = S::Word;
}

/// A sum that becomes an element without a look at its error.
pub(super) trait NativeSum: NativeWord + Factor<Self> {
    fn scalar(self) -> Scalar;
    /// Returns whether a sum is an element of the result as it is.
    fn is_element(rounding: Rounding) -> bool;
    /// Returns the exact sum of products, to be rounded to the type `ty`.
    fn exact(products: impl Iterator<Item = (Self, Self)>, ty: ElementType) -> Scalar;
    /// Writes the elements that sums round to.
    fn write(sums: &[Self], rounding: Rounding, slots: &mut [u8]) {
        match Self::is_element(rounding) {
            true => slots.copy_from_slice(bytemuck::cast_slice(sums)),
            false => write_each(sums, rounding, slots),
        }
    }
}

macro_rules! integers {
    ($($word:ty),*) => {
        $(impl NativeSum for $word {
            fn scalar(self) -> Scalar {
                Scalar::Signed(self.into())
            }
            fn is_element(rounding: Rounding) -> bool {
                let Rounding { sums, to, .. } = rounding;
                sums.is_none() && to.is_integral() && to.storage_bytes() == size_of::<Self>()
            }
            fn exact(products: impl Iterator<Item = (Self, Self)>, _: ElementType) -> Scalar {
                products.map(|(a, b)| a.wrapping_mul(b)).fold(0, Self::wrapping_add).scalar()
            }
        })*
    };
}
integers!(i32, i64);

impl NativeSum for f64 {
    fn scalar(self) -> Scalar {
        Scalar::Float(self)
    }
    fn is_element(rounding: Rounding) -> bool {
        rounding.sum_type() == ElementType::F64 && rounding.to == ElementType::F64
    }
    fn exact(products: impl Iterator<Item = (Self, Self)>, ty: ElementType) -> Scalar {
        exact_sum(products, ty)
    }
}
impl NativeSum for f32 {
    fn scalar(self) -> Scalar {
        Scalar::Float(self.into())
    }
    fn is_element(rounding: Rounding) -> bool {
        rounding.sum_type() == ElementType::F32 && rounding.to == ElementType::F32
    }
    fn exact(products: impl Iterator<Item = (Self, Self)>, ty: ElementType) -> Scalar {
        exact_sum(products.map(|(a, b)| (a.into(), b.into())), ty)
    }
    fn write(sums: &[Self], rounding: Rounding, slots: &mut [u8]) {
        /// Sums that are worth finding a loop for.
        const FEW: usize = 8;
        let is_sum_type = rounding.sums.is_none_or(|ty| ty == ElementType::F32);
        if Self::is_element(rounding) {
            let sums = bytemuck::cast_slice(sums);
            with_half!(slots.len(), N => copy_short::<N>(sums, slots));
        } else if is_sum_type && rounding.to == ElementType::Bf16 {
            run(ToBf16 { sums, slots });
        } else if is_sum_type
            && sums.len() >= FEW
            && let Some(round) = convert_loop(ElementType::F32, rounding.to)
        {
            round(&[bytemuck::cast_slice(sums)], slots);
        } else {
            write_each(sums, rounding, slots);
        }
    }
}

fn write_each<W: NativeSum>(sums: &[W], rounding: Rounding, slots: &mut [u8]) {
    let slots = slots.chunks_exact_mut(rounding.to.storage_bytes());
    slots.zip(sums).for_each(|(slot, sum)| rounding.write(sum.scalar(), slot));
}

/// Sums that become elements of bf16.
struct ToBf16<'a> {
    sums: &'a [f32],
    slots: &'a mut [u8],
}

impl Task for ToBf16<'_> {
    #[inline(always)]
    fn run(self) {
        let (slots, _) = self.slots.as_chunks_mut::<2>();
        for (slot, &sum) in slots.iter_mut().zip(self.sums) {
            *slot = bf16::rounded(sum).to_le_bytes();
        }
    }
}
