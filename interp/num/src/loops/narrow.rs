//! Loops over bf16 and f16, by those over f32: blocks of elements are widened and rounded back.
use super::instruction_set;
use super::{Each, VectorLoop, elements};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use hlo::Scalar;
use hlo::literal::Native;

/// Elements that are widened together.
const STAGE: usize = 512;

/// The definition of a function, on elements in wide form.
pub(super) type ScalarDefinition<const N: usize> = Box<dyn Fn([Scalar; N]) -> Scalar + Send + Sync>;

/// A float type that f32 contains.
pub(super) trait Narrow: Native {
    fn widen(from: &[Self], to: &mut [f32]);
    /// Rounds to nearest even.
    fn round(from: &[f32], to: &mut [Self]);
    /// Returns false only if `x` is not halfway between two neighbors in the type.
    fn may_be_tie(x: f32) -> bool;
    fn scalar(self) -> Scalar;
    fn of_scalar(x: Scalar) -> Self;
}

/// Runs `$body` with `$name` the type, if it is bf16 or f16.
macro_rules! narrow_type {
    ($ty:expr, $name:ident => $body:expr) => {
        crate::loops::native_types::with_type!($ty, $name => $body, [half::bf16, half::f16])
    };
}
pub(super) use narrow_type;

/// 2^-14.
const SMALLEST_NORMAL_F16: f32 = f32::from_bits((127 - 14) << 23);
/// Makes a NaN quiet.
const QUIET: u32 = 1 << 22;

impl Narrow for bf16 {
    fn widen(from: &[Self], to: &mut [f32]) {
        let function = |[x]: [Self; 1]| {
            let bits = u32::from(x.to_bits()) << 16;
            let x = f32::from_bits(bits);
            if x.is_nan() { f32::from_bits(bits | QUIET) } else { x }
        };
        instruction_set::run(Each { operands: [from], result: to, function });
    }
    fn round(from: &[f32], to: &mut [Self]) {
        let function = |[x]: [f32; 1]| rounded_bf16(x);
        instruction_set::run(Each { operands: [from], result: to, function });
    }
    fn may_be_tie(x: f32) -> bool {
        x.to_bits() & 0xffff == 0x8000
    }
    fn scalar(self) -> Scalar {
        Scalar::Float(self.to_f64())
    }
    fn of_scalar(x: Scalar) -> Self {
        Self::from_f64(x.as_f64())
    }
}
/// Returns the nearest bf16, ties to even.
#[inline]
pub(super) fn rounded_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    bf16::from_bits(upper(if x.is_nan() { bits | QUIET } else { rounded }))
}
/// Returns a bf16 as f32. A NaN stays as it is, for [`rounded_bf16`] to make it quiet.
#[inline]
pub(super) fn widened_bf16(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}
#[inline]
#[expect(clippy::as_conversions, reason = "16 bits are left")]
fn upper(bits: u32) -> u16 {
    (bits >> 16) as u16
}

impl Narrow for f16 {
    fn widen(from: &[Self], to: &mut [f32]) {
        from.convert_to_f32_slice(to);
    }
    fn round(from: &[f32], to: &mut [Self]) {
        to.convert_from_f32_slice(from);
    }
    /// A number halfway between subnormal ones has at most 11 significant bits.
    fn may_be_tie(x: f32) -> bool {
        let low = x.to_bits() & 0x1fff;
        low == 0x1000 || (low == 0 && x.abs() < SMALLEST_NORMAL_F16 && x != 0.0)
    }
    fn scalar(self) -> Scalar {
        Scalar::Float(self.to_f64())
    }
    fn of_scalar(x: Scalar) -> Self {
        Self::from_f64(x.as_f64())
    }
}

/// Calls `stage` with the positions of blocks and their operands, widened.
fn each_stage<const N: usize, T: Narrow>(
    operands: &[&[u8]],
    count: usize,
    mut stage: impl FnMut(std::ops::Range<usize>, [&[T]; N], [&[u8]; N]),
) {
    let operands: [&[T]; N] = elements(operands);
    let mut wide = [[0.0; STAGE]; N];
    for first in (0..count).step_by(STAGE) {
        let range = first..count.min(first + STAGE);
        let operands = operands.map(|x| &x[range.clone()]);
        for (wide, x) in wide.iter_mut().zip(operands) {
            T::widen(x, &mut wide[..x.len()]);
        }
        let wide = std::array::from_fn(|k| bytemuck::cast_slice(&wide[k][..range.len()]));
        stage(range, operands, wide);
    }
}

/// Applies a loop over f32 and rounds its results again. Results that may be halfway between two
/// neighbors are computed by `definition`, if there is one: there rounding twice may be wrong, as
/// the f32 may itself be rounded.
pub(super) fn through_f32<const N: usize, T: Narrow>(
    single: VectorLoop,
    definition: Option<ScalarDefinition<N>>,
) -> VectorLoop {
    VectorLoop::new(move |operands, result| {
        let result: &mut [T] = bytemuck::cast_slice_mut(result);
        let mut wide_result = [0.0; STAGE];
        each_stage::<N, T>(operands, result.len(), |range, operands, wide| {
            let (result, wide_result) =
                (&mut result[range.clone()], &mut wide_result[..range.len()]);
            single(&wide, bytemuck::cast_slice_mut(wide_result));
            T::round(wide_result, result);
            let Some(definition) = &definition else { return };
            // Without an early end the loop is vectorized; nearly always there is none.
            if !wide_result.iter().fold(false, |any, &x| any | T::may_be_tie(x)) {
                return;
            }
            for (i, _) in wide_result.iter().enumerate().filter(|(_, x)| T::may_be_tie(**x)) {
                result[i] = T::of_scalar(definition(operands.map(|x| x[i].scalar())));
            }
        });
    })
}

/// Applies a loop from f32 to a type of `width` bytes.
pub(super) fn widened<const N: usize, T: Narrow>(single: VectorLoop, width: usize) -> VectorLoop {
    VectorLoop::new(move |operands, result| {
        each_stage::<N, T>(operands, result.len() / width, |range, _, wide| {
            single(&wide, &mut result[range.start * width..range.end * width]);
        });
    })
}

/// Applies a loop to f32 from a type of `width` bytes and rounds its results again; they are exact,
/// or rounded to odd.
pub(super) fn rounded<T: Narrow>(single: VectorLoop, width: usize) -> VectorLoop {
    VectorLoop::new(move |operands, result| {
        let result: &mut [T] = bytemuck::cast_slice_mut(result);
        let mut wide = [0.0; STAGE];
        for (result, x) in result.chunks_mut(STAGE).zip(operands[0].chunks(STAGE * width)) {
            let wide = &mut wide[..result.len()];
            single(&[x], bytemuck::cast_slice_mut(wide));
            T::round(wide, result);
        }
    })
}
