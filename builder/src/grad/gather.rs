//! Derivatives of gather: boxes are added back to where they were taken from.
use super::{Node, Tangent, ops};
use crate::{Result, Value};
use hlo::op::{Gather, Scatter};
use hlo::{ElementType, Op};

pub(super) fn pull<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let Op::Gather(op) = &node.op else { return Err(node.refused("is no gather")) };
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let operand = node.operand(0)?;
    let zeros = ops::zeros_like(operand)?;
    if op.slice_sizes.contains(&0) {
        return Ok(node.first_only(zeros));
    }
    let indices = limited(op, operand, node.operand(1)?)?;
    let scatter = Scatter {
        update_window_dims: op.offset_dims.clone(),
        inserted_window_dims: op.collapsed_slice_dims.clone(),
        scatter_dims_to_operand_dims: op.start_index_map.clone(),
        input_batching_dims: op.operand_batching_dims.clone(),
        scatter_indices_batching_dims: op.start_indices_batching_dims.clone(),
        index_vector_dim: op.index_vector_dim,
        // Limits keep the order of single numbers, not that of vectors.
        indices_are_sorted: op.indices_are_sorted && op.start_index_map.len() == 1,
        unique_indices: false,
        to_apply: ops::adder(c)?,
    };
    let operands = [zeros, indices, c];
    Ok(node.first_only(c.builder().emit(scatter, &operands, Some(operand.shape()?))?))
}

/// The indices as gather reads them: limited so that each box lies in the operand. Scatter would skip the others.
fn limited<'b>(op: &Gather, operand: Value<'b>, indices: Value<'b>) -> Result<Value<'b>> {
    let sizes = operand.array()?;
    let last = |&dim: &i64| sizes.dim(dim).unwrap_or(0) - op.slice_sizes[ops::at(dim)];
    let bounds: Vec<i64> = op.start_index_map.iter().map(last).collect();
    let high = along_vectors(indices, op.index_vector_dim, &bounds)?;
    let low = ops::zeros_like(high)?;
    let b = indices.builder();
    b.emit(hlo::op::Clamp {}, &[low, indices, high], None)
}

/// An upper bound of each component of the index vectors, as an array beside the indices. Bounds that the type of the indices
/// does not reach are the largest number it holds.
pub(super) fn along_vectors<'b>(
    indices: Value<'b>,
    vector_dim: i64,
    bounds: &[i64],
) -> Result<Value<'b>> {
    let shape = indices.array()?;
    let most = largest(shape.ty);
    let bounds: Vec<i64> = bounds.iter().map(|&bound| bound.min(most)).collect();
    if ops::at(vector_dim) == shape.rank() {
        let scalar = ops::integers(indices, shape.ty, &bounds)?.reshape(&[]);
        return ops::like_array(scalar, &shape);
    }
    ops::spread(ops::integers(indices, shape.ty, &bounds)?, &[vector_dim], &shape)
}

/// The largest number of an integer type, as far as 64 bits with sign go.
fn largest(ty: ElementType) -> i64 {
    let signed = hlo::elem::Class::Signed == ty.class();
    let bits = if signed { ty.bits() - 1 } else { ty.bits() };
    i64::try_from((1i128 << bits) - 1).unwrap_or(i64::MAX)
}
