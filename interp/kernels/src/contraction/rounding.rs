//! The loops from the sums of a tile to elements of the result.
use super::error_bound::ErrorBound;
use super::operands::single;
use half::f16;
use num::exact::two_sum;
use num::loops::instruction_set::Task;

/// Returns an f64 rounded to a type, and whether it may round otherwise than its neighbors.
#[inline(always)]
pub(super) fn to_f32(x: f64) -> ([u8; 4], bool) {
    let x = single(x);
    (x.to_le_bytes(), x.is_nan())
}

/// Rounding to f32 first keeps the order. It may make a tie, which then counts as undecided.
#[inline(always)]
pub(super) fn to_bf16(x: f64) -> ([u8; 2], bool) {
    let x = single(x);
    (nearest_bf16(x), x.to_bits() & 0xffff == 0x8000 || x.is_nan())
}
/// As [`to_bf16`]; small numbers, of which f16 has fewer digits, count as undecided.
#[inline(always)]
pub(super) fn to_f16(x: f64) -> ([u8; 2], bool) {
    const SMALL: f32 = 6.2e-5;
    let x = single(x);
    let is_tie = x.to_bits() & 0x1fff == 0x1000;
    let is_small = x.abs() < SMALL && x != 0.0;
    (f16::from_f32(x).to_le_bytes(), is_tie | is_small | x.is_nan())
}
#[inline(always)]
pub(super) fn nearest_bf16(x: f32) -> [u8; 2] {
    const QUIET: u32 = 1 << 22;
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    let [_, _, low, high] = if x.is_nan() { bits | QUIET } else { rounded }.to_le_bytes();
    [low, high]
}

/// The loop over sums that become elements of `N` bytes; `error` times a norm bounds the error of a
/// sum.
pub(super) struct Round<'a, const N: usize, F> {
    pub(super) sums: &'a [f64],
    pub(super) error: f64,
    pub(super) norms: &'a [f64],
    pub(super) slots: &'a mut [u8],
    pub(super) element: F,
    /// Whether the bound decides all of them.
    pub(super) decided: &'a mut bool,
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
        *self.decided = !is_open;
    }
}

/// The loop over sums with their rounding errors, which become f64.
pub(super) struct RoundCompensated<'a> {
    pub(super) sums: &'a [[f64; 2]],
    pub(super) error: ErrorBound,
    /// The norm of the row, and those of columns.
    pub(super) norms: (f64, &'a [f64]),
    pub(super) slots: &'a mut [u8],
    /// Whether the bound decides all of them.
    pub(super) decided: &'a mut bool,
}

impl Task for RoundCompensated<'_> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let ((norm, norms), units) = (self.norms, self.error.compensated_units());
        let (slots, _) = self.slots.as_chunks_mut::<8>();
        let mut is_open = false;
        for ((slot, &[sum, lost]), &column) in slots.iter_mut().zip(self.sums).zip(norms) {
            let ((high, low), magnitude) = (two_sum(sum, lost), norm * column);
            let error = ErrorBound::compensated_error(units, magnitude, low);
            let error = if magnitude == 0.0 { 0.0 } else { error };
            let (least, most) = (high + (low - error), high + (low + error));
            *slot = least.to_le_bytes();
            is_open |= (least.to_bits() != most.to_bits()) | !least.is_finite();
        }
        *self.decided = !is_open;
    }
}
