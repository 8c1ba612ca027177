//! The magnitude of complex numbers of two f32.
use super::VectorLoop;
use super::formula::{Formula, of};
use crate::single::to_f32;

/// The bound of the relative error in f64: squares of f32 are exact there, their sum and its root
/// are rounded.
const ERROR: f64 = f64::EPSILON;

/// Returns the loop of `abs` from c64 to f32. It calls core-math where the bound of the error
/// leaves the rounding open.
pub(super) fn magnitude_loop() -> VectorLoop {
    of::<1, Magnitude>()
}

struct Magnitude;

impl Formula<1> for Magnitude {
    type Of = [f32; 2];
    type Result = f32;
    #[inline(always)]
    fn formula([[re, im]]: [[f32; 2]; 1]) -> (f32, u32) {
        let (re, im) = (f64::from(re), f64::from(im));
        let magnitude = (re * re + im * im).sqrt();
        let low = to_f32(magnitude - magnitude * ERROR);
        let high = to_f32(magnitude + magnitude * ERROR);
        // An infinity may be the magnitude of an infinite part and a NaN.
        (low, u32::from((low.to_bits() != high.to_bits()) | !low.is_finite()))
    }
    fn definition([[re, im]]: [[f32; 2]; 1]) -> f32 {
        core_math::hypotf(re, im)
    }
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
