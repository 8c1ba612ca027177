//! The elements of an iota.
use super::native_types::with_native;
use hlo::{ElementType, Scalar};
use std::sync::Arc;

/// A function that writes consecutive elements, from one of this number on.
pub type WriteElements = Arc<dyn Fn(usize, &mut [u8]) + Send + Sync>;

/// Element `i` is `start + step * (i / stride % size)`.
#[derive(Debug, Clone, Copy)]
pub struct Progression {
    /// The first number.
    pub start: i64,
    /// The difference of neighbors along the dimension.
    pub step: i64,
    /// Elements between neighbors along the dimension.
    pub stride: usize,
    /// The size of the dimension.
    pub size: usize,
}

impl Progression {
    /// Returns the function for elements of this type.
    #[allow(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        trivial_numeric_casts,
        reason = "as `convert` from s64: integers wrap, floats are rounded to nearest even"
    )]
    pub fn numbers(self, ty: ElementType) -> WriteElements {
        with_native!(ty, A => return Arc::new(move |first, result| {
            self.fill(first, bytemuck::cast_slice_mut::<u8, A>(result), |number| number as A);
        }));
        let width = ty.storage_bytes();
        Arc::new(move |first, result| {
            let indices = self.indices(first);
            for (slot, index) in result.chunks_exact_mut(width).zip(indices) {
                let number = Scalar::Signed(self.number(index));
                number.convert(ElementType::S64, ty).write(ty, slot);
            }
        })
    }
    /// Wraps, as integers of 64 bits do.
    fn number(self, index: usize) -> i64 {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        self.start.wrapping_add(self.step.wrapping_mul(index))
    }
    fn indices(self, first: usize) -> impl Iterator<Item = usize> {
        (first..).map(move |i| i / self.stride % self.size)
    }

    fn fill<A: Copy>(self, first: usize, mut result: &mut [A], convert: impl Fn(i64) -> A) {
        // The elements before the next change of the number, or of its direction.
        let mut at = first;
        while !result.is_empty() {
            let index = at / self.stride % self.size;
            let count = match self.stride {
                1 => self.size - index,
                stride => stride - at % stride,
            };
            let (run, rest) = result.split_at_mut(count.min(result.len()));
            let start = self.number(index);
            if self.stride == 1 {
                let mut number = start;
                for slot in run.iter_mut() {
                    *slot = convert(number);
                    number = number.wrapping_add(self.step);
                }
            } else {
                run.fill(convert(start));
            }
            at += run.len();
            result = rest;
        }
    }
}
