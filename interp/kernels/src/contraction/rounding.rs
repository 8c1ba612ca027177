//! From the sums of a tile to elements of the result.
use super::accumulator::{Accumulator, F64Accumulator};
use super::error_bound::ErrorBound;
use super::operands::{Rounding, single};
use super::tile::Word;
use hlo::{ElementType, Scalar};
use num::accumulator::Sum;
use num::loops::instruction_set::{Task, run};

/// A kernel whose sums are formed in tiles of packed words.
pub(super) trait Blocked:
    Accumulator<1, Word = <Self as Blocked>::PackedWord, Sum = <Self as Blocked>::PackedWord>
{
    /// Its words and its sums.
    type PackedWord: Word;
    /// Returns the elements of a result, if these are sums as they are.
    fn sums_in(_: &mut [u8], _: Rounding) -> Option<&mut [Self::Word]> {
        None
    }
    /// Writes the elements that sums round to, one of a row after the other; `error` times a norm
    /// bounds the error of a sum. Returns whether the bound decides all of them.
    fn round(
        sums: &[Self::Word],
        error: f64,
        norms: &[f64],
        rounding: Rounding,
        slots: &mut [u8],
    ) -> bool;
    /// Returns the interval that holds the sum of the products of two lists of words, from a better
    /// sum; see [`Accumulator::interval`].
    fn refined(
        row: &[Self::Word],
        column: impl Iterator<Item = Self::Word>,
        magnitude: f64,
        error: ErrorBound,
    ) -> Option<[Scalar; 2]>;
    /// Returns the exponent of the largest power of two that divides all words; [`NO_UNIT`] if all
    /// are zero.
    fn unit(words: impl Iterator<Item = Self::Word>) -> i64;
}

/// The exponent of a power of two that divides zeros: larger than that of any number.
const NO_UNIT: i64 = 1 << 20;

/// Returns whether every sum of products of numbers with these units, whose absolute values add up
/// to at most `magnitude`, is an f64.
pub(super) fn is_exact(units: [i64; 2], magnitude: f64) -> bool {
    let unit = units[0] + units[1];
    if !magnitude.is_finite() {
        return false;
    }
    // The magnitude may be rounded: one bit less.
    let exponent = i64::try_from(magnitude.to_bits() >> 52 & 0x7ff).expect("11 bits") - 1023;
    magnitude == 0.0 || exponent + 2 <= unit + 52
}

impl Blocked for F64Accumulator {
    type PackedWord = f64;
    fn round(
        sums: &[f64],
        error: f64,
        norms: &[f64],
        rounding: Rounding,
        slots: &mut [u8],
    ) -> bool {
        let mut is_decided = true;
        let same = rounding.sums.is_none_or(|sums| sums == rounding.to);
        if same && rounding.to == ElementType::F32 {
            run(Round::<4, _> {
                sums,
                error,
                norms,
                slots,
                element: to_f32,
                is_decided: &mut is_decided,
            });
            return is_decided;
        }
        if same && rounding.to == ElementType::Bf16 {
            run(Round::<2, _> {
                sums,
                error,
                norms,
                slots,
                element: to_bf16,
                is_decided: &mut is_decided,
            });
            return is_decided;
        }
        let slots = slots.chunks_exact_mut(rounding.to.storage_bytes());
        for ((&sum, norm), slot) in sums.iter().zip(norms).zip(slots) {
            let ends = [sum - error * norm, sum + error * norm];
            let ends = if sum.is_finite() { ends } else { [sum; 2] };
            is_decided &=
                !ends[0].is_nan() && rounding.write_if_same(ends.map(Scalar::Float), slot);
        }
        is_decided
    }
    fn refined(
        row: &[f64],
        column: impl Iterator<Item = f64>,
        magnitude: f64,
        error: ErrorBound,
    ) -> Option<[Scalar; 2]> {
        let mut sum = Sum::new(0.0);
        row.iter().zip(column).for_each(|(a, b)| sum.add(a * b));
        Some(error.compensated(sum, magnitude)?.map(Scalar::Float))
    }
    fn unit(words: impl Iterator<Item = f64>) -> i64 {
        words.filter(|&x| x != 0.0).fold(NO_UNIT, |unit, x| {
            let bits = x.to_bits();
            // Widened from f32, a number is normal.
            let zeros = i64::from((bits | 1 << 52).trailing_zeros());
            let exponent = i64::try_from(bits >> 52 & 0x7ff).expect("11 bits");
            unit.min(exponent - 1075 + zeros)
        })
    }
}

/// Returns an f64 rounded to a type, and whether it may round otherwise than its neighbors.
#[inline(always)]
fn to_f32(x: f64) -> ([u8; 4], bool) {
    let x = single(x);
    (x.to_le_bytes(), x.is_nan())
}

/// Rounding to f32 first keeps the order. It may make a tie, which then counts as undecided.
#[inline(always)]
fn to_bf16(x: f64) -> ([u8; 2], bool) {
    let x = single(x);
    (nearest_bf16(x), x.to_bits() & 0xffff == 0x8000 || x.is_nan())
}
#[inline(always)]
pub(super) fn nearest_bf16(x: f32) -> [u8; 2] {
    const QUIET: u32 = 1 << 22;
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    let [_, _, low, high] = if x.is_nan() { bits | QUIET } else { rounded }.to_le_bytes();
    [low, high]
}

/// Elements of `N` bytes.
struct Round<'a, const N: usize, F> {
    sums: &'a [f64],
    error: f64,
    norms: &'a [f64],
    slots: &'a mut [u8],
    element: F,
    is_decided: &'a mut bool,
}

impl<const N: usize, F: Fn(f64) -> ([u8; N], bool)> Task for Round<'_, N, F> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        const CHUNK: usize = 8;
        let (slots, _) = self.slots.as_chunks_mut::<N>();
        let (chunks, rest) = slots.as_chunks_mut::<CHUNK>();
        let (sums, last_sums) = self.sums.as_chunks::<CHUNK>();
        let (norms, last_norms) = self.norms.as_chunks::<CHUNK>();
        let one = |sum: f64, norm: f64, slot: &mut [u8; N]| {
            let error = self.error * norm;
            let ((low, is_low_open), (high, is_high_open)) =
                ((self.element)(sum - error), (self.element)(sum + error));
            *slot = low;
            (low != high) | is_low_open | is_high_open
        };
        let mut is_open = false;
        for ((slots, sums), norms) in chunks.iter_mut().zip(sums).zip(norms) {
            for i in 0..CHUNK {
                is_open |= one(sums[i], norms[i], &mut slots[i]);
            }
        }
        let at = chunks.len();
        let (sums, norms) =
            (sums.get(at).map_or(last_sums, |x| x), norms.get(at).map_or(last_norms, |x| x));
        for ((slot, &sum), &norm) in rest.iter_mut().zip(sums).zip(norms) {
            is_open |= one(sum, norm, slot);
        }
        *self.is_decided = !is_open;
    }
}
