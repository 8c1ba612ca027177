//! Bit patterns of floats as unsigned constants.
use crate::Value;
use crate::arguments::unsigned_of;
use hlo::{ElementType, Literal, Scalar};

/// Bits as a scalar constant of `x`'s width, unsigned.
pub(super) fn word(x: Value<'_>, bits: u64) -> Value<'_> {
    x.record(|b| {
        let ty = unsigned(x.element_type()?.bits()).unwrap_or(ElementType::U64);
        b.make_constant(Literal::scalar(ty, Scalar::Unsigned(bits)))
    })
}

/// Returns the unsigned integer type of 8 bits or more that has this width.
pub(super) fn unsigned(bits: u32) -> Option<ElementType> {
    unsigned_of(bits).filter(|_| bits >= 8)
}
