//! Checks that shardings fit their values: a tiling has the rank of its array, and each leaf of a
//! tuple a sharding.
use crate::diag::Place;
use crate::ir::{DeviceSharding, Instruction, NamedAxes, Placement, Sharding, TileDevices};
use crate::op::check as rule;
use crate::{Error, Module, Result, Shape};

pub(super) fn check(module: &Module, errors: &mut Vec<Error>) {
    for (_, computation) in module.computations.iter() {
        for (id, instruction) in computation.instructions.iter() {
            let result = check_instruction(instruction);
            let on = |error: Error| error.on(Place::Attribute("sharding")).at(computation.span(id));
            errors.extend(result.err().map(on));
        }
    }
}

fn check_instruction(instruction: &Instruction) -> Result<()> {
    let sharding = instruction.common.as_ref().and_then(|common| common.sharding.as_ref());
    match (sharding, &instruction.shape) {
        (None, _) | (Some(_), Shape::Token) => Ok(()),
        (Some(Sharding::One(one)), shape) => leaf(one, shape),
        (Some(Sharding::Tuple(all)), shape) => {
            // An empty tuple has one sharding, or none.
            let leaves = shape.leaves();
            let fits = shape.tuple().is_some()
                && (all.len() == leaves.len() || (leaves.is_empty() && all.len() == 1));
            rule(fits, "sharding_leaves", || {
                format!("expected one sharding for each leaf of {shape:#}, found {}", all.len())
            })?;
            all.iter().zip(leaves).try_for_each(|(one, shape)| leaf(one, shape))
        }
    }
}

fn leaf(sharding: &DeviceSharding, shape: &Shape) -> Result<()> {
    let dims = match &sharding.placement {
        Placement::Tiled(tiling) => {
            if let TileDevices::List(devices) = &tiling.devices {
                listed(devices)?;
            }
            tiling.dims.len() - tiling.subgroups.len()
        }
        Placement::Named(named) => match &named.axes {
            NamedAxes::Dims(dims) if dims.iter().any(|dim| !dim.axes.is_empty()) => dims.len(),
            NamedAxes::Dims(_)
            | NamedAxes::Replicated
            | NamedAxes::Manual
            | NamedAxes::Unreduced => return Ok(()),
        },
        Placement::Maximal(device) => return listed(&[*device]),
        Placement::Replicated
        | Placement::Manual
        | Placement::Unknown
        | Placement::Unreduced(_) => return Ok(()),
    };
    let Some(array) = shape.array() else { return Ok(()) };
    rule(array.rank() == dims, "sharding_rank", || {
        format!("the sharding is for rank {dims}, {shape:#} has rank {}", array.rank())
    })
}

/// Fails unless the devices are different numbers that are not negative.
fn listed(devices: &[i64]) -> Result<()> {
    let mut sorted = devices.to_vec();
    sorted.sort_unstable();
    let wrong = sorted
        .first()
        .copied()
        .filter(|&device| device < 0)
        .or_else(|| sorted.windows(2).find(|two| two[0] == two[1]).map(|two| two[0]));
    rule(wrong.is_none(), "sharding_devices", || match wrong.unwrap_or_default() {
        device @ ..0 => format!("{device} is not a device"),
        device => format!("the sharding lists device {device} twice"),
    })
}
