//! Products and sums in the type of the operands, without a look at their errors: integers modulo
//! 2^32, and floats of the engine `fast`.
use super::accumulator::{Accumulator, SingleSums, TileSums, terms};
use super::error_bound::{ErrorBound, exact_sum};
use super::operands::Rounding;
use super::rounding::{Blocked, nearest_bf16};
use super::tile::Word;
use half::bf16;
use hlo::{ElementType, Scalar};
use num::loops::instruction_set::{Task, run};
use std::marker::PhantomData;

/// Numbers that are multiplied and added in their own type, without a bound of the error: integers
/// modulo 2^32, which are enough for results of up to 32 bits, and floats of the engine `fast`.
pub(super) struct NativeAccumulator<S>(PhantomData<S>);

/// An element that is multiplied and added as a word of a tile.
pub(super) trait Stored: Copy + Sync {
    /// The type of products and sums.
    type Word: NativeSum;
    fn word(self) -> Self::Word;
    /// Returns the words of elements that are words.
    fn words(elements: &[Self]) -> Option<&[Self::Word]>;
    fn is_finite(self) -> bool;
    /// Returns the exact sum of the products, to be rounded to the type `ty`.
    fn exact(terms: impl Iterator<Item = (Self, Self)>, ty: ElementType) -> Scalar;
}

impl Stored for i32 {
    type Word = Self;
    #[inline]
    fn word(self) -> Self {
        self
    }
    fn words(elements: &[Self]) -> Option<&[Self]> {
        Some(elements)
    }
    fn is_finite(self) -> bool {
        true
    }
    fn exact(terms: impl Iterator<Item = (Self, Self)>, _: ElementType) -> Scalar {
        let sum = terms.map(|(a, b)| a.wrapping_mul(b)).fold(0, Self::wrapping_add);
        Scalar::Signed(sum.into())
    }
}
macro_rules! floats {
    ($($stored:ty: $word:ty, $widen:expr, $words:expr;)*) => {
        $(impl Stored for $stored {
            type Word = $word;
            #[inline]
            fn word(self) -> $word {
                $widen(self)
            }
            fn words(elements: &[Self]) -> Option<&[$word]> {
                $words(elements)
            }
            fn is_finite(self) -> bool {
                <$stored>::is_finite(self)
            }
            fn exact(terms: impl Iterator<Item = (Self, Self)>, ty: ElementType) -> Scalar {
                exact_sum(terms.map(|(a, b)| (a.into(), b.into())), ty)
            }
        })*
    };
}
floats! {
    f32: f32, std::convert::identity, Some;
    f64: f64, std::convert::identity, Some;
    bf16: f32, |x: bf16| f32::from_bits(u32::from(x.to_bits()) << 16), |_| None;
}

impl<S: Stored> Accumulator<1> for NativeAccumulator<S> {
    type Stored = S;
    type Word = S::Word;
    type Sum = S::Word;
    const PRODUCTS: usize = 1;
    const HAS_BOUND: bool = false;

    #[inline]
    fn pack(element: S) -> [S::Word; 1] {
        [element.word()]
    }
    fn words(elements: &[S]) -> Option<&[S::Word]> {
        S::words(elements)
    }
    fn tile(lhs: &[S::Word], rhs: &[S::Word]) -> TileSums<S::Word> {
        let mut sums = TileSums::default();
        for ([a], [b]) in terms(lhs).zip(terms(rhs)) {
            for (row, &a) in sums.iter_mut().zip(a) {
                for (sum, &b) in row.iter_mut().zip(b) {
                    *sum = S::Word::plus_product(*sum, a, b);
                }
            }
        }
        sums
    }
    fn interval(sum: S::Word, _: f64, _: ErrorBound) -> Option<[Scalar; 2]> {
        Some([sum.scalar(); 2])
    }
    fn exact(terms: impl Iterator<Item = (S, S)>, ty: ElementType) -> Scalar {
        S::exact(terms, ty)
    }
    fn packable(_: S) -> bool {
        true
    }
    fn finite(element: S) -> bool {
        element.is_finite()
    }
    #[inline]
    fn square(_: [S::Word; 1]) -> f64 {
        0.0
    }
}

impl<S: Stored> SingleSums<1> for NativeAccumulator<S> {
    fn zero() -> S::Word {
        S::Word::default()
    }
    #[inline]
    fn add(sum: &mut S::Word, a: S, b: S) -> f64 {
        *sum = sum.plus_product(a.word(), b.word());
        0.0
    }
}

impl<S: Stored> Blocked for NativeAccumulator<S> {
    type PackedWord = S::Word;
    fn sums_in(slots: &mut [u8], rounding: Rounding) -> Option<&mut [S::Word]> {
        S::Word::is_element(rounding).then(|| bytemuck::try_cast_slice_mut(slots).ok())?
    }
    fn round(sums: &[S::Word], _: f64, _: &[f64], rounding: Rounding, slots: &mut [u8]) -> bool {
        S::Word::write(sums, rounding, slots);
        true
    }
    fn refined(
        _: &[S::Word],
        _: impl Iterator<Item = S::Word>,
        _: f64,
        _: ErrorBound,
    ) -> Option<[Scalar; 2]> {
        None
    }
    fn unit(_: impl Iterator<Item = S::Word>) -> i64 {
        0
    }
}

/// A sum that becomes an element without a look at its error.
pub(super) trait NativeSum: Word {
    fn scalar(self) -> Scalar;
    /// Returns whether a sum is an element of the result as it is.
    fn is_element(rounding: Rounding) -> bool;
    /// Writes the elements that sums round to.
    fn write(sums: &[Self], rounding: Rounding, slots: &mut [u8]) {
        write_each(sums, rounding, slots);
    }
}

impl NativeSum for f64 {
    fn scalar(self) -> Scalar {
        Scalar::Float(self)
    }
    fn is_element(rounding: Rounding) -> bool {
        rounding.sum_type() == ElementType::F64 && rounding.to == ElementType::F64
    }
}
impl NativeSum for i32 {
    fn scalar(self) -> Scalar {
        Scalar::Signed(self.into())
    }
    fn is_element(rounding: Rounding) -> bool {
        rounding.to.storage_bytes() == size_of::<Self>()
    }
    fn write(sums: &[Self], rounding: Rounding, slots: &mut [u8]) {
        match Self::is_element(rounding) {
            true => slots.copy_from_slice(bytemuck::cast_slice(sums)),
            false => write_each(sums, rounding, slots),
        }
    }
}
impl NativeSum for f32 {
    fn scalar(self) -> Scalar {
        Scalar::Float(self.into())
    }
    fn is_element(rounding: Rounding) -> bool {
        rounding.sum_type() == ElementType::F32 && rounding.to == ElementType::F32
    }
    fn write(sums: &[Self], rounding: Rounding, slots: &mut [u8]) {
        let is_sum_type = rounding.sums.is_none_or(|ty| ty == ElementType::F32);
        if Self::is_element(rounding) {
            slots.copy_from_slice(bytemuck::cast_slice(sums));
        } else if is_sum_type && rounding.to == ElementType::Bf16 {
            run(ToBf16 { sums, slots });
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
            *slot = nearest_bf16(sum);
        }
    }
}
