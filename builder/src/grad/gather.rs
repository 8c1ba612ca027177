//! Derivatives of gather: slices are added back where they were taken.
use super::node::{Derivative, Node};
use super::ops;
use super::tangent::Tangent;
use crate::{Result, Value};
use hlo::op::{Gather, Scatter};

impl Derivative for Gather {
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let op = self;
        let operand = node.operand(0)?;
        let zeros = operand.zeros_like();
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
}

/// Clamps the indices as gather does, since scatter would skip slices outside the operand.
fn limited<'b>(op: &Gather, operand: Value<'b>, indices: Value<'b>) -> Result<Value<'b>> {
    let sizes = operand.array()?;
    let last = |&dim: &i64| sizes.dim(dim).unwrap_or(0) - op.slice_sizes[ops::at(dim)];
    let bounds: Vec<i64> = op.start_index_map.iter().map(last).collect();
    let high = ops::along_vectors(indices, op.index_vector_dim, &bounds)?;
    Ok(indices.clamp(0, high))
}
