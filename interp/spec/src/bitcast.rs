//! `bitcast`: the operand's memory under another shape, type and layout
//!
//! `bits(result[i])` are the bits of memory where the result's layout places element i, after the
//! operand's layout has placed `bits(operand[j])` there for each j.
//!
//! This is the one op whose values depend on layouts. For arrays of one type in the default layout
//! it is a `reshape`; between widths, the first of several narrow elements is the least significant
//! part of the wide one.
//!
//! - Padding has no defined contents, nor have the storage bits that a narrow element does not use.
//!   A bitcast that reads them is `E0402`, and so is one through a layout that does not define the
//!   offset of an element: split over memories, sparse, or with a physical shape of its own.
//!
//! Source: XLA, `Shapes and layout`; XLA's evaluator.
use super::layout::{Memory, unsupported};
use super::{Operand, try_build};
use hlo::op::Bitcast;
use hlo::{ArrayShape, Literal, Scalar};
use num::Result;

pub(super) fn bitcast(op: &Bitcast, operand: &Operand<'_>, shape: &ArrayShape) -> Result<Literal> {
    let Bitcast {} = op;
    let (from, to) = (Memory::of(operand.shape)?, Memory::of(shape)?);
    try_build(shape, |index| {
        let start = to.offset(index) * to.storage_bits;
        let (mut bits, mut known) = (0u128, 0);
        // The bits of one operand element after the other.
        while known < to.element_bits {
            let (offset, bit) =
                ((start + known) / from.storage_bits, (start + known) % from.storage_bits);
            let source = from.index(offset).filter(|_| bit < from.element_bits);
            let source = source.ok_or_else(|| {
                unsupported(shape, "reaches bits of the operand that are padding")
            })?;
            bits |= operand.at(&source).to_bits(operand.shape.ty) >> bit << known;
            known += from.element_bits - bit;
        }
        Ok(Scalar::from_bits(shape.ty, bits))
    })
}
