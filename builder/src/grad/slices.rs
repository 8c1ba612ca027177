//! Derivatives of ops that take parts of arrays and put parts together.
use super::{Node, Tangent, ops};
use crate::{Result, Value};
use hlo::Op;
use hlo::op::value::{PaddingDim, SliceRange};
use hlo::op::{DynamicSlice, DynamicUpdateSlice};

/// Puts the elements back where they were taken, with zeros between.
pub(super) fn pull_slice<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let Op::Slice(op) = &node.op else { return Err(node.refused("is no slice")) };
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let (sizes, taken) = (node.operand(0)?.dims()?, c.dims()?);
    let back = |((r, &size), &count): ((&SliceRange, &i64), &i64)| {
        if count == 0 {
            return PaddingDim { low: size, high: 0, interior: 0 };
        }
        let last = r.start + (count - 1) * r.stride;
        PaddingDim { low: r.start, high: size - 1 - last, interior: r.stride - 1 }
    };
    let dims = op.ranges.0.iter().zip(&sizes).zip(&taken).map(back).collect();
    Ok(node.first_only(ops::padded(c, ops::zero_of(c)?, dims)?))
}

pub(super) fn push_pad<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let [operand, value] = tangents else { return Err(node.refused("is no pad")) };
    let operand = operand.filled(node.operand(0)?)?;
    let value = match value.array()? {
        Some(value) => value,
        None => ops::zero_of(operand)?,
    };
    Ok(Tangent::Array(node.again(&[operand, value], None)?))
}
/// Takes the operand's elements out again; what is elsewhere sums up in the padding value.
pub(super) fn pull_pad<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let Op::Pad(op) = &node.op else { return Err(node.refused("is no pad")) };
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let mut cotangents = node.zeros();
    if node.wants(0) {
        cotangents[0] = Tangent::Array(unpadded(node.operand(0)?, c, &op.padding.dims)?);
    }
    if node.wants(1) {
        let b = c.builder();
        let (inside, outside) = (b.constant(false), b.constant(true));
        let marks = ops::like_array(inside, &node.operand(0)?.array()?)?;
        let padded = node.again(&[marks, outside], Some(marked(node)?))?;
        let kept = padded.select(c, ops::zeros_like(c)?);
        cotangents[1] = Tangent::Array(ops::total(kept)?);
    }
    Ok(cotangents)
}
fn marked(node: &Node<'_>) -> Result<hlo::Shape> {
    Ok(node.result.array()?.with_type(hlo::ElementType::Pred).into())
}
fn unpadded<'b>(operand: Value<'b>, c: Value<'b>, dims: &[PaddingDim]) -> Result<Value<'b>> {
    let sizes = operand.dims()?;
    if sizes.contains(&0) {
        return ops::zeros_like(operand);
    }
    // Padding that was put around is cut off; elements that were cut off come back as zeros.
    let turned = |dim: &PaddingDim| PaddingDim { low: -dim.low, high: -dim.high, interior: 0 };
    let inner = ops::padded(c, ops::zero_of(c)?, dims.iter().map(turned).collect())?;
    let limits = inner.dims()?;
    let every = |(dim, &limit): (&PaddingDim, &i64)| SliceRange {
        start: 0,
        limit,
        stride: dim.interior + 1,
    };
    ops::sliced(inner, dims.iter().zip(&limits).map(every).collect())
}

pub(super) fn push_concatenate<'b>(
    node: &Node<'b>,
    tangents: &[Tangent<'b>],
) -> Result<Tangent<'b>> {
    Ok(Tangent::Array(node.again(&ops::filled(node, tangents)?, None)?))
}
pub(super) fn pull_concatenate<'b>(
    node: &Node<'b>,
    cotangent: &Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    let Op::Concatenate(op) = &node.op else { return Err(node.refused("is no concatenate")) };
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let dim = op.dimensions.first().copied().unwrap_or(0);
    let mut cotangents = node.zeros();
    let mut start = 0;
    for (i, operand) in node.operands.iter().enumerate() {
        let limit = start + operand.array()?.dim(dim).unwrap_or(0);
        if node.wants(i) {
            let part = ops::slice_of(c, dim, SliceRange { start, limit, stride: 1 })?;
            cotangents[i] = Tangent::Array(part);
        }
        start = limit;
    }
    Ok(cotangents)
}

/// The box put back into zeros: the indices are limited in the same way.
pub(super) fn pull_dynamic_slice<'b>(
    node: &Node<'b>,
    cotangent: &Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let operand = node.operand(0)?;
    let indices = node.operands.get(1..).unwrap_or_default();
    let operands = [&[ops::zeros_like(operand)?, c], indices].concat();
    let shape = Some(operand.shape()?);
    Ok(node.first_only(c.builder().emit(DynamicUpdateSlice {}, &operands, shape)?))
}

pub(super) fn push_update<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let [operand, update, ..] = tangents else { return Err(node.refused("is no update")) };
    let tangents = [operand.filled(node.operand(0)?)?, update.filled(node.operand(1)?)?];
    let indices = node.operands.get(2..).unwrap_or_default();
    Ok(Tangent::Array(node.again(&[&tangents, indices].concat(), None)?))
}
/// The box belongs to the update, the rest to the operand.
pub(super) fn pull_update<'b>(
    node: &Node<'b>,
    cotangent: &Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let update = node.operand(1)?;
    let indices = node.operands.get(2..).unwrap_or_default();
    let mut cotangents = node.zeros();
    if node.wants(0) {
        let operands = [&[c, ops::zeros_like(update)?], indices].concat();
        cotangents[0] = Tangent::Array(node.again(&operands, None)?);
    }
    if node.wants(1) {
        let op = DynamicSlice { dynamic_slice_sizes: update.dims()? };
        let operands = [&[c], indices].concat();
        let taken = c.builder().emit(op, &operands, Some(update.shape()?))?;
        cotangents[1] = Tangent::Array(taken);
    }
    Ok(cotangents)
}
