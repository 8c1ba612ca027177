//! Ranges of `scan`: its steps one after the other.
use super::Stop;
use super::combine;
use super::evaluate::{Evaluator, Leaves, arrays, unknown};
use super::fold::{lanes_of, offsets, picked, reshaped, stacked};
use super::range::Range;
use super::site::Site;
use hlo::op::Scan;
use hlo::{ArrayShape, IndexSpace};

pub(super) fn scan<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &Scan,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    let carries = usize::try_from(op.num_carries).unwrap_or(0).min(operands.len());
    let (inputs, initial) = operands.split_at(operands.len() - carries);
    if op.is_associative && combine::any_rounds(ev.module, op.to_apply) {
        // The steps may be combined in another order, as those of a reduction.
        return Ok(unknown(site, Some(site.cause())));
    }
    let leaves = site.instruction().shape.leaves();
    let outputs = leaves[..leaves.len() - carries].iter().map(|leaf| leaf.array());
    let outputs: Option<Vec<&ArrayShape>> = outputs.collect();
    let outputs = outputs.ok_or_else(|| site.unsupported("a tuple"))?;
    let dim = op.dimensions.first().and_then(|&d| usize::try_from(d).ok()).unwrap_or(0);
    let mut extents =
        inputs.iter().filter_map(|range| range.shape()).chain(outputs.iter().copied());
    let steps = extents.find_map(|shape| shape.dims.get(dim));
    let steps = steps.and_then(|&steps| usize::try_from(steps).ok()).unwrap_or(0);
    let mut slices: Vec<Vec<Range>> = vec![Vec::with_capacity(steps); outputs.len()];
    let mut state: Vec<Range> = initial.iter().map(|&range| range.clone()).collect();
    for at in (0..steps).map(|at| if op.is_reverse { steps - 1 - at } else { at }) {
        let taken = inputs.iter().map(|range| slice(range, dim, at));
        let arguments = taken.chain(state).map(|range| vec![range]).collect();
        let mut results = ev.call(op.to_apply, arguments, None)?;
        state = results.split_off(outputs.len());
        for (all, slice) in slices.iter_mut().zip(results) {
            all.push(slice);
        }
    }
    if op.is_reverse {
        for all in &mut slices {
            all.reverse();
        }
    }
    let stacked = outputs.iter().zip(&slices).map(|(shape, all)| stacked(shape, dim, all));
    Ok(stacked.chain(state).collect())
}

/// Returns index `at` of a dimension, which is dropped.
fn slice(range: &Range, dim: usize, at: usize) -> Range {
    let Some(shape) = range.shape() else { return range.clone() };
    let stride = shape.dims.strides()[dim];
    let first = at * usize::try_from(stride).unwrap_or(0);
    let rest = offsets(shape, |d| d != dim);
    let kept = shape.dims.iter().enumerate().filter(|&(d, _)| d != dim).map(|(_, &size)| size);
    let kept = ArrayShape::new(shape.ty, kept.collect::<Vec<_>>().as_slice());
    reshaped(&picked(range, lanes_of(&kept), rest.iter().map(|&rest| first + rest)), &kept)
}
