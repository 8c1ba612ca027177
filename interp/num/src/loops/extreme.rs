//! The extreme of each row or column of numbers, with the least index of those that equal it.
use super::instruction_set::{self, Task};
use super::narrow::{Narrow, narrow_type, place};
use super::native_types::{with_native, with_type};
use super::rows::{RowsFn, rows_loop};
use crate::scalar_program::Extreme;
use bytemuck::Pod;
use hlo::ElementType;
use hlo::op::Binary;
use std::convert::identity;
use std::ops::Range;
use std::sync::Arc;

/// A loop over numbers and their indices, by a distance; it writes numbers and indices.
pub(super) type ExtremeFn = dyn Fn([&[u8]; 2], usize, [&mut [u8]; 2]) + Send + Sync;

/// Elements that are compared at once, and the same of the last ones.
const LANES: usize = 16;
const FEW: usize = 4;
/// Rows of which some lanes are compared in a row.
const ROWS: usize = 16;

/// Loops over numbers and their indices.
pub struct ExtremeLoops {
    /// Writes the extreme of each row; the distance is that of rows, which follow one another.
    pub rows: Arc<ExtremeFn>,
    /// Compares what is there with the elements of columns, one after another; the distance is that
    /// of the elements of a column.
    pub columns: Arc<ExtremeFn>,
}

/// Returns the loops for these types of numbers and indices; `None` if there are none.
pub fn extreme_loops(extreme: Extreme, [value, index]: [ElementType; 2]) -> Option<ExtremeLoops> {
    let types = [if value == ElementType::Pred { ElementType::U8 } else { value }, index];
    let (rows, columns) = (extreme_rows(extreme, types)?, extreme_columns(extreme, types)?);
    Some(ExtremeLoops { rows, columns })
}

fn extreme_rows(extreme: Extreme, [value, index]: [ElementType; 2]) -> Option<Arc<ExtremeFn>> {
    let op = if extreme.is_largest { Binary::Maximum } else { Binary::Minimum };
    let best = rows_loop(op, value)?;
    let rows = (best, extreme.keeps_first, index);
    // Equal integers have the same bits.
    match value.storage_bytes() {
        _ if value.is_float() => {}
        1 => return of::<u8, _>(rows, identity, |_| false),
        2 => return of::<u16, _>(rows, identity, |_| false),
        4 => return of::<u32, _>(rows, identity, |_| false),
        _ => return of::<u64, _>(rows, identity, |_| false),
    }
    with_type!(value, T => return of::<T, _>(rows, identity, T::is_nan), [f32, f64]);
    narrow_type!(value, T => {
        let number = |x: u16| {
            let place = place::<T>(x, i16::MAX);
            place - (place >> 15)
        };
        return of(rows, number, move |x| number(x) == i16::MAX);
    });
    None
}
fn of<T: Pod, K: PartialEq>(
    rows: (Arc<RowsFn>, bool, ElementType),
    key: impl Fn(T) -> K + Copy + Send + Sync + 'static,
    is_nan: impl Fn(T) -> bool + Copy + Send + Sync + 'static,
) -> Option<Arc<ExtremeFn>> {
    with_type!(rows.2, I => {
        return Some(of_indices::<T, I, K>(rows.0, rows.1, key, is_nan));
    }, [i32, i64, u32]);
    None
}

/// An integer that is an index.
trait Index: Pod + Ord {
    const MOST: Self;
    /// Returns the integer, or the largest one if it is not chosen.
    fn chosen(self, is: bool) -> Self;
}
macro_rules! indices {
    ($($ty:ident)*) => {$(impl Index for $ty {
        const MOST: Self = Self::MAX;
        #[inline(always)]
        fn chosen(self, is: bool) -> Self {
            // The compiler does not vectorize `if`: it loads elements one by one.
            let mask = Self::from(is).wrapping_neg();
            (self & mask) | (Self::MAX & !mask)
        }
    })*};
}
indices! { i32 i64 u32 }

