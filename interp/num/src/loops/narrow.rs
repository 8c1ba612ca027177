//! Loops over floats narrower than f32, by those over f32: blocks of elements are widened and rounded back.
use super::instruction_set;
use super::{Each, VectorLoop, convert_loop, each, elements, pair};
use half::{bf16, f16};
use hlo::literal::Native;
use hlo::op::{Binary, Unary};
use hlo::{ElementType, Scalar};

/// Elements that are widened together.
const STAGE: usize = 128;

/// The definition of a function, on elements in wide form.
pub(super) type ScalarDefinition<const N: usize> = Box<dyn Fn([Scalar; N]) -> Scalar + Send + Sync>;

/// A float type that f32 contains.
pub trait Narrow: Native {
    /// The bits of infinity.
    const INFINITY: u16;
    /// The bit that makes a NaN quiet.
    const QUIET: u16;
    /// Returns the number. A NaN stays as it is, for [`Narrow::rounded`] to make it quiet.
    fn wide(self) -> f32;
    /// Returns the nearest number, ties to even.
    fn rounded(x: f32) -> Self;
    /// Returns false only if `x` is not halfway between two neighbors in the type.
    fn may_be_tie(x: f32) -> bool;
    /// Returns the number as a scalar.
    fn scalar(self) -> Scalar;
    /// Returns the nearest number to a scalar.
    fn of_scalar(x: Scalar) -> Self;
    /// Returns the number, with a NaN quiet.
    #[inline(always)]
    fn quiet(self) -> f32 {
        let x = self.wide();
        if x.is_nan() { f32::from_bits(x.to_bits() | QUIET) } else { x }
    }
    /// Writes the numbers, with NaNs quiet.
    fn widen(from: &[Self], to: &mut [f32]) {
        let function = |[x]: [Self; 1]| x.quiet();
        instruction_set::run(Each { operands: [from], result: to, function });
    }
    /// Writes the nearest numbers.
    fn round(from: &[f32], to: &mut [Self]) {
        let function = |[x]: [f32; 1]| Self::rounded(x);
        instruction_set::run(Each { operands: [from], result: to, function });
    }
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
    const INFINITY: u16 = 0x7f80;
    const QUIET: u16 = 0x40;
    #[inline(always)]
    fn wide(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
    #[inline(always)]
    fn rounded(x: f32) -> Self {
        let bits = x.to_bits();
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
        Self::from_bits(low_half((if x.is_nan() { bits | QUIET } else { rounded }) >> 16))
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
#[inline(always)]
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "drops the high bits")]
fn low_half(bits: u32) -> u16 {
    bits as u16
}

/// The difference of the biases of f32 and f16, in the exponent of f32.
const REBIAS: u32 = (127 - 15) << 23;

/// In operations on bits, which the compiler vectorizes for every processor.
impl Narrow for f16 {
    const INFINITY: u16 = 0x7c00;
    const QUIET: u16 = 0x200;
    #[inline(always)]
    fn wide(self) -> f32 {
        let bits = u32::from(self.to_bits());
        let size = (bits & 0x7fff) << 13;
        let normal = size + REBIAS;
        let number = if size >= 31 << 23 {
            normal + REBIAS
        } else if size < 1 << 23 {
            // 2^-14 and the mantissa, less 2^-14.
            (f32::from_bits(normal + (1 << 23)) - SMALLEST_NORMAL_F16).to_bits()
        } else {
            normal
        };
        f32::from_bits(number | (bits & 0x8000) << 16)
    }
    #[inline(always)]
    fn rounded(x: f32) -> Self {
        let (bits, size) = (x.to_bits(), x.abs().to_bits());
        let normal = size.wrapping_sub(REBIAS).wrapping_add(0xfff + (size >> 13 & 1)) >> 13;
        let number = if x.is_nan() {
            0x7e00 | (size >> 13 & 0x3ff)
        } else if x.abs() < SMALLEST_NORMAL_F16 {
            // Beside 0.5 the last bit of an f32 is that of a subnormal number.
            (x.abs() + 0.5).to_bits() - 0.5_f32.to_bits()
        } else {
            normal.min(0x7c00)
        };
        Self::from_bits(low_half(number | bits >> 16 & 0x8000))
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
        // One element may stand for all.
        let operands = operands.map(|x| if x.len() == count { &x[range.clone()] } else { x });
        for (wide, x) in wide.iter_mut().zip(operands) {
            T::widen(x, &mut wide[..x.len()]);
        }
        let wide = std::array::from_fn(|k| bytemuck::cast_slice(&wide[k][..operands[k].len()]));
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
    let takes_scalars = single.takes_scalars;
    let run = move |operands: &[&[u8]], result: &mut [u8]| {
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
                let element = |x: &[T]| if let [x] = x { x.scalar() } else { x[i].scalar() };
                result[i] = T::of_scalar(definition(operands.map(element)));
            }
        });
    };
    VectorLoop { takes_scalars, ..VectorLoop::new(run) }
}

