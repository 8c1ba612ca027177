//! Conversion between all types.
#![allow(
    clippy::as_conversions,
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::unnecessary_cast,
    trivial_numeric_casts,
    reason = "Rust's conversions are those of HLO: they wrap, round to nearest even, truncate and saturate"
)]
use super::byte::{Encoder, table_loop};
use super::narrow::{Narrow, narrow_type};
use super::native_types::{with_integer, with_native, with_type};
use super::{VectorLoop, each};
use crate::single::to_f32;
use hlo::elem::{FloatFormat, Special};
use hlo::{Class, ElementType};

/// Elements that are converted together in two steps.
const STAGE: usize = 128;

/// Returns the loop of `convert` between types; `None` if they are the same.
pub fn convert_loop(from: ElementType, to: ElementType) -> Option<VectorLoop> {
    const C64: ElementType = ElementType::C64;
    if from == to {
        return None;
    }
    match (from.is_complex(), to.is_complex()) {
        (true, true) if from == C64 => {
            return Some(each(|[z]: [[f32; 2]; 1]| z.map(f64::from)));
        }
        (true, true) => return Some(each(|[z]: [[f64; 2]; 1]| z.map(to_f32))),
        (true, false) => {
            let real = match from == C64 {
                true => each(|[[re, _]]: [[f32; 2]; 1]| re),
                false => each(|[[re, _]]: [[f64; 2]; 1]| re),
            };
            return Some(through(real, from, from.component(), to));
        }
        (false, true) => {
            let complex = match to == C64 {
                true => each(|[re]: [f32; 1]| [re, 0.0]),
                false => each(|[re]: [f64; 1]| [re, 0.0]),
            };
            let part = to.component();
            // An integer is rounded once, to the type of the real part.
            let Some(real) = convert_loop(from, part) else { return Some(complex) };
            return Some(both(real, (from, part), complex, to));
        }
        (false, false) => {}
    }
    narrow_type!(from, A => return Some(through(widening::<A>(), from, ElementType::F32, to)));
    with_native!(from, A => {
        if to == ElementType::Pred {
            return Some(each(|[x]: [A; 1]| u8::from(x != A::default())));
        }
        if let Some(cut) = cut_loop(from, to) {
            return Some(cut);
        }
        with_native!(to, R => return Some(each(|[x]: [A; 1]| x as R)));
        narrow_type!(to, R => return Some(to_narrow::<R>(from)));
        return Some(to_byte(from, to));
    });
    Some(table_loop(from, to, move |x| x.convert(from, to)))
}

/// Returns the loop from floats to integers that they are larger than; `None` of other types.
///
/// The processor has no conversion that saturates. An integer that is added to a float whose units
/// are 1 is in the last bits of the sum.
fn cut_loop(from: ElementType, to: ElementType) -> Option<VectorLoop> {
    /// Returns an integer of up to 22 bits.
    #[inline(always)]
    fn short(x: f32, [least, most]: [f32; 2]) -> u32 {
        /// 1.5 * 2^23
        const UNITS: f32 = 12_582_912.0;
        let x = if x.is_nan() { 0.0 } else { x };
        (x.trunc().max(least).min(most) + UNITS).to_bits().wrapping_sub(UNITS.to_bits())
    }
    /// Returns an integer of up to 51 bits.
    #[inline(always)]
    fn long(x: f64, [least, most]: [f64; 2]) -> u64 {
        /// 1.5 * 2^52
        const UNITS: f64 = 6_755_399_441_055_744.0;
        let x = if x.is_nan() { 0.0 } else { x };
        (x.trunc().max(least).min(most) + UNITS).to_bits().wrapping_sub(UNITS.to_bits())
    }
    if from == ElementType::F32 {
        with_type!(to, R => return Some(each(|[x]: [f32; 1]| {
            short(x, [R::MIN.into(), R::MAX.into()]) as R
        })), [i8, u8, i16, u16]);
    }
    with_type!(from, A => {
        with_type!(to, R => return Some(each(|[x]: [A; 1]| {
            long(x as f64, [R::MIN.into(), R::MAX.into()]) as R
        })), [i8, u8, i16, u16, i32, u32]);
    }, [f32, f64]);
    None
}

