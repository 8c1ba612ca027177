//! Ranges of `scan`: its steps one after the other.
use super::Stop;
use super::combine;
use super::evaluate::{Evaluator, Leaves, arrays, unknown};
use super::fold::{lanes_of, offsets, picked, reshaped, stacked};
use super::range::Range;
use super::site::Site;
use hlo::op::Scan;
use hlo::{ArrayShape, IndexSpace};

/// Returns the results on one device, on which no step needs another.
pub(super) fn alone<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &Scan,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let call = |ev: &mut Evaluator<'m>, each: Vec<Vec<Leaves>>| {
        each.into_iter().map(|own| ev.call(op.to_apply, own, None)).collect()
    };
    let results = scan(ev, site, op, &[operands.to_vec()], call)?;
    Ok(results.into_iter().flatten().collect())
}

/// Returns the results on each device, with their operands, where `call` takes a step of all devices.
pub(super) fn scan<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &Scan,
    devices: &[Vec<&Leaves>],
    mut call: impl FnMut(&mut Evaluator<'m>, Vec<Vec<Leaves>>) -> Result<Vec<Leaves>, Stop>,
) -> Result<Vec<Leaves>, Stop> {
    if op.is_associative && combine::any_rounds(ev.module, op.to_apply) {
        // The steps may be combined in another order, as those of a reduction.
        return Ok(vec![unknown(site, Some(site.cause())); devices.len()]);
    }
    let devices = devices.iter().map(|operands| arrays(site, operands));
    let devices: Vec<Vec<&Range>> = devices.collect::<Result<_, _>>()?;
    let carries = usize::try_from(op.num_carries).unwrap_or(0);
    let leaves = site.instruction().shape.leaves();
    let outputs = leaves[..leaves.len().saturating_sub(carries)].iter().map(|leaf| leaf.array());
    let outputs: Option<Vec<&ArrayShape>> = outputs.collect();
    let outputs = outputs.ok_or_else(|| site.unsupported("a tuple"))?;
    let mut devices: Vec<Device<'_>> = devices
        .iter()
        .map(|operands| Device::of(operands, carries.min(operands.len()), outputs.len()))
        .collect();
    let dim = op.dimensions.first().and_then(|&d| usize::try_from(d).ok()).unwrap_or(0);
    let inputs = devices.iter().flat_map(|device| device.inputs);
    let mut extents = inputs.filter_map(|range| range.shape()).chain(outputs.iter().copied());
    let steps = extents.find_map(|shape| shape.dims.get(dim));
    let steps = steps.and_then(|&steps| usize::try_from(steps).ok()).unwrap_or(0);
    for at in (0..steps).map(|at| if op.is_reverse { steps - 1 - at } else { at }) {
        let arguments = devices.iter_mut().map(|device| device.arguments(dim, at)).collect();
        for (device, results) in devices.iter_mut().zip(call(ev, arguments)?) {
            device.take(results);
        }
    }
    let results = |mut device: Device<'_>| {
        if op.is_reverse {
            device.slices.iter_mut().for_each(|all| all.reverse());
        }
        let stacked =
            outputs.iter().zip(&device.slices).map(|(shape, all)| stacked(shape, dim, all));
        stacked.chain(device.state).collect()
    };
    Ok(devices.into_iter().map(results).collect())
}

/// What a device has done of a scan.
struct Device<'a> {
    inputs: &'a [&'a Range],
    state: Vec<Range>,
    /// The slices of each output, in the order of the steps.
    slices: Vec<Vec<Range>>,
}

impl<'a> Device<'a> {
    fn of(operands: &'a [&'a Range], carries: usize, outputs: usize) -> Self {
        let (inputs, initial) = operands.split_at(operands.len() - carries);
        let state = initial.iter().map(|&range| range.clone()).collect();
        Self { inputs, state, slices: vec![Vec::new(); outputs] }
    }
    /// Returns the arguments of a step, which replaces the state.
    fn arguments(&mut self, dim: usize, at: usize) -> Vec<Leaves> {
        let taken = self.inputs.iter().map(|range| slice(range, dim, at));
        taken.chain(std::mem::take(&mut self.state)).map(|range| vec![range]).collect()
    }
    fn take(&mut self, mut results: Leaves) {
        self.state = results.split_off(self.slices.len().min(results.len()));
        for (all, slice) in self.slices.iter_mut().zip(results) {
            all.push(slice);
        }
    }
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
