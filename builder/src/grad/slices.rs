//! Derivatives of ops that take parts of arrays and join parts.
use super::node::{Derivative, Node};
use super::ops;
use super::tangent::Tangent;
use crate::{Result, Value};
use hlo::op::value::{PaddingDim, SliceRange};
use hlo::op::{Concatenate, DynamicSlice, DynamicUpdateSlice, Pad, Slice};

impl Derivative for Slice {
    /// Puts the elements back where they were taken, with zeros between.
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let (sizes, taken) = (node.operand(0)?.dims()?, c.dims()?);
        let back = |((r, &size), &count): ((&SliceRange, &i64), &i64)| match count {
            0 => (size, 0, 0),
            _ => (r.start, size - 1 - (r.start + (count - 1) * r.stride), r.stride - 1),
        };
        let dims: Vec<_> = self.ranges.0.iter().zip(&sizes).zip(&taken).map(back).collect();
        Ok(node.first_only(c.pad(0, &dims)))
    }
}

impl Derivative for Pad {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        node.again_all(tangents)
    }
    /// Takes the elements of the operand out again; the sum of the others goes to the padding
    /// value.
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let dims = &self.padding.dims;
        node.each_needed(|i| match i {
            0 => unpadded(node.operand(0)?, c, dims),
            _ => {
                let inside = c.builder().constant(false);
                let inside = ops::like_array(inside, &node.operand(0)?.array()?)?;
                let dims: Vec<_> = dims.iter().map(|d| (d.low, d.high, d.interior)).collect();
                Ok(ops::total(inside.pad(true, &dims).select(c, 0)))
            }
        })
    }
}
fn unpadded<'b>(operand: Value<'b>, c: Value<'b>, dims: &[PaddingDim]) -> Result<Value<'b>> {
    let sizes = operand.dims()?;
    if sizes.contains(&0) {
        return Ok(operand.zeros_like());
    }
    // Padding is cut off; elements that negative padding cut off come back as zeros.
    let edges: Vec<_> = dims.iter().map(|dim| (-dim.low, -dim.high, 0)).collect();
    let inner = c.pad(0, &edges);
    let strides: Vec<i64> = dims.iter().map(|dim| dim.interior + 1).collect();
    Ok(inner.slice(&vec![0; strides.len()], &inner.dims()?, &strides))
}

impl Derivative for Concatenate {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        node.again_all(tangents)
    }
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let dim = self.dimensions.first().copied().unwrap_or(0);
        let mut starts = vec![0];
        for operand in &node.operands {
            starts.push(starts.last().unwrap_or(&0) + operand.array()?.dim(dim).unwrap_or(0));
        }
        node.each_needed(|i| Ok(c.slice_in_dim(starts[i], starts[i + 1], 1, dim)))
    }
}

impl Derivative for DynamicSlice {
    /// Puts the slice back into zeros; the indices are clamped in the same way.
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let indices = node.operands.get(1..).unwrap_or_default();
        let zeros = node.operand(0)?.zeros_like();
        Ok(node.first_only(zeros.dynamic_update_slice(c, indices)))
    }
}

impl Derivative for DynamicUpdateSlice {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let mut operands = node.operands.clone();
        for i in 0..2 {
            operands[i] = tangents[i].filled(operands[i])?;
        }
        Ok(Tangent::Array(node.again(&operands)?))
    }
    /// Returns the cotangent: the slice belongs to the update, the rest to the operand.
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let update = node.operand(1)?;
        let indices = node.operands.get(2..).unwrap_or_default();
        node.each_needed(|i| match i {
            0 => Ok(c.dynamic_update_slice(update.zeros_like(), indices)),
            _ => Ok(c.dynamic_slice(indices, &update.dims()?)),
        })
    }
}
