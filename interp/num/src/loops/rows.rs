//! Folds of rows of neighbors by ops whose order is of no importance, in types of the processor.
use super::Each;
use super::instruction_set::{self, Task};
use super::narrow::{Narrow, narrow_type, of_place, place};
use super::native_types::{with_integer, with_type};
use crate::float_functions::{double, single};
use bytemuck::Pod;
use hlo::op::Binary;
use hlo::{Class, ElementType};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// A loop that folds each row of so many elements, at least one, and a first value if there is one:
/// the elements, the elements of a row, the first value, and the results, all as bytes that are
/// aligned for their type.
pub type RowsFn = dyn Fn(&[u8], usize, Option<&[u8]>, &mut [u8]) + Send + Sync;

/// Elements whose places are folded together.
const PLACES: usize = 1 << 10;
/// Bytes that are folded at once, of long rows.
const BYTES: usize = 128;
/// Elements of a long row that are folded with those of others, and the number of these rows.
const FEW: usize = 4;
const TOGETHER: usize = 32;

/// Returns the loop of an op; `None` if its order is of importance, or there is none.
#[expect(clippy::wildcard_enum_match_arm, reason = "other ops have an order")]
pub fn rows_loop(op: Binary, ty: ElementType) -> Option<Arc<RowsFn>> {
    use Binary::{Add, And, Maximum, Minimum, Multiply, Or, Xor};
    let is_integer = [Class::Signed, Class::Unsigned].contains(&ty.class());
    macro_rules! unsigned {
        ($($op:ident $function:expr;)*) => {
            // The bits of a result do not depend on the sign.
            match (op, is_integer.then(|| ty.storage_bytes())) {
                $(
                    (Binary::$op, Some(1)) if ty.bits() == 8 => return Some(rows::<u8>($function)),
                    (Binary::$op, Some(2)) => return Some(rows::<u16>($function)),
                    (Binary::$op, Some(4)) => return Some(rows::<u32>($function)),
                    (Binary::$op, Some(8)) => return Some(rows::<u64>($function)),
                )*
                _ => {}
            }
        };
    }
    unsigned! {
        Add |[a, b]| a.wrapping_add(b);
        Multiply |[a, b]| a.wrapping_mul(b);
        And |[a, b]| a & b;
        Or |[a, b]| a | b;
        Xor |[a, b]| a ^ b;
    }
    macro_rules! extremes {
        ($ty:ty: $max:expr, $min:expr $(, $product:expr)?) => {
            match op {
                $(Multiply => return Some(rows::<$ty>($product)),)?
                Maximum => return Some(rows::<$ty>($max)),
                Minimum => return Some(rows::<$ty>($min)),
                _ => return None,
            }
        };
    }
    with_integer!(ty, T => extremes!(T: |[a, b]| a.max(b), |[a, b]| a.min(b)));
    with_type!(ty, T => extremes!(T:
        |[a, b]| single::max(a, b), |[a, b]| single::min(a, b), |[a, b]| a * b
    ), [f32]);
    with_type!(ty, T => extremes!(T:
        |[a, b]| double::max(a, b), |[a, b]| double::min(a, b), |[a, b]| a * b
    ), [f64]);
    narrow_type!(ty, T => match op {
        Maximum => return Some(by_places::<T>(i16::MAX, |[a, b]| a.max(b))),
        Minimum => return Some(by_places::<T>(i16::MIN, |[a, b]| a.min(b))),
        _ => return None,
    });
    match op {
        And | Multiply | Minimum if ty == ElementType::Pred => Some(rows::<u8>(|[a, b]| a & b)),
        Or | Add | Maximum if ty == ElementType::Pred => Some(rows::<u8>(|[a, b]| a | b)),
        Xor if ty == ElementType::Pred => Some(rows::<u8>(|[a, b]| a ^ b)),
        _ => None,
    }
}

