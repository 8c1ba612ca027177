//! Groups of collective ops fit the module's replicas and partitions, and the shapes fit the groups.
//!
//! What the ids in a group are, and so how many there are, follows from `channel_id` and `use_global_device_ids`: see
//! [`GroupMode`]. Where the module has only one of them nothing is said about how many there are: a module that is partitioned
//! later already names the devices to come.
use crate::diag::Place;
use crate::ir::{Computation, Instruction, InstructionId, ModuleConfig};
use crate::op::value::ReplicaGroups;
use crate::op::{GroupMode, check as rule};
use crate::{Error, Module, Opcode, Result};

pub(super) fn check(module: &Module, errors: &mut Vec<Error>) {
    for (_, computation) in module.computations.iter() {
        for id in computation.instructions.ids() {
            let instruction = &computation.instructions[id];
            if let Err(error) = checked(&module.config, computation, instruction) {
                errors.push(placed(computation, id, error));
            }
        }
    }
}

fn placed(computation: &Computation, id: InstructionId, error: Error) -> Error {
    error.at(computation.spans.get(id).copied().unwrap_or_default().body)
}

fn checked(
    config: &ModuleConfig,
    computation: &Computation,
    instruction: &Instruction,
) -> Result<()> {
    if let Some((mode, pairs)) = instruction.op.pairs() {
        return pair_ids(config, mode, pairs);
    }
    let Some((mode, groups)) = instruction.op.groups() else { return Ok(()) };
    let opcode = instruction.opcode().started();
    let uneven = opcode == Opcode::AllReduce;
    // Who is in no group of a broadcast gets zeros.
    let some = opcode == Opcode::CollectiveBroadcast;
    let on = |e: Error| e.on(Place::Attribute("replica_groups"));
    let ids = match groups {
        ReplicaGroups::List(groups) => listed(groups, uneven, some, mode).map_err(on)?,
        // By construction every id stands once in one of the groups, which are of one size.
        ReplicaGroups::Iota(tiling) => tiling.ids().count(),
        ReplicaGroups::Mesh(groups) => groups.mesh().device_count(),
    };
    let count = mode.id_count(config);
    let fits = ids == count || (some && ids < count);
    rule(groups.is_empty() || count == 1 || fits, "groups_count", || match some {
        true => format!("{} {} is in a group, the module has {count}", mode.id_noun(), ids - 1),
        false => format!("the groups name {ids} ids, the module has {count} {}s", mode.id_noun()),
    })
    .map_err(on)?;
    rule(!groups.is_empty() || mode != GroupMode::FlattenedId, "groups_flattened_empty", || {
        "use_global_device_ids needs groups".to_owned()
    })
    .map_err(on)?;
    let in_group = match groups {
        ReplicaGroups::List(lists) => lists.first().map_or(count, |g| size(g.len())),
        ReplicaGroups::Iota(tiling) => tiling.group_size(),
        ReplicaGroups::Mesh(groups) => groups.group_size(),
    };
    let devices = in_group.saturating_mul(mode.devices_per_id(config));
    if devices < 1 || (devices == 1 && groups.is_empty()) {
        return Ok(());
    }
    let operands = instruction.operands.iter().map(|&id| &computation.instructions[id].shape);
    let operands: Vec<_> = operands.collect();
    let Some(op) = instruction.op.communication() else { return Ok(()) };
    op.check_group_size(&operands, &instruction.shape, devices)
}

fn size(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// How many ids the groups name, counted up to the largest. Each stands in one of them, unless `some` suffice.
fn listed(groups: &[Vec<i64>], uneven: bool, some: bool, mode: GroupMode) -> Result<i64> {
    rule(groups.iter().all(|group| !group.is_empty()), "groups_not_empty", || {
        "a group has no member".to_owned()
    })?;
    let equal = groups.windows(2).all(|two| two[0].len() == two[1].len());
    rule(uneven || equal, "groups_equal", || "the groups are not of one size".to_owned())?;
    let mut ids: Vec<_> = groups.concat();
    ids.sort_unstable();
    let noun = mode.id_noun();
    if some {
        let twice = ids.windows(2).find(|two| two[0] == two[1]);
        rule(ids.first().is_none_or(|&id| id >= 0), "groups_unique", || {
            format!("{} is no {noun}", ids[0])
        })?;
        rule(twice.is_none(), "groups_unique", || {
            format!("{noun} {} is in the groups twice", twice.map_or(0, |two| two[0]))
        })?;
        return Ok(ids.last().map_or(0, |&last| last.saturating_add(1)));
    }
    for (wanted, &id) in (0i64..).zip(&ids) {
        rule(id >= wanted, "groups_unique", || match id {
            ..0 => format!("{id} is no {noun}"),
            0.. => format!("{noun} {id} is in the groups twice"),
        })?;
        rule(id == wanted, "groups_cover", || {
            format!("{noun} {wanted:#} is in no group, but {noun} {id} is")
        })?;
    }
    Ok(size(ids.len()))
}

fn pair_ids(config: &ModuleConfig, mode: GroupMode, pairs: &[(i64, i64)]) -> Result<()> {
    let (count, noun) = (mode.id_count(config), mode.id_noun());
    let known = |id: i64| id >= 0 && (count == 1 || id < count);
    let wrong = pairs.iter().flat_map(|&(from, to)| [from, to]).find(|&id| !known(id));
    rule(wrong.is_none(), "collective_permute_c4", || {
        format!("{} is no {noun}: the module has {count}", wrong.unwrap_or_default())
    })
    .map_err(|e| e.on(Place::Attribute("source_target_pairs")))
}
