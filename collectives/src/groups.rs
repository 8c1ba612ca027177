//! The groups of devices that a collective op connects.
//!
//! Source: the four group modes of `StableHLO`'s "Collective ops", with XLA's order of members
//! where ids are replicas of all partitions: replica after replica.
use crate::{Code, Error, Result};
use hlo::Op;
use hlo::op::GroupMode;
use interp::{Device, DeviceGrid};

/// The groups of an op on a grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// Numbers of the devices of each group, in group order.
    pub groups: Vec<Vec<usize>>,
    /// The group of each device, and its index there; nothing for a device that is in no group.
    indices: Vec<Option<(usize, usize)>>,
}

impl Groups {
    /// Returns the groups of a collective op; nothing for an op without groups.
    ///
    /// # Errors
    /// `E0502` if an id is not one of the grid's, or a device is in two groups.
    pub fn of(op: &Op, grid: DeviceGrid) -> Option<Result<Self>> {
        let (mode, groups) = op.groups()?;
        // The number of ids is checked before a list is expanded, which could exceed the memory.
        let ids = match mode {
            GroupMode::CrossReplica | GroupMode::CrossReplicaAndPartition => grid.replicas,
            GroupMode::CrossPartition => grid.partitions,
            GroupMode::FlattenedId => grid.len(),
        };
        Some(match groups.counted() {
            Some(found) if usize::try_from(found).is_ok_and(|n| n > ids) => {
                let noun = mode.id_noun();
                let message = format!("the groups name {found} {noun}s, the run has {ids}");
                Err(Code::Groups { message }.into())
            }
            _ => Self::from_lists(mode, &groups.expand(), ids, grid),
        })
    }

    fn from_lists(
        mode: GroupMode,
        lists: &[Vec<i64>],
        ids: usize,
        grid: DeviceGrid,
    ) -> Result<Self> {
        let mut named = Vec::with_capacity(lists.len());
        for list in lists {
            let list: Result<Vec<usize>> =
                list.iter().map(|&id| check_id(id, ids, mode.id_noun())).collect();
            named.push(list?);
        }
        if named.is_empty() {
            if mode == GroupMode::FlattenedId {
                let message =
                    "the group mode requires ids of devices, and the op has no groups".to_owned();
                return Err(Code::Groups { message }.into());
            }
            named.push((0..ids).collect());
        }
        let groups: Vec<Vec<usize>> = match mode {
            GroupMode::FlattenedId => named,
            GroupMode::CrossReplica => (0..grid.partitions)
                .flat_map(|partition| {
                    let number = move |replica| grid.number(Device { replica, partition });
                    named.iter().map(move |ids| ids.iter().map(|&id| number(id)).collect())
                })
                .collect(),
            GroupMode::CrossPartition => (0..grid.replicas)
                .flat_map(|replica| {
                    let number = move |partition| grid.number(Device { replica, partition });
                    named.iter().map(move |ids| ids.iter().map(|&id| number(id)).collect())
                })
                .collect(),
            GroupMode::CrossReplicaAndPartition => {
                let all = |replica| {
                    let number = move |partition| grid.number(Device { replica, partition });
                    (0..grid.partitions).map(number)
                };
                named.iter().map(|ids| ids.iter().flat_map(|&id| all(id)).collect()).collect()
            }
        };
        Self::from_members(groups, grid)
    }

    fn from_members(groups: Vec<Vec<usize>>, grid: DeviceGrid) -> Result<Self> {
        let mut indices = vec![None; grid.len()];
        for (group, members) in groups.iter().enumerate() {
            for (place, &member) in members.iter().enumerate() {
                if indices[member].replace((group, place)).is_some() {
                    let message =
                        format!("device {member} is in two groups, or twice in one group");
                    return Err(Code::Groups { message }.into());
                }
            }
        }
        Ok(Self { groups, indices })
    }

    /// Returns the group of a device.
    pub fn group_of(&self, device: usize) -> Option<&[usize]> {
        let (group, _) = (*self.indices.get(device)?)?;
        self.groups.get(group).map(Vec::as_slice)
    }
    /// Returns the index of a device in its group.
    pub fn index_of(&self, device: usize) -> Option<usize> {
        self.indices.get(device).copied().flatten().map(|(_, place)| place)
    }
}

/// Checks that a replica, partition or device exists.
pub(crate) fn check_id(id: i64, count: usize, noun: &str) -> Result<usize> {
    let known = usize::try_from(id).ok().filter(|&id| id < count);
    known.ok_or_else(|| {
        let message = format!("{noun} {id} does not exist: the run has {count}");
        Error::from(Code::Groups { message })
            .with_help("run the module on more devices: see `--replicas` and `--partitions`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the groups of an all-reduce with these attributes, for 3 replicas and 2 partitions.
    fn groups(attributes: &str) -> Result<Vec<Vec<usize>>> {
        let text = format!(
            "HloModule m, replica_count=3, num_partitions=2
            add {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }}
            ENTRY e {{ x = s32[] parameter(0) ROOT r = s32[] all-reduce(x), {attributes}, to_apply=add }}"
        );
        let module = hlo::Module::parse(&text).unwrap();
        let op = &module.entry().instructions[module.entry().root].op;
        let grid = DeviceGrid { replicas: 3, partitions: 2 };
        Groups::of(op, grid).unwrap().map(|groups| groups.groups)
    }

    #[test]
    fn the_group_mode_determines_the_ids() {
        // Devices are numbered replica * 2 + partition.
        for (attributes, expected) in [
            ("replica_groups={}", vec![vec![0, 2, 4], vec![1, 3, 5]]),
            ("replica_groups={{2,0},{1}}", vec![vec![4, 0], vec![2], vec![5, 1], vec![3]]),
            ("channel_id=1, replica_groups={{0,2},{1}}", vec![vec![0, 1, 4, 5], vec![2, 3]]),
            ("channel_id=1, replica_groups={}", vec![vec![0, 1, 2, 3, 4, 5]]),
            (
                "channel_id=1, use_global_device_ids=true, replica_groups={{5,0},{1,2,3,4}}",
                vec![vec![5, 0], vec![1, 2, 3, 4]],
            ),
            (
                "channel_id=1, use_global_device_ids=true, replica_groups=[2,3]<=[3,2]T(1,0)",
                vec![vec![0, 2, 4], vec![1, 3, 5]],
            ),
        ] {
            assert_eq!(groups(attributes).unwrap(), expected, "{attributes}");
        }
    }
    #[test]
    fn ids_of_missing_devices_are_errors() {
        for attributes in [
            "replica_groups={{0,3}}",
            "replica_groups={{0,1},{1,2}}",
            "channel_id=1, use_global_device_ids=true, replica_groups={{0,6}}",
            "replica_groups=[500000000,4]<=[2000000000]",
            "channel_id=1, use_global_device_ids=true, replica_groups={}",
        ] {
            assert_eq!(groups(attributes).unwrap_err().number(), "E0502", "{attributes}");
        }
    }
}
