//! `gather`, `scatter`, `sort`, `torch_index_select`.
use super::scope::Scope;
use crate::error::Result;
use crate::ir::{Attributes, Op};
use hlo::ir::{ComputationId, InstructionId};
use hlo::op::{Gather, Scatter, Sort};

/// Converts `stablehlo.gather`.
pub(crate) fn gather(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.exactly(op)?;
    let slice_sizes = scope.required(op, "slice_sizes")?;
    let id = gather_of(scope, op, operands, slice_sizes)?;
    scope.bind(op, id)
}

/// Adds a gather with the attributes of the op.
pub(super) fn gather_of(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    operands: [InstructionId; 2],
    slice_sizes: Vec<i64>,
) -> Result<InstructionId> {
    let fields: &Attributes = scope.required(op, "dimension_numbers")?;
    let list = |name| scope.field_list(op, fields, name);
    let made = Gather {
        offset_dims: list("offset_dims")?,
        collapsed_slice_dims: list("collapsed_slice_dims")?,
        start_index_map: list("start_index_map")?,
        operand_batching_dims: list("operand_batching_dims")?,
        start_indices_batching_dims: list("start_indices_batching_dims")?,
        index_vector_dim: scope.field(op, fields, "index_vector_dim")?.unwrap_or(0),
        slice_sizes,
        indices_are_sorted: scope.flag(op, "indices_are_sorted")?,
    };
    scope.emit(op, made, &operands)
}

/// Converts `stablehlo.scatter`: inputs, indices, an array of updates for each input.
pub(crate) fn scatter<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let to_apply = scope.applied(op, 0)?;
    let made = scatter_dims(scope, op, to_apply)?;
    let id = scope.emit(op, made, &operands)?;
    scope.bind_all(op, id)
}
fn scatter_dims(scope: &Scope<'_, '_>, op: &Op, to_apply: ComputationId) -> Result<Scatter> {
    let fields: &Attributes = scope.required(op, "scatter_dimension_numbers")?;
    let list = |name| scope.field_list(op, fields, name);
    Ok(Scatter {
        update_window_dims: list("update_window_dims")?,
        inserted_window_dims: list("inserted_window_dims")?,
        scatter_dims_to_operand_dims: list("scatter_dims_to_operand_dims")?,
        input_batching_dims: list("input_batching_dims")?,
        scatter_indices_batching_dims: list("scatter_indices_batching_dims")?,
        index_vector_dim: scope.field(op, fields, "index_vector_dim")?.unwrap_or(0),
        indices_are_sorted: scope.flag(op, "indices_are_sorted")?,
        unique_indices: scope.flag(op, "unique_indices")?,
        to_apply,
    })
}

/// Converts `stablehlo.sort`: the last dimension by default.
pub(crate) fn sort<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let Some(&first) = operands.first() else {
        return Err(scope.malformed(op, "`stablehlo.sort` needs an operand"));
    };
    let rank = i64::try_from(scope.array(op, first)?.rank()).unwrap_or(i64::MAX);
    let stated = scope.optional(op, "dimension")?.unwrap_or(-1);
    let dimension = if stated < 0 { stated + rank } else { stated };
    let is_stable = scope.flag(op, "is_stable")?;
    let to_apply = Some(scope.applied(op, 0)?);
    let made = Sort { dimensions: Some(vec![dimension]), is_stable, to_apply };
    let id = scope.emit(op, made, &operands)?;
    scope.bind_all(op, id)
}

/// Converts `stablehlo.torch_index_select`: slices of a dimension, chosen by an array of indices.
pub(crate) fn torch_index_select(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 2] = scope.exactly(op)?;
    let dim: i64 = scope.required(op, "dim")?;
    let batch: i64 = scope.required(op, "batch_dims")?;
    let (x, indices) = (scope.array(op, operands[0])?, scope.array(op, operands[1])?);
    let rank = |array: &hlo::ArrayShape| i64::try_from(array.rank()).unwrap_or(i64::MAX);
    let Some(slot) = usize::try_from(dim).ok().filter(|&dim| dim < x.rank()) else {
        return Err(scope.malformed(op, format!("{x:#} has no dimension {dim}")));
    };
    if batch > dim || batch > rank(&indices) || batch < 0 {
        return Err(
            scope.malformed(op, format!("`batch_dims` is {batch}, more than the operands have"))
        );
    }
    let mut slice_sizes = x.dims.to_vec();
    slice_sizes[slot] = 1;
    let batches: Vec<i64> = (0..batch).collect();
    for &batch in &batches {
        slice_sizes[usize::try_from(batch).unwrap_or(0)] = 1;
    }
    // The dimensions of the indices replace `dim`; those before and after it are the dimensions of
    // a slice.
    let new = rank(&indices) - batch;
    let offset_dims = (batch..dim).chain(dim + new..rank(&x) + new - 1).collect();
    let made = Gather {
        offset_dims,
        collapsed_slice_dims: vec![dim],
        start_index_map: vec![dim],
        operand_batching_dims: batches.clone(),
        start_indices_batching_dims: batches,
        index_vector_dim: rank(&indices),
        slice_sizes,
        indices_are_sorted: false,
    };
    let id = scope.emit(op, made, &operands)?;
    scope.bind(op, id)
}