fn of_indices<T: Pod, I: Index, K: PartialEq>(
    best: Arc<RowsFn>,
    keeps_first: bool,
    key: impl Fn(T) -> K + Copy + Send + Sync + 'static,
    is_nan: impl Fn(T) -> bool + Copy + Send + Sync + 'static,
) -> Arc<ExtremeFn> {
    Arc::new(move |operands, inner, [numbers, indices]| {
        best(operands[0], inner, None, numbers);
        let [values, places] = operands;
        let (values, places): (&[T], &[I]) =
            (bytemuck::cast_slice(values), bytemuck::cast_slice(places));
        let (numbers, indices): (&mut [T], &mut [I]) =
            (bytemuck::cast_slice_mut(numbers), bytemuck::cast_slice_mut(indices));
        instruction_set::run(Rows { values, places, inner, numbers, indices, key });
        // NaN is the extreme wherever it is, and zeros that are equal differ.
        let rows = values.chunks_exact(inner).zip(places.chunks_exact(inner));
        for ((row, places), (number, index)) in rows.zip(numbers.iter_mut().zip(indices)) {
            if is_nan(*number) {
                if let Some(at) = row.iter().position(|&x| is_nan(x)) {
                    (*number, *index) = (row[at], places[at]);
                }
            } else if key(*number) == key(T::zeroed()) {
                let mut equal = row.iter().filter(|x| key(**x) == key(T::zeroed()));
                let zero = if keeps_first { equal.next() } else { equal.next_back() };
                *number = zero.copied().unwrap_or(*number);
            }
        }
    })
}

struct Rows<'a, T, I, F> {
    values: &'a [T],
    places: &'a [I],
    inner: usize,
    numbers: &'a [T],
    indices: &'a mut [I],
    key: F,
}

impl<T: Pod, I: Index, K: PartialEq, F: Fn(T) -> K> Task for Rows<'_, T, I, F> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { values, places, inner, numbers, indices, key } = self;
        let rows = values.chunks_exact(inner).zip(places.chunks_exact(inner));
        for ((row, places), (number, index)) in rows.zip(numbers.iter().zip(indices)) {
            let number = key(*number);
            let mut least = [I::MOST; LANES];
            let (blocks, rest) = row.as_chunks::<LANES>();
            let (of_blocks, of_rest) = places.as_chunks::<LANES>();
            for (block, places) in blocks.iter().zip(of_blocks) {
                for i in 0..LANES {
                    least[i] = least[i].min(places[i].chosen(key(block[i]) == number));
                }
            }
            let mut all = I::MOST;
            for (&x, &place) in rest.iter().zip(of_rest) {
                all = all.min(place.chosen(key(x) == number));
            }
            *index = least.iter().fold(all, |all, &x| all.min(x));
        }
    }
}

/// A number that has an order.
trait Compared: Pod {
    /// Returns the number in the opposite order if that is asked for.
    fn turned(self, is: bool) -> Self;
    /// Returns whether the number is chosen before another one, of which the largest are.
    fn is_before(self, other: Self) -> bool;
    /// Returns whether the numbers are equal.
    fn equals(self, other: Self) -> bool;
}
macro_rules! integers {
    ($($ty:ident)*) => {$(impl Compared for $ty {
        #[inline(always)]
        fn turned(self, is: bool) -> Self {
            self ^ Self::from(is).wrapping_neg()
        }
        #[inline(always)]
        fn is_before(self, other: Self) -> bool {
            self > other
        }
        #[inline(always)]
        fn equals(self, other: Self) -> bool {
            self == other
        }
    })*};
}
macro_rules! floats {
    ($($ty:ident $bits:ident)*) => {$(impl Compared for $ty {
        #[inline(always)]
        fn turned(self, is: bool) -> Self {
            Self::from_bits(self.to_bits() ^ $bits::from(is) << ($bits::BITS - 1))
        }
        #[inline(always)]
        fn is_before(self, other: Self) -> bool {
            (self > other) | (self.is_nan() & !other.is_nan())
        }
        #[inline(always)]
        fn equals(self, other: Self) -> bool {
            (self >= other) & (self <= other)
        }
    })*};
}
integers! { i8 i16 i32 i64 u8 u16 u32 u64 }
floats! { f32 u32 f64 u64 }