/// Returns a loop, followed by a conversion of its results of type `part`.
fn through(first: VectorLoop, from: ElementType, part: ElementType, to: ElementType) -> VectorLoop {
    match convert_loop(part, to) {
        Some(second) => both(first, (from, part), second, to),
        None => first,
    }
}
/// Returns a loop, followed by a loop over its results of type `part`.
fn both(
    first: VectorLoop,
    (from, part): (ElementType, ElementType),
    second: VectorLoop,
    to: ElementType,
) -> VectorLoop {
    let [from, part, to] = [from, part, to].map(ElementType::storage_bytes);
    VectorLoop::new(move |operands, result| {
        let mut stage = [0_u64; STAGE];
        let stage: &mut [u8] = bytemuck::cast_slice_mut(&mut stage);
        let count = stage.len() / part;
        for (x, result) in operands[0].chunks(count * from).zip(result.chunks_mut(count * to)) {
            let stage = &mut stage[..result.len() / to * part];
            first(&[x], stage);
            second(&[stage], result);
        }
    })
}

fn widening<A: Narrow>() -> VectorLoop {
    VectorLoop::new(|x, result| {
        A::widen(bytemuck::cast_slice(x[0]), bytemuck::cast_slice_mut(result));
    })
}

/// Returns the loop from a type of the processor.
#[allow(clippy::useless_conversion, reason = "one of the types is f64")]
fn to_narrow<R: Narrow>(from: ElementType) -> VectorLoop {
    with_type!(
        from, A => return each(|[x]: [A; 1]| R::rounded(to_odd(x.into()))),
        [i8, i16, i32, u8, u16, u32, f64]
    );
    with_type!(from, A => return each(|[x]: [A; 1]| R::rounded(to_odd(odd(x)))), [i64, u64]);
    each(|[x]: [f32; 1]| R::rounded(x))
}

/// Returns the loop from a type of the processor to one of at most a byte that is none.
fn to_byte(from: ElementType, to: ElementType) -> VectorLoop {
    if let Some(format) = to.float_format() {
        return to_small_float(from, format);
    }
    let spare = 64 - to.bits();
    if to.class() == Class::Signed {
        let most = i64::MAX >> spare;
        with_integer!(from, A => return each(move |[x]: [A; 1]| ((x as i64) << spare >> spare) as u8));
        with_type!(
            from, A => return each(move |[x]: [A; 1]| (x as i64).clamp(-most - 1, most) as u8), [f64]
        );
        return each(move |[x]: [f32; 1]| (x as i64).clamp(-most - 1, most) as u8);
    }
    let most = u64::MAX >> spare;
    with_integer!(from, A => return each(move |[x]: [A; 1]| (x as u64 & most) as u8));
    with_type!(from, A => return each(move |[x]: [A; 1]| (x as u64).min(most) as u8), [f64]);
    each(move |[x]: [f32; 1]| (x as u64).min(most) as u8)
}
fn to_small_float(from: ElementType, format: FloatFormat) -> VectorLoop {
    macro_rules! by {
        ($encode:expr) => {{
            with_type!(
                from, A => return each(move |[x]: [A; 1]| $encode(x as f64)),
                [i8, i16, i32, u8, u16, u32, f64]
            );
            with_type!(from, A => return each(move |[x]: [A; 1]| $encode(odd(x))), [i64, u64]);
            each(move |[x]: [f32; 1]| $encode(x as f64))
        }};
    }
    match format.special {
        Special::PowerOfTwo => by!(|x| format.encode(x) as u8),
        Special::Ieee | Special::Fn | Special::Fnuz | Special::Finite => {
            let encoder = Encoder::of(format);
            by!(|x| encoder.encode(x))
        }
    }
}

/// Returns `x` rounded to odd: the neighbor with an odd last bit, unless `x` is an f32. Rounding
/// that to a narrower type is rounding `x`.
#[inline]
fn to_odd(x: f64) -> f32 {
    let nearest = to_f32(x);
    let bits = nearest.to_bits();
    let is_above = f64::from(nearest.abs()) > x.abs();
    let toward = if is_above { bits.wrapping_sub(1) } else { bits.wrapping_add(1) };
    let is_even = bits & 1 == 0;
    let is_exact = f64::from(nearest) == x || x.is_nan();
    if is_exact || !is_even { nearest } else { f32::from_bits(toward) }
}

/// An integer of 64 bits.
trait Long {
    /// Returns the number rounded to odd.
    fn odd(self) -> f64;
}
macro_rules! long {
    ($($ty:ident $size:ident)*) => {$(
        impl Long for $ty {
            #[inline(always)]
            fn odd(self) -> f64 {
                /// The bits that an f64 lacks.
                const LOST: $ty = (1 << 11) - 1;
                let kept = (self | ((self & LOST) + LOST)) & !LOST;
                (if self.$size() >> 53 == 0 { self } else { kept }) as f64
            }
        }
    )*};
}
long! { i64 unsigned_abs u64 clone }
#[inline(always)]
fn odd(x: impl Long) -> f64 {
    x.odd()
}
