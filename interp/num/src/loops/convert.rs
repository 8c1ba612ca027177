//! Conversion between types of the processor, bf16, f16 and `pred`.
use super::narrow::{Narrow, narrow_type, rounded, widened};
use super::native_types::{with_native, with_type};
use super::{VectorLoop, each};
use crate::single::to_f32;
use hlo::ElementType;

/// Returns the loop of `convert` between different types; `None` where it takes more than one step
/// in a type of the processor, as from 64-bit integers to bf16.
#[allow(
    clippy::as_conversions,
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    trivial_numeric_casts,
    reason = "Rust's conversions are those of HLO: they wrap, round to nearest even, truncate and saturate"
)]
pub fn convert_loop(from: ElementType, to: ElementType) -> Option<VectorLoop> {
    if from == to {
        return None;
    }
    narrow_type!(from, A => return from_narrow::<A>(to));
    narrow_type!(to, R => return to_narrow::<R>(from));
    with_native!(from, A => {
        if to == ElementType::Pred {
            return Some(each(|[x]: [A; 1]| u8::from(x != A::default())));
        }
        with_native!(to, R => return Some(each(|[x]: [A; 1]| x as R)));
        return None
    });
    if from == ElementType::Pred {
        with_native!(to, R => return Some(each(|[x]: [u8; 1]| u8::from(x != 0) as R)));
    }
    None
}

fn from_narrow<A: Narrow>(to: ElementType) -> Option<VectorLoop> {
    if to == ElementType::F32 {
        return Some(VectorLoop::new(|x, result| {
            A::widen(bytemuck::cast_slice(x[0]), bytemuck::cast_slice_mut(result));
        }));
    }
    Some(widened::<1, A>(convert_loop(ElementType::F32, to)?, to.storage_bytes()))
}

#[allow(clippy::useless_conversion, reason = "one of the types is f64")]
fn to_narrow<R: Narrow>(from: ElementType) -> Option<VectorLoop> {
    if from == ElementType::F32 {
        return Some(VectorLoop::new(|x, result| {
            R::round(bytemuck::cast_slice(x[0]), bytemuck::cast_slice_mut(result));
        }));
    }
    with_type!(
        from, A => return Some(rounded::<R>(each(|[x]: [A; 1]| to_odd(x.into())), size_of::<A>())),
        [i8, i16, i32, u8, u16, u32, f64]
    );
    if from == ElementType::Pred {
        return Some(rounded::<R>(convert_loop(from, ElementType::F32)?, 1));
    }
    None
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
    #[expect(clippy::float_cmp, reason = "exact values are compared")]
    let is_exact = f64::from(nearest) == x || x.is_nan();
    if is_exact || !is_even { nearest } else { f32::from_bits(toward) }
}
