//! Folds of rows by an op that gives the same result in any order, and if it is given an element again.
use super::instruction_set::{self, Task};
use super::narrow::{rounded_bf16, widened_bf16};
use super::table::with_type;
use crate::num::float_functions::{double, single};
use bytemuck::Pod;
use half::bf16;
use hlo::ElementType;
use hlo::op::Binary;

/// Folds elements into the value of the result.
pub(crate) type FoldLoop = fn(&[u8], &mut [u8]);

/// Elements that are folded at once, in several vectors: none waits for the one before.
const LANES: usize = 64;
/// The same of the last ones.
const LAST: usize = 16;

/// Returns the fold to the largest or the smallest of f32, f64 and bf16.
pub(crate) fn fold_loop(op: Binary, ty: ElementType) -> Option<FoldLoop> {
    macro_rules! of {
        ($function:ident) => {
            with_type!(ty, T => return Some(|row, to| fold::<T>(row, to, single::$function)), [f32]);
            with_type!(ty, T => return Some(|row, to| fold::<T>(row, to, double::$function)), [f64]);
            with_type!(ty, T => return Some(|row, to| fold::<T>(row, to, |a, b| {
                rounded_bf16(single::$function(widened_bf16(a), widened_bf16(b)))
            })), [bf16]);
        };
    }
    if op == Binary::Maximum {
        of!(max);
    }
    if op == Binary::Minimum {
        of!(min);
    }
    None
}

fn fold<T: Pod>(row: &[u8], to: &mut [u8], function: impl Fn(T, T) -> T) {
    if let [to] = bytemuck::cast_slice_mut(to) {
        instruction_set::run(Fold { row: bytemuck::cast_slice(row), to, function });
    }
}

struct Fold<'a, T, F> {
    row: &'a [T],
    to: &'a mut T,
    function: F,
}

impl<T: Pod, F: Fn(T, T) -> T> Task for Fold<'_, T, F> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { row, to, function } = self;
        let (blocks, rest) = row.as_chunks::<LANES>();
        let (vectors, last) = rest.as_chunks::<LAST>();
        let mut lanes = [*to; LANES];
        for block in blocks {
            for i in 0..LANES {
                lanes[i] = function(lanes[i], block[i]);
            }
        }
        let mut sum = [*to; LAST];
        for vector in lanes.as_chunks::<LAST>().0.iter().chain(vectors) {
            for i in 0..LAST {
                sum[i] = function(sum[i], vector[i]);
            }
        }
        *to = sum.iter().chain(last).fold(*to, |to, &x| function(to, x));
    }
}
