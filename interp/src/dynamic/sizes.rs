//! Rules of sizes for single ops: where they go, and which must agree.
#![expect(clippy::wildcard_enum_match_arm, reason = "the rule of an op in the table has chosen it")]
use crate::{Error, Result};
use hlo::ir::Instruction;
use hlo::op::{Concatenate, Gather};
use hlo::{Array, Dims, Literal, Op};
use kernels::dynamic_slice;
use num::error::Code;
use num::index::{to_i64, to_usize};

fn bounds_of(operand: &Literal) -> &[i64] {
    &operand.array_shape().expect("verified: an array").dims
}

/// Returns the size in dimensions that must agree, given as pairs of size and bound: the one that
/// is below its bound.
pub(crate) fn common(places: impl IntoIterator<Item = (i64, i64)>) -> Result<Option<i64>> {
    let mut found = None;
    for (size, bound) in places {
        if size < bound
            && let Some(other) = found.replace(size)
            && other != size
        {
            let message = format!("sizes that must agree differ at run time: {other} and {size}");
            return Err(Code::Trap { message }.into());
        }
    }
    Ok(found)
}

/// Where sizes go when elements are moved within the bounds.
pub(super) fn moved(instruction: &Instruction, operands: &[Literal]) -> Result<Dims> {
    let shape = instruction.shape.array().expect("verified: an array");
    let mut sizes = shape.dims.clone();
    let (from, bounds) = (operands[0].sizes(), bounds_of(&operands[0]));
    match &instruction.op {
        Op::Broadcast(op) => {
            for (&d, &size) in op.dimensions.iter().zip(from) {
                sizes[to_usize(d)] = size;
            }
        }
        Op::Transpose(op) => {
            for (size, &d) in sizes.iter_mut().zip(&op.dimensions) {
                *size = from[to_usize(d)];
            }
        }
        // A part of a dimension has a fixed size.
        Op::Slice(op) => {
            for (d, range) in op.ranges.0.iter().enumerate() {
                if range.stride == 1 && sizes[d] == bounds[d] {
                    sizes[d] = from[d];
                }
            }
        }
        Op::DynamicSlice(_) => {
            for d in 0..sizes.len() {
                if sizes[d] == bounds[d] {
                    sizes[d] = from[d];
                }
            }
        }
        Op::Gather(op) => gathered(op, operands, &mut sizes),
        Op::BitcastConvert(_) => {
            let kept = sizes.len().min(from.len());
            if from[kept..] != bounds[kept..] {
                let message = "`bitcast-convert` of parts of elements that do not all count";
                return Err(Error::unsupported(message));
            }
            sizes[..kept].copy_from_slice(&from[..kept]);
        }
        _ => return Err(Error::internal("no op that moves elements")),
    }
    Ok(sizes)
}

/// Batch dimensions are as large as those of the indices; a dimension of the slices as large as the
/// operand's, if all of it is taken.
fn gathered(op: &Gather, operands: &[Literal], sizes: &mut Dims) {
    let (from, bounds) = (operands[0].sizes(), bounds_of(&operands[0]));
    let left_out =
        |d: &i64| op.collapsed_slice_dims.contains(d) || op.operand_batching_dims.contains(d);
    let kept = (0..bounds.len()).filter(|&d| !left_out(&to_i64(d)));
    for (d, &at) in kept.zip(&op.offset_dims) {
        if op.slice_sizes[d] == bounds[d] {
            sizes[to_usize(at)] = from[d];
        }
    }
    let vector = to_usize(op.index_vector_dim);
    let indices = operands[1].sizes().iter().enumerate().filter(|&(d, _)| d != vector);
    let batch = (0..sizes.len()).filter(|&d| !op.offset_dims.contains(&to_i64(d)));
    for (d, (_, &size)) in batch.zip(indices).collect::<Vec<_>>() {
        sizes[d] = size;
    }
}

/// Returns the operand's sizes; the update's where it covers a dimension.
pub(super) fn updated(operands: &[Literal]) -> Dims {
    let (operand, update) = (&operands[0], &operands[1]);
    let mut sizes = Dims::from_slice(operand.sizes());
    for (d, size) in sizes.iter_mut().enumerate() {
        let bound = bounds_of(update)[d];
        if bound == bounds_of(operand)[d] && update.sizes()[d] < bound {
            *size = update.sizes()[d];
        }
    }
    sizes
}

