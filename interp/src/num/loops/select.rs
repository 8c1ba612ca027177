//! Selection between two arrays.
use super::Loop;
use super::instruction_set::{self, Task};
use bytemuck::Pod;

/// Returns the loop of `select` for elements of `width` bytes.
pub(crate) fn select_loop(width: usize) -> Loop {
    match width {
        1 => of::<u8>(),
        2 => of::<u16>(),
        4 => of::<u32>(),
        8 => of::<u64>(),
        16 => of::<u128>(),
        other => unreachable!("no element takes {other} bytes"),
    }
}

fn of<T: Pod>() -> Loop {
    Box::new(|operands, result| {
        let [on_true, on_false] = [1, 2].map(|k| bytemuck::cast_slice(operands[k]));
        let result: &mut [T] = bytemuck::cast_slice_mut(result);
        instruction_set::run(Select { chosen: operands[0], on_true, on_false, result });
    })
}

struct Select<'a, T> {
    chosen: &'a [u8],
    on_true: &'a [T],
    on_false: &'a [T],
    result: &'a mut [T],
}

impl<T: Copy> Task for Select<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { chosen, on_true, on_false, result } = self;
        let operands = on_true.iter().zip(on_false).zip(chosen);
        for (result, ((&on_true, &on_false), &chosen)) in result.iter_mut().zip(operands) {
            *result = if chosen == 0 { on_false } else { on_true };
        }
    }
}
