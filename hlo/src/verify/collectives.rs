//! Checks that groups of collective ops fit the module's replicas and partitions, and that shapes
//! fit the groups.
//!
//! `channel_id` and `use_global_device_ids` determine the meaning of the ids in a group: see
//! [`GroupMode`]. If the module has only one replica or partition, the number of ids is not
//! checked: a module that is partitioned later can already name the devices.
use crate::diag::Place;
use crate::ir::{Computation, Instruction, InstructionId, ModuleConfig};
use crate::op::value::ReplicaGroups;
use crate::op::{GroupMode, check as rule};
use crate::{Error, Module, Opcode, Result, Span};
use rustc_hash::FxHashMap;

pub(super) fn check(module: &Module, errors: &mut Vec<Error>) {
    channels(module, errors);
    for (_, computation) in module.computations.iter() {
        for id in computation.instructions.ids() {
            let instruction = &computation.instructions[id];
            if let Err(error) = check_instruction(&module.config, computation, instruction) {
                errors.push(at_instruction(computation, id, error));
            }
        }
    }
}

/// Fails for a channel that collective ops and transfers between devices share. Several ops of one
/// kind may have one channel.
fn channels(module: &Module, errors: &mut Vec<Error>) {
    let mut known: FxHashMap<i64, (Opcode, Span)> = FxHashMap::default();
    for (_, computation) in module.computations.iter() {
        for (id, instruction) in computation.instructions.iter() {
            let op = &instruction.op;
            let Some(channel) = op.channel_id().filter(|_| !op.is_host_transfer()) else {
                continue;
            };
            let (opcode, span) = (op.opcode(), computation.span(id));
            let &mut (first, before) = known.entry(channel).or_insert((opcode, span));
            let result = rule(first.kind() == opcode.kind(), "channel_of_one_kind", || {
                format!("channel {channel} is that of `{first}`, and of this `{opcode}`")
            });
            errors.extend(result.err().map(|error| {
                let error = error.at(span).on(Place::Attribute("channel_id"));
                error.label(before, "first used here").with_help("give each a channel of its own")
            }));
        }
    }
}

fn at_instruction(computation: &Computation, id: InstructionId, error: Error) -> Error {
    error.at(computation.span(id))
}

fn check_instruction(
    config: &ModuleConfig,
    computation: &Computation,
    instruction: &Instruction,
) -> Result<()> {
    if let Some((mode, pairs)) = instruction.op.pairs() {
        return check_pairs(config, mode, pairs);
    }
    let Some((mode, groups)) = instruction.op.groups() else { return Ok(()) };
    let opcode = instruction.opcode().started();
    // A device in no group of a broadcast gets zeros.
    let partial = opcode == Opcode::CollectiveBroadcast;
    // Only the shapes of other ops depend on the number of devices.
    let uneven = partial || opcode == Opcode::AllReduce;
    let on = |e: Error| e.on(Place::Attribute("replica_groups"));
    let ids = match groups {
        ReplicaGroups::List(groups) => check_listed(groups, uneven, partial, mode).map_err(on)?,
        // By construction every id is in exactly one group, and the groups have the same size.
        ReplicaGroups::Iota(tiling) => tiling.ids().count(),
        ReplicaGroups::Mesh(groups) => groups.mesh().device_count(),
    };
    let count = mode.id_count(config);
    let fits = ids == count || (partial && ids < count);
    rule(groups.is_empty() || count == 1 || fits, "groups_count", || match partial {
        true => format!("{} {} is in a group, but the module has {count}", mode.id_noun(), ids - 1),
        false => {
            format!("the groups have {ids} ids, but the module has {count} {}s", mode.id_noun())
        }
    })
    .map_err(on)?;
    rule(!groups.is_empty() || mode != GroupMode::FlattenedId, "groups_flattened_empty", || {
        "`use_global_device_ids` needs `replica_groups`".to_owned()
    })
    .map_err(on)?;
    let in_group = match groups {
        ReplicaGroups::List(lists) => lists.first().map_or(count, |g| size(g.len())),
        ReplicaGroups::Iota(tiling) => tiling.group_size(),
        ReplicaGroups::Mesh(groups) => groups.group_size(),
    };
    let devices = in_group.saturating_mul(mode.devices_per_id(config));
    // Without a number of partitions, a group of one replica may stand for all partitions that the
    // module gets later.
    let is_open = mode == GroupMode::CrossReplicaAndPartition && config.num_partitions == 1;
    if devices < 1 || (devices == 1 && (groups.is_empty() || is_open)) {
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

/// Returns the number of ids, counted up to the largest. Every id must be in a group, unless
/// `partial`.
fn check_listed(groups: &[Vec<i64>], uneven: bool, partial: bool, mode: GroupMode) -> Result<i64> {
    rule(groups.iter().all(|group| !group.is_empty()), "groups_not_empty", || {
        "a group is empty".to_owned()
    })?;
    let equal = groups.windows(2).all(|two| two[0].len() == two[1].len());
    rule(uneven || equal, "groups_equal", || "the groups have different sizes".to_owned())?;
    let mut ids: Vec<_> = groups.concat();
    ids.sort_unstable();
    let noun = mode.id_noun();
    if partial {
        let twice = ids.windows(2).find(|two| two[0] == two[1]);
        rule(ids.first().is_none_or(|&id| id >= 0), "groups_unique", || {
            format!("{} is not a {noun}", ids[0])
        })?;
        rule(twice.is_none(), "groups_unique", || {
            format!("{noun} {} is in the groups twice", twice.map_or(0, |two| two[0]))
        })?;
        return Ok(ids.last().map_or(0, |&last| last.saturating_add(1)));
    }
    for (expected, &id) in (0i64..).zip(&ids) {
        rule(id >= expected, "groups_unique", || match id {
            ..0 => format!("{id} is not a {noun}"),
            0.. => format!("{noun} {id} is in the groups twice"),
        })?;
        rule(id == expected, "groups_cover", || {
            format!("{noun} {expected:#} is in no group, but {noun} {id} is")
        })?;
    }
    Ok(size(ids.len()))
}

fn check_pairs(config: &ModuleConfig, mode: GroupMode, pairs: &[(i64, i64)]) -> Result<()> {
    let (count, noun) = (mode.id_count(config), mode.id_noun());
    let known = |id: i64| id >= 0 && (count == 1 || id < count);
    let wrong = pairs.iter().flat_map(|&(from, to)| [from, to]).find(|&id| !known(id));
    rule(wrong.is_none(), "collective_permute_c4", || {
        format!("{} is not a {noun}: the module has {count}", wrong.unwrap_or_default())
    })
    .map_err(|e| e.on(Place::Attribute("source_target_pairs")))
}
