//! The elements of an iota.
use super::convert_loop;
use super::native_types::with_native;
use hlo::ElementType;
use std::sync::Arc;

/// Numbers that are converted together.
const STAGE: usize = 512;

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
        let convert = convert_loop(ElementType::S64, ty);
        let convert = convert.expect("s64 is a type of the processor, and this type is none");
        let width = ty.storage_bytes();
        Arc::new(move |first, result| {
            let mut numbers = [0; STAGE];
            for (stage, part) in result.chunks_mut(STAGE * width).enumerate() {
                let numbers = &mut numbers[..part.len() / width];
                self.fill(first + stage * STAGE, numbers, |number| number);
                convert(&[bytemuck::cast_slice(numbers)], part);
            }
        })
    }
    /// Wraps, as integers of 64 bits do.
    fn number(self, index: usize) -> i64 {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        self.start.wrapping_add(self.step.wrapping_mul(index))
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
