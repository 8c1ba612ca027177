//! Bit patterns of floats as unsigned constants.
use crate::Value;
use hlo::{ElementType, Literal, Scalar};

/// Bits as a scalar constant of `x`'s width, unsigned.
pub(super) fn word(x: Value<'_>, bits: u64) -> Value<'_> {
    x.record(|b| {
        let ty = unsigned(x.element_type()?.bits()).unwrap_or(ElementType::U64);
        b.make_constant(Literal::scalar(ty, Scalar::Unsigned(bits)))
    })
}

/// The unsigned integer of this width.
pub(super) fn unsigned(bits: u32) -> Option<ElementType> {
    match bits {
        8 => Some(ElementType::U8),
        16 => Some(ElementType::U16),
        32 => Some(ElementType::U32),
        64 => Some(ElementType::U64),
        _ => None,
    }
}
