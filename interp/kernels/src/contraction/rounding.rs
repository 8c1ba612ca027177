//! The loops from the sums of a tile to elements of the result.
use super::error_bound::ErrorBound;
use super::operands::single;
use num::exact::two_sum;
use num::loops::Narrow;
use num::loops::instruction_set::Task;

/// Returns an f32 rounded to a type, and whether numbers near it may round to another element.
#[inline(always)]
pub(super) fn to_f32(x: f32) -> ([u8; 4], bool) {
    (x.to_le_bytes(), x.is_nan())
}

/// Rounding to f32 first keeps the order. It may make a tie, which then counts as undecided.
#[inline(always)]
pub(super) fn to_narrow<T: Narrow>(x: f32) -> ([u8; 2], bool) {
    (bytemuck::cast(T::rounded(x)), T::may_be_tie(x) | x.is_nan())
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

impl<const N: usize, F: Fn(f32) -> ([u8; N], bool)> Task for Round<'_, N, F> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        const CHUNK: usize = 8;
        let (slots, _) = self.slots.as_chunks_mut::<N>();
        let (chunks, rest) = slots.as_chunks_mut::<CHUNK>();
        let (sums, last_sums) = self.sums.as_chunks::<CHUNK>();
        let (norms, last_norms) = self.norms.as_chunks::<CHUNK>();
        let one = |low: f32, high: f32, slot: &mut [u8; N]| {
            let (low, is_low_open) = (self.element)(low);
            let (high, is_high_open) = (self.element)(high);
            *slot = low;
            (low != high) | is_low_open | is_high_open
        };
        let mut open = [false; CHUNK];
        for ((slots, sums), norms) in chunks.iter_mut().zip(sums).zip(norms) {
            // Loops of one step each become vectors.
            let errors = norms.map(|norm| self.error * norm);
            let (mut low, mut high) = ([0.0; CHUNK], [0.0; CHUNK]);
            for i in 0..CHUNK {
                low[i] = single(sums[i] - errors[i]);
            }
            for i in 0..CHUNK {
                high[i] = single(sums[i] + errors[i]);
            }
            for i in 0..CHUNK {
                open[i] |= one(low[i], high[i], &mut slots[i]);
            }
        }
        let mut is_open = open.contains(&true);
        let at = chunks.len();
        let (sums, norms) =
            (sums.get(at).map_or(last_sums, |x| x), norms.get(at).map_or(last_norms, |x| x));
        for ((slot, &sum), &norm) in rest.iter_mut().zip(sums).zip(norms) {
            let error = self.error * norm;
            is_open |= one(single(sum - error), single(sum + error), slot);
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