fn extreme_columns(extreme: Extreme, [value, index]: [ElementType; 2]) -> Option<Arc<ExtremeFn>> {
    with_native!(value, T => return columns_of::<T, T>(extreme, index, |x| x));
    // Zeros are equal, and NaN is before all numbers.
    narrow_type!(value, T => return columns_of::<u16, f32>(extreme, index, |x| {
        <T as Narrow>::wide(bytemuck::cast(x))
    }));
    None
}
fn columns_of<T: Pod, N: Compared>(
    extreme: Extreme,
    index: ElementType,
    number: impl Fn(T) -> N + Copy + Send + Sync + 'static,
) -> Option<Arc<ExtremeFn>> {
    with_type!(index, I => return Some(Arc::new(move |operands, step, [numbers, indices]| {
        let [values, places] = operands;
        instruction_set::run(Columns::<T, I, _> {
            values: bytemuck::cast_slice(values),
            places: bytemuck::cast_slice(places),
            step,
            numbers: bytemuck::cast_slice_mut(numbers),
            indices: bytemuck::cast_slice_mut(indices),
            extreme,
            number,
        });
    })), [i32, i64, u32]);
    None
}

struct Columns<'a, T, I, F> {
    values: &'a [T],
    places: &'a [I],
    /// The distance of rows, of which each has an element of all columns.
    step: usize,
    numbers: &'a mut [T],
    indices: &'a mut [I],
    extreme: Extreme,
    number: F,
}

impl<T: Pod, I: Index, N: Compared, F: Fn(T) -> N> Task for Columns<'_, T, I, F> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(mut self) {
        let (lanes, together) = (self.numbers.len(), ROWS * self.step);
        for first in (0..=self.values.len() - lanes).step_by(together) {
            let end = self.values.len().min(first + together - self.step + lanes);
            let mut lane = 0;
            while lane + LANES <= lanes {
                self.lanes::<LANES>(first + lane..end, lane);
                lane += LANES;
            }
            while lane + FEW <= lanes {
                self.lanes::<FEW>(first + lane..end, lane);
                lane += FEW;
            }
            (lane..lanes).for_each(|lane| self.lanes::<1>(first + lane..end, lane));
        }
    }
}

impl<T: Pod, I: Index, N: Compared, F: Fn(T) -> N> Columns<'_, T, I, F> {
    /// Compares some lanes with the elements of rows.
    #[inline(always)]
    fn lanes<const L: usize>(&mut self, range: Range<usize>, lane: usize) {
        let Self { values, places, step, numbers, indices, extreme, number } = self;
        let (Some(numbers), Some(indices)) =
            (numbers[lane..].first_chunk_mut::<L>(), indices[lane..].first_chunk_mut::<L>())
        else {
            return;
        };
        let (mut of, mut at) = (*numbers, *indices);
        let rows = values[range.clone()].chunks(*step).zip(places[range].chunks(*step));
        for (values, places) in rows {
            let (Some(values), Some(places)) =
                (values.first_chunk::<L>(), places.first_chunk::<L>())
            else {
                continue;
            };
            for i in 0..L {
                let [now, next] = [of[i], values[i]].map(|x| number(x).turned(!extreme.is_largest));
                let (is_before, is_equal) = (next.is_before(now), next.equals(now));
                of[i] =
                    if is_before || (is_equal && !extreme.keeps_first) { values[i] } else { of[i] };
                let least = places[i].min(at[i]);
                let kept = if is_equal { least } else { at[i] };
                at[i] = if is_before { places[i] } else { kept };
            }
        }
        (*numbers, *indices) = (of, at);
    }
}
