//! `dynamic-update-slice`: the operand, with a box overwritten at start indices given by values
//!
//! ```text
//! result[i] = update[i - start] if that is an index of update, else operand[i]
//! with start[d] = clamp(0, start index[d], operand size[d] - update size[d])
//! ```
//!
//! - The start indices are given and clamped as those of `dynamic-slice`.
//!
//! Source: StableHLO, `dynamic_update_slice`.
use super::dynamic_slice::start;
use super::{Operand, build};
use hlo::op::DynamicUpdateSlice;
use hlo::{ArrayShape, Dims, Literal};

pub(super) fn dynamic_update_slice(
    op: &DynamicUpdateSlice,
    operand: &Operand<'_>,
    update: &Operand<'_>,
    start_indices: &[Operand<'_>],
    shape: &ArrayShape,
) -> Literal {
    let DynamicUpdateSlice {} = op;
    let start = start(operand, &update.shape.dims, start_indices);
    build(shape, |index| {
        let source: Dims = index.iter().zip(&start).map(|(i, start)| i - start).collect();
        let is_updated = source.iter().zip(&update.shape.dims).all(|(i, n)| (0..*n).contains(i));
        if is_updated { update.at(&source) } else { operand.at(index) }
    })
}
