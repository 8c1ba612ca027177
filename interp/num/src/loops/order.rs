//! Comparison and clamping.
use super::narrow::{narrow_type, through_f32, widened};
use super::native_types::{with_integer, with_native};
use super::{VectorLoop, each};
use crate::float_functions::{double, single};
use crate::{Direction, Order};
use bytemuck::Pod;
use hlo::ElementType;

/// Returns the loop of `compare` for a type of the processor, and for bf16 and f16.
pub fn compare_loop(direction: Direction, order: Order, ty: ElementType) -> Option<VectorLoop> {
    match order {
        Order::TotalOrder => match ty.bits() {
            64 => Some(of_keys(direction, |x: i64| {
                x ^ ((x >> 63).cast_unsigned() >> 1).cast_signed()
            })),
            32 => Some(of_keys(direction, |x: i32| {
                x ^ ((x >> 31).cast_unsigned() >> 1).cast_signed()
            })),
            16 => Some(of_keys(direction, |x: i16| {
                x ^ ((x >> 15).cast_unsigned() >> 1).cast_signed()
            })),
            _ => None,
        },
        Order::Float | Order::Signed | Order::Unsigned => {
            if ty == ElementType::Pred {
                return Some(of_keys(direction, |x: u8| x != 0));
            }
            with_native!(ty, T => return Some(of_keys(direction, |x: T| x)));
            narrow_type!(ty, T => return Some(widened::<2, T>(of_keys(direction, |x: f32| x), 1)));
            None
        }
    }
}

/// Compares the keys of elements.
fn of_keys<T: Pod, K: PartialOrd>(
    direction: Direction,
    key: impl Fn(T) -> K + Copy + Send + Sync + 'static,
) -> VectorLoop {
    macro_rules! by {
        ($operator:tt) => { each(move |[a, b]: [T; 2]| u8::from(key(a) $operator key(b))) };
    }
    match direction {
        Direction::Eq => by!(==),
        Direction::Ne => by!(!=),
        Direction::Ge => by!(>=),
        Direction::Gt => by!(>),
        Direction::Le => by!(<=),
        Direction::Lt => by!(<),
    }
}

/// Returns the loop of `clamp` for a type of the processor, and for bf16 and f16.
pub fn clamp_loop(ty: ElementType) -> Option<VectorLoop> {
    let of_f32 = || each(|[low, x, high]| single::min(high, single::max(x, low)));
    with_integer!(ty, T => return Some(each(|[low, x, high]: [T; 3]| high.min(x.max(low)))));
    if ty == ElementType::F32 {
        return Some(of_f32());
    }
    if ty == ElementType::F64 {
        return Some(each(|[low, x, high]| double::min(high, double::max(x, low))));
    }
    narrow_type!(ty, T => return Some(through_f32::<3, T>(of_f32(), None)));
    None
}
