//! Comparison and clamping.
use super::byte::decoded;
use super::complex::ComplexElement;
use super::narrow::{Narrow, bytes_through_f32, narrow_type, of_place, place};
use super::native_types::{with_integer, with_native, with_type};
use super::{VectorLoop, each};
use crate::complex::Complex;
use crate::float::total_order_key;
use crate::float_functions::{double, single};
use crate::{Direction, Order};
use bytemuck::Pod;
use hlo::{Class, ElementType, Scalar};

/// Returns the loop of `compare`.
pub fn compare_loop(direction: Direction, order: Order, ty: ElementType) -> VectorLoop {
    match order {
        Order::TotalOrder => match ty.bits() {
            64 => of_keys(direction, |x: i64| x ^ ((x >> 63).cast_unsigned() >> 1).cast_signed()),
            32 => of_keys(direction, |x: i32| x ^ ((x >> 31).cast_unsigned() >> 1).cast_signed()),
            16 => of_keys(direction, |x: i16| x ^ ((x >> 15).cast_unsigned() >> 1).cast_signed()),
            _ => of_keys(direction, move |x: u8| {
                total_order_key(ty, Scalar::from_bits(ty, x.into()))
            }),
        },
        Order::Float | Order::Signed | Order::Unsigned => {
            if ty == ElementType::Pred {
                return of_keys(direction, |x: u8| x != 0);
            }
            with_native!(ty, T => return of_keys(direction, |x: T| x));
            narrow_type!(ty, T => return of_places::<T>(direction));
            with_type!(ty, T => return of_complex::<T>(direction), [[f32; 2], [f64; 2]]);
            let numbers = decoded(ty);
            of_keys(direction, |x: u8| numbers[usize::from(x)])
        }
    }
}

/// Compares floats of 16 bits by their places in the order of numbers; those of NaN are on the sides
/// where the comparison fails.
fn of_places<T: Narrow>(direction: Direction) -> VectorLoop {
    let key = |of_nan: i16| {
        move |bits: u16| {
            let place = place::<T>(bits, of_nan);
            // -0 has the place before that of 0.
            place - (place >> 15)
        }
    };
    let is_above = direction == Direction::Gt || direction == Direction::Ge;
    let (a, b) = if is_above { (i16::MIN, i16::MAX) } else { (i16::MAX, i16::MIN) };
    of_two_keys(direction, key(a), key(b))
}

/// Compares the keys of elements.
fn of_keys<T: Pod, K: PartialOrd>(
    direction: Direction,
    key: impl Fn(T) -> K + Copy + Send + Sync + 'static,
) -> VectorLoop {
    of_two_keys(direction, key, key)
}
fn of_two_keys<T: Pod, K: PartialOrd>(
    direction: Direction,
    left: impl Fn(T) -> K + Copy + Send + Sync + 'static,
    right: impl Fn(T) -> K + Copy + Send + Sync + 'static,
) -> VectorLoop {
    macro_rules! by {
        ($operator:tt) => { each(move |[a, b]: [T; 2]| u8::from(left(a) $operator right(b))) };
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

/// Compares real parts, then imaginary parts.
#[expect(clippy::float_cmp, reason = "exact values are compared")]
fn of_complex<Z: ComplexElement>(direction: Direction) -> VectorLoop {
    macro_rules! by {
        ($strict:tt $last:tt) => {
            of_relation::<Z>(|a, b| a.re $strict b.re || (a.re == b.re && a.im $last b.im))
        };
    }
    match direction {
        Direction::Eq => of_relation::<Z>(|a, b| a.re == b.re && a.im == b.im),
        Direction::Ne => of_relation::<Z>(|a, b| a.re != b.re || a.im != b.im),
        Direction::Ge => by!(> >=),
        Direction::Gt => by!(> >),
        Direction::Le => by!(< <=),
        Direction::Lt => by!(< <),
    }
}
fn of_relation<Z: ComplexElement>(
    relation: impl Fn(Complex, Complex) -> bool + Copy + Send + Sync + 'static,
) -> VectorLoop {
    each(move |[a, b]: [Z; 2]| u8::from(relation(a.wide(), b.wide())))
}

/// Returns the loop of `clamp`; `None` for complex numbers, which have no order.
pub fn clamp_loop(ty: ElementType) -> Option<VectorLoop> {
    let of_f32 = || each(|[low, x, high]| single::min(high, single::max(x, low)));
    with_integer!(ty, T => return Some(each(|[low, x, high]: [T; 3]| high.min(x.max(low)))));
    with_type!(ty, _T => return Some(of_f32()), [f32]);
    with_type!(ty, T => {
        return Some(each(|[low, x, high]: [T; 3]| double::min(high, double::max(x, low))));
    }, [f64]);
    narrow_type!(ty, T => return Some(each(|x: [u16; 3]| {
        let [low, x, high] = x.map(|x| place::<T>(x, i16::MAX));
        let x = x.max(low);
        of_place(if x == i16::MAX { x } else if high == i16::MAX { high } else { x.min(high) })
    })));
    match ty.class() {
        Class::Pred => {
            Some(each(|[low, x, high]: [u8; 3]| u8::from(high != 0 && (x != 0 || low != 0))))
        }
        Class::Signed => clamp_loop(ElementType::S8),
        Class::Unsigned => clamp_loop(ElementType::U8),
        Class::Float => bytes_through_f32::<3>(of_f32(), ty),
        Class::Complex => None,
    }
}
