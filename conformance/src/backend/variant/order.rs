//! Orders that are open: of elements that are equal to a comparator, and of updates.
use super::edit::Edit;
use hlo::op::Reverse;
use hlo::{Op, Shape};

/// Sorts the reversed operands, so that equal elements change places.
pub(super) fn sort(edit: &mut Edit<'_>) -> bool {
    let Op::Sort(op) = edit.op() else { return false };
    let operands = edit.operands();
    let all = operands.iter().all(|&x| edit.array(x).is_some());
    if op.is_stable || op.to_apply.is_none() || !all {
        return false;
    }
    let rank = edit.shape(operands[0]).rank();
    let Ok(dimension) = i64::try_from(op.dimension(rank)) else { return false };
    for (i, x) in operands.into_iter().enumerate() {
        let shape = edit.shape(x);
        let reversed = edit.add(Reverse { dimensions: vec![dimension] }, shape, [x]);
        edit.computation.instruction_mut(edit.at).operands[i] = reversed;
    }
    true
}

/// Applies the updates of a `scatter` in the opposite order.
pub(super) fn scatter(edit: &mut Edit<'_>) -> bool {
    let Op::Scatter(op) = edit.op() else { return false };
    let operands = edit.operands();
    if matches!(edit.instruction().shape, Shape::Tuple(_)) || edit.arrays().is_none() {
        return false;
    }
    let [_, indices, updates] = operands[..] else { return false };
    if op.indices_are_sorted {
        return false;
    }
    let (index_shape, update_shape) = (edit.shape(indices), edit.shape(updates));
    // The dimensions that count updates, of both operands.
    let counts = (0i64..).take(index_shape.rank()).filter(|&d| d != op.index_vector_dim);
    let outer = (0i64..).take(update_shape.rank()).filter(|d| !op.update_window_dims.contains(d));
    let pairs: Vec<(i64, i64)> =
        counts.zip(outer).filter(|(d, _)| !op.scatter_indices_batching_dims.contains(d)).collect();
    let (of_indices, of_updates): (Vec<i64>, Vec<i64>) = pairs.into_iter().unzip();
    let reversals = [(1, indices, of_indices), (2, updates, of_updates)];
    for (i, x, dimensions) in reversals {
        let shape = edit.shape(x);
        let reversed = edit.add(Reverse { dimensions }, shape, [x]);
        edit.computation.instruction_mut(edit.at).operands[i] = reversed;
    }
    true
}
