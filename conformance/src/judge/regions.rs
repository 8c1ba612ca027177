//! Ranges of manual regions: what the devices of a program before partitioning compute.
//!
//! The program is evaluated as it runs: the outer program calls each region as a custom call, and all
//! devices evaluate the module of the region together.
use super::Stop;
use super::devices;
use super::evaluate::{Evaluator, Leaves};
use super::range::Range;
use super::site::Site;
use collectives::spmd::{Program, Region};
use hlo::Literal;
use hlo::op::CustomCall;

/// The program, or the region of it, that is evaluated.
#[derive(Clone, Copy)]
pub(super) enum Part<'m> {
    Outer(&'m Program),
    Region(&'m Region),
}

/// Returns the value of a custom call that runs a region, or gives a device its part of a value; none
/// of other calls.
pub(super) fn evaluate<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &CustomCall,
    operands: &[&Leaves],
) -> Result<Option<Leaves>, Stop> {
    let target = op.custom_call_target.0.as_str();
    let open = || site.unsupported("a sum of the values of devices");
    let given: Vec<&Range> = operands.iter().flat_map(|leaves| leaves.iter()).collect();
    match ev.part {
        Some(Part::Outer(program)) => {
            let Some(region) = program.region(target) else { return Ok(None) };
            let arguments: Vec<Leaves> = operands.iter().map(|&leaves| leaves.clone()).collect();
            let (module, part) = (region.module(), Part::Region(region));
            let devices = ev.in_module(module, Some(part), |inner| {
                devices::call(inner, module.entry, &vec![arguments; region.devices()])
            })?;
            let leaves = 0..devices.first().map_or(0, Vec::len);
            let leaf = |i: usize| {
                let ranges: Vec<&Range> = devices.iter().map(|device| &device[i]).collect();
                together(&ranges, &|values| region.assembled(i, values))
            };
            leaves.map(leaf).collect::<Option<_>>().map(Some).ok_or_else(open)
        }
        Some(Part::Region(region)) => {
            let Some(device) = ev.device else { return Ok(None) };
            let is_known = |values: &[&Literal], i| {
                let shape = site.instruction().shape.leaves()[i];
                region.received(target, (device, i), values, shape)
            };
            let leaves = 0..site.instruction().shape.leaves().len();
            let all: Option<Leaves> =
                leaves.map(|i| together(&given, &|values| is_known(values, i))).collect();
            Ok(all)
        }
        None => Ok(None),
    }
}

/// Returns the range whose ends follow from those of several ranges, of which elements are moved.
fn together(ranges: &[&Range], end: &dyn Fn(&[&Literal]) -> Option<Literal>) -> Option<Range> {
    let of = |k: usize, of: fn(&Range) -> &Literal| {
        end(&ranges.iter().map(|range| of(range.candidate(k))).collect::<Vec<_>>())
    };
    let count = ranges.iter().map(|range| range.candidates().len()).max().unwrap_or(1);
    let each = |k| Some(Range::new(of(k, |range| &range.lo)?, of(k, |range| &range.hi)?, None));
    let all: Vec<Range> = (0..count).map(each).collect::<Option<_>>()?;
    let causes = ranges.iter().filter_map(|range| range.cause.clone());
    Some(Range::any_of(&all).because(causes.max_by_key(|cause| cause.kind)))
}
