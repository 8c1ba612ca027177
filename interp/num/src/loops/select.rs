//! Selection between two arrays.
use super::VectorLoop;
use super::instruction_set::{self, Task};
use bytemuck::Pod;
use std::ops::{BitAnd, BitXor};

/// Returns the loop of `select` for elements of `width` bytes.
pub fn select_loop(width: usize) -> VectorLoop {
    match width {
        1 => of(u8::wrapping_neg),
        2 => of(u16::wrapping_neg),
        4 => of(u32::wrapping_neg),
        8 => of(u64::wrapping_neg),
        16 => of(u128::wrapping_neg),
        other => unreachable!("no element takes {other} bytes"),
    }
}

/// An unsigned integer, for the bits of elements.
pub(super) trait Word:
    Pod + From<bool> + BitAnd<Output = Self> + BitXor<Output = Self>
{
}
impl<T: Pod + From<bool> + BitAnd<Output = T> + BitXor<Output = T>> Word for T {}

fn of<T: Word>(negate: impl Fn(T) -> T + Copy + Send + Sync + 'static) -> VectorLoop {
    VectorLoop::new(move |operands, result| {
        let [on_true, on_false] = [1, 2].map(|k| bytemuck::cast_slice(operands[k]));
        let result = bytemuck::cast_slice_mut(result);
        instruction_set::run(Select { chosen: operands[0], on_true, on_false, result, negate });
    })
}

struct Select<'a, T, F> {
    chosen: &'a [u8],
    on_true: &'a [T],
    on_false: &'a [T],
    result: &'a mut [T],
    negate: F,
}

impl<T: Word, F: Fn(T) -> T> Task for Select<'_, T, F> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { chosen, on_true, on_false, result, negate } = self;
        let operands = on_true.iter().zip(on_false).zip(chosen);
        for (result, ((&on_true, &on_false), &chosen)) in result.iter_mut().zip(operands) {
            // The compiler does not vectorize `if`: it selects an address to load from.
            let mask = negate(T::from(chosen != 0));
            *result = on_false ^ ((on_true ^ on_false) & mask);
        }
    }
}