/// Fills what does not count in the update of a `dynamic-update-slice` with what lies there in the
/// operand: the place of the update depends on its bounds.
pub(super) fn whole_update(operands: &mut [Literal]) {
    if operands[1].dynamic_sizes().is_some() {
        let arrays = operands.iter().map(Literal::array).collect::<Option<Vec<&Array>>>();
        let arrays = arrays.expect("verified: arrays");
        let mut whole = dynamic_slice(arrays[0], &arrays[2..], arrays[1].shape());
        whole.copy_from(arrays[1]);
        operands[1] = whole.into();
    }
}

/// Cuts indices and updates of a scatter to what counts in both.
pub(super) fn cut_updates(op: &Op, operands: &mut [Literal]) -> Result<()> {
    let Op::Scatter(op) = op else { return Err(Error::internal("no scatter")) };
    let (_, rest) = operands.split_at_mut(operands.len() / 2);
    let vector = to_usize(op.index_vector_dim);
    let places = (0..rest[0].sizes().len()).filter(|&d| d != vector);
    let batch = (0..rest[1].sizes().len()).filter(|&d| !op.update_window_dims.contains(&to_i64(d)));
    let mut ties: Vec<Tie> =
        (0..rest[1].sizes().len()).map(|d| (1..rest.len()).map(|i| (i, d)).collect()).collect();
    for (place, d) in places.zip(batch) {
        ties[d].push((0, place));
    }
    let sizes = tied(rest, &ties)?;
    for (operand, sizes) in rest.iter_mut().zip(&sizes) {
        *operand = operand.clone().with_sizes(sizes).to_static();
    }
    Ok(())
}

/// Dimensions that must agree: operand and dimension.
type Tie = Vec<(usize, usize)>;

/// Returns the operands' sizes, where every tie has the one size that is below its bound.
pub(super) fn tied(operands: &[Literal], ties: &[Tie]) -> Result<Vec<Dims>> {
    let mut sizes: Vec<Dims> = operands.iter().map(|o| Dims::from_slice(o.sizes())).collect();
    for tie in ties {
        let places = tie.iter().map(|&(i, d)| (sizes[i][d], bounds_of(&operands[i])[d]));
        if let Some(size) = common(places)? {
            for &(i, d) in tie {
                sizes[i][d] = size;
            }
        }
    }
    Ok(sizes)
}

/// Returns the dimensions of the operands that must agree.
pub(super) fn ties(op: &Op, operands: &[Literal]) -> Vec<Tie> {
    let rank = operands[0].sizes().len();
    let alike = |count: usize| -> Vec<Tie> {
        (0..rank).map(|d| (0..count).map(|i| (i, d)).collect()).collect()
    };
    match op {
        Op::Map(_) | Op::Sort(_) => alike(operands.len()),
        Op::Reduce(_) | Op::ReduceWindow(_) => alike(operands.len() / 2),
        Op::Concatenate(Concatenate { dimensions }) => {
            let mut ties = alike(operands.len());
            ties.remove(to_usize(dimensions[0]));
            ties
        }
        Op::Dot(op) => {
            let left = op.lhs_batch_dims.iter().chain(&op.lhs_contracting_dims);
            let right = op.rhs_batch_dims.iter().chain(&op.rhs_contracting_dims);
            left.zip(right).map(|(&l, &r)| vec![(0, to_usize(l)), (1, to_usize(r))]).collect()
        }
        Op::Convolution(op) if op.feature_group_count == 1 && op.batch_group_count == 1 => {
            let labels = &op.dim_labels;
            vec![vec![(0, to_usize(labels.lhs_feature)), (1, to_usize(labels.rhs_input_feature))]]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_differ_are_both_named() {
        assert_eq!(common([(5, 5), (3, 5), (3, 4)]).unwrap(), Some(3));
        let error = common([(3, 5), (2, 5)]).unwrap_err().to_string();
        assert!(error.contains("differ at run time: 3 and 2"), "{error}");
    }
}
