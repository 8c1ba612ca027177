//! The magnitude of complex numbers of two f32.
use super::VectorLoop;
use super::instruction_set::{self, Task};
use crate::single::to_f32;

/// Elements whose results are checked together.
const BLOCK: usize = 512;
/// The bound of the relative error in f64: squares of f32 are exact there, their sum and its root
/// are rounded.
const ERROR: f64 = f64::EPSILON;

/// Returns the loop of `abs` from c64 to f32. It calls core-math where the bound of the error
/// leaves the rounding open.
pub fn magnitude_loop() -> VectorLoop {
    VectorLoop::new(|operands, result| {
        let numbers: &[[f32; 2]] = bytemuck::cast_slice(operands[0]);
        let result: &mut [f32] = bytemuck::cast_slice_mut(result);
        for (numbers, result) in numbers.chunks(BLOCK).zip(result.chunks_mut(BLOCK)) {
            let mut is_open = false;
            instruction_set::run(Magnitudes { numbers, result, is_open: &mut is_open });
            let each = numbers.iter().zip(result).filter(|_| is_open);
            for (&[re, im], result) in each {
                if bounds(re, im).is_open() {
                    *result = core_math::hypotf(re, im);
                }
            }
        }
    })
}

struct Magnitudes<'a> {
    numbers: &'a [[f32; 2]],
    result: &'a mut [f32],
    is_open: &'a mut bool,
}

impl Task for Magnitudes<'_> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let mut is_open = false;
        for (result, &[re, im]) in self.result.iter_mut().zip(self.numbers) {
            let bounds = bounds(re, im);
            *result = bounds.0;
            is_open |= bounds.is_open();
        }
        *self.is_open = is_open;
    }
}

/// The f32 nearest to bounds of a magnitude.
struct Bounds(f32, f32);

impl Bounds {
    #[inline(always)]
    fn is_open(&self) -> bool {
        // An infinity may be the magnitude of an infinite part and a NaN.
        (self.0.to_bits() != self.1.to_bits()) | !self.0.is_finite()
    }
}

#[inline(always)]
fn bounds(re: f32, im: f32) -> Bounds {
    let (re, im) = (f64::from(re), f64::from(im));
    let magnitude = (re * re + im * im).sqrt();
    Bounds(to_f32(magnitude - magnitude * ERROR), to_f32(magnitude + magnitude * ERROR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnitudes_are_correctly_rounded() {
        let special =
            [0.0, -0.0, 1.0, -3.0, 4.0, 1e-45, 1e-38, 3e38, f32::MAX, f32::INFINITY, f32::NAN];
        let mut numbers: Vec<[f32; 2]> =
            special.iter().flat_map(|&re| special.map(|im| [re, im])).collect();
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state
        };
        numbers.extend((0..20_000).map(|_| [f32::from_bits(next()), f32::from_bits(next())]));
        // Parts of few bits, whose magnitudes may be halfway between two numbers.
        numbers
            .extend((0..20_000).map(|_| [next(), next()].map(|x| f32::from(x.to_be_bytes()[0]))));
        let mut found = vec![0f32; numbers.len()];
        magnitude_loop()(&[bytemuck::cast_slice(&numbers)], bytemuck::cast_slice_mut(&mut found));
        for ([re, im], found) in numbers.into_iter().zip(found) {
            let expected = core_math::hypotf(re, im);
            let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(same, "{re:e} {im:e}: {found:e}, {expected:e}");
        }
    }
}