/// Returns the loop of an op on the places of floats of 16 bits in the order of numbers.
fn by_places<T: Narrow>(
    of_nan: i16,
    function: impl Fn([i16; 2]) -> i16 + Copy + Send + Sync + 'static,
) -> Arc<RowsFn> {
    Arc::new(move |elements, inner, first, to| {
        let elements: &[u16] = bytemuck::cast_slice(elements);
        let to: &mut [i16] = bytemuck::cast_slice_mut(to);
        let first = first.map(|first| place::<T>(*bytemuck::from_bytes(first), of_nan));
        let together = (PLACES / inner).max(1);
        let mut places: SmallVec<[i16; PLACES]> =
            smallvec![0; elements.len().min(together * inner)];
        for (rows, to) in elements.chunks(together * inner).zip(to.chunks_mut(together)) {
            let places = &mut places[..rows.len()];
            let of = |[x]: [u16; 1]| place::<T>(x, of_nan);
            instruction_set::run(Each { operands: [rows], result: &mut *places, function: of });
            instruction_set::run(Rows { elements: places, inner, first, to, function });
        }
        for x in to {
            *x = of_place(*x).cast_signed();
        }
    })
}

fn rows<T: Pod>(function: impl Fn([T; 2]) -> T + Copy + Send + Sync + 'static) -> Arc<RowsFn> {
    Arc::new(move |elements, inner, first, to| {
        instruction_set::run(Rows {
            elements: bytemuck::cast_slice(elements),
            inner,
            first: first.map(|first| *bytemuck::from_bytes(first)),
            to: bytemuck::cast_slice_mut(to),
            function,
        });
    })
}

struct Rows<'a, T, F> {
    elements: &'a [T],
    inner: usize,
    first: Option<T>,
    to: &'a mut [T],
    function: F,
}

impl<T: Pod, F: Fn([T; 2]) -> T> Task for Rows<'_, T, F> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { elements, inner, first, to, function } = self;
        let function = &function;
        match inner.min(BYTES / size_of::<T>()) {
            1 => to.copy_from_slice(elements),
            2 => short::<T, 2>(elements, to, function),
            3 => short::<T, 3>(elements, to, function),
            4 => short::<T, 4>(elements, to, function),
            5 => short::<T, 5>(elements, to, function),
            6 => short::<T, 6>(elements, to, function),
            7 => short::<T, 7>(elements, to, function),
            8..16 => long::<T, 8>(elements, inner, to, function),
            16..32 => long::<T, 16>(elements, inner, to, function),
            32..64 => long::<T, 32>(elements, inner, to, function),
            64..128 => long::<T, 64>(elements, inner, to, function),
            _ => long::<T, 128>(elements, inner, to, function),
        }
        if let Some(first) = first {
            for x in to {
                *x = function([first, *x]);
            }
        }
    }
}

#[inline(always)]
fn short<T: Pod, const N: usize>(elements: &[T], to: &mut [T], function: &impl Fn([T; 2]) -> T) {
    for (row, slot) in elements.as_chunks::<N>().0.iter().zip(to) {
        let mut all = row[0];
        for x in &row[1..] {
            all = function([all, *x]);
        }
        *slot = all;
    }
}

/// Folds rows of at least `N` elements, each until few are left; the few of some rows are folded
/// together.
#[inline(always)]
fn long<T: Pod, const N: usize>(
    elements: &[T],
    inner: usize,
    to: &mut [T],
    function: &impl Fn([T; 2]) -> T,
) {
    let mut left = [[T::zeroed(); FEW]; TOGETHER];
    for (group, to) in to.chunks_mut(TOGETHER).enumerate() {
        for (row, left) in (group * TOGETHER..).zip(&mut left[..to.len()]) {
            let row = &elements[row * inner..];
            let (blocks, rest) = row[..inner].as_chunks::<N>();
            let Some((first, blocks)) = blocks.split_first() else { continue };
            let mut all = *first;
            for block in blocks {
                for i in 0..N {
                    all[i] = function([all[i], block[i]]);
                }
            }
            if !rest.is_empty() {
                // What follows the row, or anything, is folded and left.
                let mut last = [T::zeroed(); N];
                match row[inner - rest.len()..].first_chunk::<N>() {
                    Some(block) => last = *block,
                    None => last[..rest.len()].copy_from_slice(rest),
                }
                for i in 0..N {
                    let folded = function([all[i], last[i]]);
                    all[i] = if i < rest.len() { folded } else { all[i] };
                }
            }
            let mut half = N / 2;
            while half >= FEW {
                for i in 0..half {
                    all[i] = function([all[i], all[i + half]]);
                }
                half /= 2;
            }
            left.copy_from_slice(&all[..FEW]);
        }
        short::<T, FEW>(left[..to.len()].as_flattened(), to, function);
    }
}
