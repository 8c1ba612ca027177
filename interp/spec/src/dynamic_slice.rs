//! `dynamic-slice`: a box of the operand at start indices given by values
//!
//! `result[i] = operand[j]` with
//! `j[d] = clamp(0, start[d], operand size[d] - slice size[d]) + i[d]`
//!
//! - Each start index is clamped so that the slice is in bounds. An unsigned one is not negative,
//!   however large.
//! - There is one scalar for each dimension; older texts have one vector of them all.
//!
//! Source: StableHLO, `dynamic_slice`.
use super::{Operand, build};
use hlo::op::DynamicSlice;
use hlo::{ArrayShape, Dims, Literal};
use num::index::to_i64;

pub(super) fn dynamic_slice(
    op: &DynamicSlice,
    operand: &Operand<'_>,
    start_indices: &[Operand<'_>],
    shape: &ArrayShape,
) -> Literal {
    let DynamicSlice { dynamic_slice_sizes } = op;
    let start = start(operand, dynamic_slice_sizes, start_indices);
    build(shape, |index| {
        let source: Dims = start.iter().zip(index).map(|(start, i)| start + i).collect();
        operand.at(&source)
    })
}

/// Returns the start indices of a slice of these sizes, clamped so that it is in bounds.
pub(super) fn start(operand: &Operand<'_>, sizes: &[i64], start_indices: &[Operand<'_>]) -> Dims {
    let is_vector = start_indices.first().is_some_and(|indices| indices.rank() == 1);
    let start = |d: usize| {
        if is_vector {
            start_indices[0].integer_at(&[to_i64(d)])
        } else {
            start_indices[d].integer_at(&[])
        }
    };
    let dims = operand.shape.dims.iter().zip(sizes).enumerate();
    dims.map(|(d, (size, slice_size))| start(d).clamp(0, size - slice_size)).collect()
}
