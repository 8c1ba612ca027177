//! The devices that ids in groups denote.

/// The meaning of ids: `StableHLO`, "Collective ops".
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Mode {
    CrossReplica,
    CrossPartition,
    CrossReplicaAndPartition,
    FlattenedId,
}

impl Mode {
    /// Returns the attributes that select the mode.
    pub(crate) fn attributes(self) -> &'static str {
        match self {
            Self::CrossReplica => "",
            Self::CrossPartition | Self::CrossReplicaAndPartition => ", channel_id=3",
            Self::FlattenedId => ", channel_id=3, use_global_device_ids=true",
        }
    }
    /// Returns the devices of each group, in its order: device `replica * partitions + partition`.
    pub(crate) fn devices(
        self,
        ids: &[Vec<usize>],
        (replicas, partitions): (usize, usize),
    ) -> Vec<Vec<usize>> {
        let each = |others: usize, device: &dyn Fn(usize, usize) -> usize| -> Vec<Vec<usize>> {
            let group = |other, ids: &Vec<usize>| ids.iter().map(|&id| device(id, other)).collect();
            (0..others).flat_map(|other| ids.iter().map(move |ids| group(other, ids))).collect()
        };
        match self {
            Self::CrossReplica => each(partitions, &|r, p| r * partitions + p),
            Self::CrossPartition => each(replicas, &|p, r| r * partitions + p),
            // Replica after replica, as in XLA.
            Self::CrossReplicaAndPartition => {
                let all = |&r: &usize| r * partitions..(r + 1) * partitions;
                ids.iter().map(|ids| ids.iter().flat_map(all).collect()).collect()
            }
            Self::FlattenedId => ids.to_vec(),
        }
    }
}

#[test]
fn modes_by_hand() {
    let ids = [vec![3, 1], vec![0, 2]];
    for (mode, grid, expected) in [
        (Mode::CrossReplica, (4, 2), vec![vec![6, 2], vec![0, 4], vec![7, 3], vec![1, 5]]),
        (Mode::CrossPartition, (2, 4), vec![vec![3, 1], vec![0, 2], vec![7, 5], vec![4, 6]]),
        (Mode::CrossReplicaAndPartition, (4, 2), vec![vec![6, 7, 2, 3], vec![0, 1, 4, 5]]),
        (Mode::FlattenedId, (2, 2), vec![vec![3, 1], vec![0, 2]]),
    ] {
        assert_eq!(mode.devices(&ids, grid), expected);
    }
}
