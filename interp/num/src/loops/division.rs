//! Division of integers.
use super::native_types::with_type;
use super::{VectorLoop, pair};
use bytemuck::Pod;
use hlo::ElementType;
use hlo::op::Binary;

/// An integer of at most 32 bits.
trait Short: Pod + Into<f64> + PartialEq {
    /// Returns the low bits.
    fn low(bits: u64) -> Self;
    /// Returns `self - a * b`, wrapped.
    fn less(self, a: Self, b: Self) -> Self;
}
macro_rules! short {
    ($($ty:ident)*) => {$(
        impl Short for $ty {
            #[inline(always)]
            #[allow(
                clippy::as_conversions, clippy::cast_possible_truncation, clippy::cast_possible_wrap,
                reason = "drops the high bits"
            )]
            fn low(bits: u64) -> Self {
                bits as Self
            }
            #[inline(always)]
            fn less(self, a: Self, b: Self) -> Self {
                self.wrapping_sub(a.wrapping_mul(b))
            }
        }
    )*};
}
short! { i8 i16 i32 u8 u16 u32 }

/// Returns the loop of a division of integers of at most 32 bits, in vectors of f64.
///
/// The quotient of f64 truncates to the right integer: one that is not an integer is at least 2^-32
/// of itself away from the next.
pub(super) fn division_loop(op: Binary, ty: ElementType) -> Option<VectorLoop> {
    with_type!(ty, T => {
        let zero: T = bytemuck::Zeroable::zeroed();
        if op == Binary::Divide {
            return Some(pair(move |[a, b]: [T; 2]| if b == zero { T::low(u64::MAX) } else { quotient(a, b) }));
        }
        if op == Binary::Remainder {
            return Some(pair(move |[a, b]: [T; 2]| if b == zero { a } else { a.less(quotient(a, b), b) }));
        }
    }, [i8, i16, i32, u8, u16, u32]);
    None
}
/// Returns the quotient, wrapped; of a division by zero, any number.
#[inline(always)]
fn quotient<T: Short>(a: T, b: T) -> T {
    /// 1.5 * 2^52: added to an integer, it leaves it in the low bits.
    const TO_INTEGER: f64 = 6_755_399_441_055_744.0;
    T::low(((a.into() / b.into()).trunc() + TO_INTEGER).to_bits())
}
