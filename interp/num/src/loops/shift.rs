//! Shifts of integers, of which most are by one amount for all elements.
use super::chain::Word;
use super::native_types::with_type;
use super::{Integer, VectorLoop, pair};
use crate::{signed, unsigned};
use hlo::ElementType;
use hlo::op::Binary;

/// Returns the loop of a shift; `None` of other ops and types.
pub(super) fn shift_loop(op: Binary, ty: ElementType) -> Option<VectorLoop> {
    macro_rules! shifts {
        ($module:ident: $($native:ident)*) => {
            with_type!(ty, T => {
                macro_rules! by {
                    ($function:ident) => {
                        pair(|[x, by]: [T; 2]| T::narrow($module::$function(T::BITS, x.widen(), by.widen())))
                    };
                }
                let function = if op == Binary::ShiftLeft {
                    by!(shift_left)
                } else if op == Binary::ShiftRightArithmetic {
                    by!(shift_right_arithmetic)
                } else if op == Binary::ShiftRightLogical {
                    by!(shift_right_logical)
                } else {
                    return None;
                };
                let word = Word::of(op).filter(|_| ty == ElementType::U32);
                return Some(VectorLoop { word, ..function });
            }, [$($native),*]);
        };
    }
    shifts!(signed: i8 i16 i32 i64);
    shifts!(unsigned: u8 u16 u32 u64);
    None
}
