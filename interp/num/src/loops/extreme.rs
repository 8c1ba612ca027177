//! The extreme of each row of numbers, with the least index of those that equal it.
use super::instruction_set::{self, Task};
use super::narrow::{narrow_type, place};
use super::native_types::with_type;
use super::rows::{RowsFn, rows_loop};
use crate::scalar_program::Extreme;
use bytemuck::Pod;
use hlo::ElementType;
use hlo::op::Binary;
use std::convert::identity;
use std::sync::Arc;

/// A loop over rows of so many numbers and their indices; it writes a number and an index of each.
pub type ExtremeFn = dyn Fn([&[u8]; 2], usize, [&mut [u8]; 2]) + Send + Sync;

/// Elements that are compared at once.
const LANES: usize = 16;

/// Returns the loop for these types of numbers and indices; `None` if there is none.
pub fn extreme_loop(extreme: Extreme, [value, index]: [ElementType; 2]) -> Option<Arc<ExtremeFn>> {
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
