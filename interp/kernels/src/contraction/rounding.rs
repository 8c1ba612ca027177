//! The loops from the sums of a tile to elements of the result.
use super::operands::single;
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
