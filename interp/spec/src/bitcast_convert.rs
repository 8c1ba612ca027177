//! `bitcast-convert`: the operand's bits as another element type
//!
//! ```text
//! equal widths:    bits(result[i])    = bits(operand[i])
//! wide to narrow:  bits(result[i, k]) = bits k * n to (k + 1) * n - 1 of operand[i]
//! narrow to wide:  bits k * n to (k + 1) * n - 1 of result[i] = bits(operand[i, k])
//! ```
//!
//! where n is the width of the narrow type in bits, and bit 0 is the least significant one.
//!
//! - `pred` has 8 bits: false is 0 and true is 1; nonzero bits convert to true.
//! - Types of fewer than 8 bits have their own width: a `u8` is two `u4`.
//! - NaN keeps its bits.
//!
//! Source: StableHLO, `bitcast_convert`.
use super::{Operand, build};
use hlo::op::BitcastConvert;
use hlo::{ArrayShape, Literal, Scalar};
use std::cmp::Ordering;

pub(super) fn bitcast_convert(
    op: &BitcastConvert,
    operand: &Operand<'_>,
    shape: &ArrayShape,
) -> Literal {
    let BitcastConvert {} = op;
    let (from, to) = (operand.shape.ty, shape.ty);
    build(shape, |index| {
        let bits = match from.bits().cmp(&to.bits()) {
            Ordering::Equal => operand.at(index).to_bits(from),
            Ordering::Greater => {
                let (k, index) = index.split_last().expect("verified: a dimension of parts");
                operand.at(index).to_bits(from) >> (k * i64::from(to.bits()))
            }
            Ordering::Less => {
                let parts = 0..operand.shape.dims[operand.rank() - 1];
                let part = |k| operand.at(&[index, &[k]].concat()).to_bits(from);
                parts.fold(0, |bits, k| bits | part(k) << (k * i64::from(from.bits())))
            }
        };
        Scalar::from_bits(to, bits)
    })
}
