//! `pad`: element i of the operand lands at `low + i * (interior + 1)`; everything else is the padding value
use crate::clock::Stop;
use crate::index::{indices, strides, to_usize};
use hlo::Literal;
use hlo::op::Pad;

pub(super) fn pad_into(op: &Pad, operand: &Literal, value: &Literal, result: &mut Literal) {
    let shape = result.array_shape().expect("a kernel computes arrays").clone();
    let width = shape.ty.storage_bytes();
    for slot in result.bytes_mut().chunks_exact_mut(width) {
        slot.copy_from_slice(value.bytes().get(..width).expect("verified: a scalar"));
    }
    let strides = strides(&shape.dims);
    let from = operand.bytes();
    let to = result.bytes_mut();
    let mut next = 0;
    indices(&operand.array_shape().expect("verified: an array").dims, |index| {
        let source = next;
        next += width;
        let mut at = 0;
        for (d, &i) in index.iter().enumerate() {
            let padding = &op.padding.dims[d];
            let place =
                i128::from(padding.low) + i128::from(i) * (i128::from(padding.interior) + 1);
            let Some(place) = i64::try_from(place).ok().filter(|p| (0..shape.dims[d]).contains(p))
            else {
                return;
            };
            at += place * strides[d];
        }
        let at = to_usize(at) * width;
        to[at..at + width].copy_from_slice(&from[source..source + width]);
    });
    debug_assert!(
        next == from.len() || Stop::current().is_set(),
        "every element is visited once, unless the time is over"
    );
}
