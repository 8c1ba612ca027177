//! Elementwise ops: the same function at every index.
use super::build;
use crate::num;
use hlo::op::{Binary, Compare, ReducePrecision, Unary};
use hlo::{ArrayShape, ElementType, Literal, Scalar, Shape};

/// An operand's elements in wide form; a scalar serves every index.
struct Elements<'a> {
    ty: ElementType,
    bytes: &'a [u8],
    width: usize,
    scalar: bool,
}

impl<'a> Elements<'a> {
    fn of(operand: &'a Literal) -> Self {
        let shape = operand.array_shape().expect("verified: an array");
        let scalar = shape.rank() == 0;
        Self { ty: shape.ty, bytes: operand.bytes(), width: shape.ty.storage_bytes(), scalar }
    }
    #[inline]
    fn at(&self, i: usize) -> Scalar {
        let at = if self.scalar { 0 } else { i * self.width };
        Scalar::read(self.ty, &self.bytes[at..at + self.width])
    }
}

/// `result[i] = op(operand[i])`
pub(super) fn unary(op: Unary, operand: &Literal, shape: &ArrayShape) -> Literal {
    let x = Elements::of(operand);
    build(shape, |i| num::unary(op, x.ty, x.at(i)))
}

/// `result[i] = op(lhs[i], rhs[i])`
pub(super) fn binary(op: Binary, lhs: &Literal, rhs: &Literal, shape: &ArrayShape) -> Literal {
    let (a, b) = (Elements::of(lhs), Elements::of(rhs));
    build(shape, |i| num::binary(op, a.ty, a.at(i), b.at(i)))
}

/// `result[i] = lhs[i] direction rhs[i]`
pub(super) fn compare(op: &Compare, lhs: &Literal, rhs: &Literal, shape: &ArrayShape) -> Literal {
    let (a, b) = (Elements::of(lhs), Elements::of(rhs));
    let order = op.order(a.ty);
    build(shape, |i| Scalar::Pred(num::compare(op.direction, order, a.ty, a.at(i), b.at(i))))
}

/// `result[i] = min(max(operand[i], low[i]), high[i])`
pub(super) fn clamp(
    low: &Literal,
    operand: &Literal,
    high: &Literal,
    shape: &ArrayShape,
) -> Literal {
    let (low, x, high) = (Elements::of(low), Elements::of(operand), Elements::of(high));
    build(shape, |i| num::clamp(x.ty, low.at(i), x.at(i), high.at(i)))
}

/// `result[i] = pred[i] ? on_true[i] : on_false[i]`; bits are moved, not computed with.
pub(super) fn select(
    pred: &Literal,
    on_true: &Literal,
    on_false: &Literal,
    shape: &Shape,
) -> Literal {
    let chosen = Elements::of(pred);
    let Some(array) = shape.array().filter(|_| !chosen.scalar) else {
        let value = if chosen.at(0) == Scalar::Pred(true) { on_true } else { on_false };
        return crate::interpreter::with_layouts(value, shape);
    };
    let width = array.ty.storage_bytes();
    let mut result = on_false.with_shape(array.clone());
    let from = on_true.bytes();
    for (i, slot) in result.bytes_mut().chunks_exact_mut(width).enumerate() {
        if chosen.at(i) == Scalar::Pred(true) {
            slot.copy_from_slice(&from[i * width..(i + 1) * width]);
        }
    }
    result
}

/// `result[i] = operand[i]` in another type.
pub(super) fn convert(operand: &Literal, shape: &ArrayShape) -> Literal {
    let x = Elements::of(operand);
    build(shape, |i| x.at(i).convert(x.ty, shape.ty))
}

/// `result[i] = operand[i]` with fewer bits.
pub(super) fn reduce_precision(
    op: &ReducePrecision,
    operand: &Literal,
    shape: &ArrayShape,
) -> Literal {
    let x = Elements::of(operand);
    // More bits than any type has leave the value alone, as 64 do.
    let bits = |n: i64| u32::try_from(n.min(64)).unwrap_or(0);
    let (exponent, mantissa) = (bits(op.exponent_bits), bits(op.mantissa_bits));
    build(shape, |i| num::reduce_precision(x.ty, exponent, mantissa, x.at(i)))
}