/// Returns the place of a float of 16 bits, given as its bits, in the order of numbers; that of a NaN
/// is given.
#[inline(always)]
pub(super) fn place<T: Narrow>(bits: u16, of_nan: i16) -> i16 {
    let is_nan = bits & 0x7fff > T::INFINITY;
    if is_nan { of_nan } else { bits.cast_signed() ^ (bits.cast_signed() >> 15 & 0x7fff) }
}
/// Returns the bits of the float at a place.
#[inline(always)]
pub(super) fn of_place(place: i16) -> u16 {
    (place ^ (place >> 15 & 0x7fff)).cast_unsigned()
}

/// Returns the loop of an op that only changes the sign; `None` of others.
pub(super) fn sign_loop<T: Narrow>(op: Unary) -> Option<VectorLoop> {
    let of = |kept: u16, changed: u16| {
        each(move |[x]: [u16; 1]| {
            let is_nan = x & 0x7fff > T::INFINITY;
            (x & kept ^ changed) | if is_nan { T::QUIET } else { 0 }
        })
    };
    let abs = (op == Unary::Abs).then(|| of(0x7fff, 0));
    abs.or_else(|| (op == Unary::Negate).then(|| of(u16::MAX, 0x8000)))
}
/// Returns the loop of the larger or the smaller of two numbers; `None` of other ops.
pub(super) fn extreme_loop<T: Narrow>(op: Binary) -> Option<VectorLoop> {
    if op == Binary::Maximum {
        return Some(pair(|x: [u16; 2]| {
            let [a, b] = x.map(|x| place::<T>(x, i16::MAX));
            of_place(a.max(b))
        }));
    }
    (op == Binary::Minimum).then(|| {
        pair(|x: [u16; 2]| {
            let [a, b] = x.map(|x| place::<T>(x, i16::MIN));
            of_place(a.min(b))
        })
    })
}

/// Applies a loop over f32 to floats of at most a byte. Functions whose results f32 may round too
/// early are not computed so.
pub(super) fn bytes_through_f32<const N: usize>(
    single: VectorLoop,
    ty: ElementType,
) -> Option<VectorLoop> {
    let (widen, round) = (convert_loop(ty, ElementType::F32)?, convert_loop(ElementType::F32, ty)?);
    let takes_scalars = single.takes_scalars;
    let run = move |operands: &[&[u8]], result: &mut [u8]| {
        let mut wide = [[0.0_f32; STAGE]; N];
        let mut wide_result = [0.0_f32; STAGE];
        for (stage, result) in result.chunks_mut(STAGE).enumerate() {
            let mut numbers: [&[u8]; N] = [&[]; N];
            for ((wide, x), numbers) in wide.iter_mut().zip(operands).zip(&mut numbers) {
                // One element may stand for all.
                let x = if x.len() > 1 { &x[stage * STAGE..][..result.len()] } else { x };
                let wide: &mut [u8] = bytemuck::cast_slice_mut(&mut wide[..x.len()]);
                widen(&[x], wide);
                *numbers = wide;
            }
            let wide_result: &mut [u8] = bytemuck::cast_slice_mut(&mut wide_result[..result.len()]);
            single(&numbers, wide_result);
            round(&[wide_result], result);
        }
    };
    Some(VectorLoop { takes_scalars, ..VectorLoop::new(run) })
}
