//! Groups as they are written, the ids they hold, and the devices these are.

/// What ids are: `StableHLO`, "Collective ops".
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Mode {
    CrossReplica,
    CrossPartition,
    CrossReplicaAndPartition,
    FlattenedId,
}

impl Mode {
    /// Replicas and partitions of the modules: four of what the ids are, or eight devices.
    pub(crate) fn grid(self) -> (usize, usize) {
        match self {
            Self::CrossPartition => (2, 4),
            Self::CrossReplica | Self::CrossReplicaAndPartition | Self::FlattenedId => (4, 2),
        }
    }
    /// The attributes that lead to it.
    pub(crate) fn attributes(self) -> &'static str {
        match self {
            Self::CrossReplica => "",
            Self::CrossPartition | Self::CrossReplicaAndPartition => ", channel_id=3",
            Self::FlattenedId => ", channel_id=3, use_global_device_ids=true",
        }
    }
    /// The devices of each group, in its order: device `replica * partitions + partition`.
    pub(crate) fn devices(self, ids: &[&[usize]]) -> Vec<Vec<usize>> {
        let (replicas, partitions) = self.grid();
        let mut groups = Vec::new();
        match self {
            Self::CrossReplica => {
                for p in 0..partitions {
                    groups.extend(
                        ids.iter().map(|ids| ids.iter().map(|r| r * partitions + p).collect()),
                    );
                }
            }
            Self::CrossPartition => {
                for r in 0..replicas {
                    groups.extend(
                        ids.iter().map(|ids| ids.iter().map(|p| r * partitions + p).collect()),
                    );
                }
            }
            // Replica after replica, as XLA has them.
            Self::CrossReplicaAndPartition => {
                let all = |r: &usize| r * partitions..(r + 1) * partitions;
                groups.extend(ids.iter().map(|ids| ids.iter().flat_map(all).collect()));
            }
            Self::FlattenedId => groups.extend(ids.iter().map(|ids| ids.to_vec())),
        }
        groups
    }
}

/// Groups in a text, and the ids in them.
#[derive(Debug)]
pub(crate) struct Spelling {
    pub(crate) text: &'static str,
    pub(crate) ids: &'static [&'static [usize]],
}

const fn means(text: &'static str, ids: &'static [&'static [usize]]) -> Spelling {
    Spelling { text, ids }
}

/// Of four ids.
pub(crate) const FOUR: [Spelling; 12] = [
    means("{}", &[&[0, 1, 2, 3]]),
    means("{{0,1,2,3}}", &[&[0, 1, 2, 3]]),
    means("{{3,1},{0,2}}", &[&[3, 1], &[0, 2]]),
    means("{{2},{0},{3},{1}}", &[&[2], &[0], &[3], &[1]]),
    means("[2,2]<=[4]", &[&[0, 1], &[2, 3]]),
    means("[2,2]<=[2,2]T(1,0)", &[&[0, 2], &[1, 3]]),
    means("[1,4]<=[2,2]T(1,0)", &[&[0, 2, 1, 3]]),
    means("mesh['x'=2,'y'=2] {'x'}", &[&[0, 2], &[1, 3]]),
    means("mesh['x'=2,'y'=2] {'y'}", &[&[0, 1], &[2, 3]]),
    // The first axis that is named varies slowest.
    means("mesh['x'=2,'y'=2] {'y','x'}", &[&[0, 2, 1, 3]]),
    // The slower half of an axis: steps of two.
    means("mesh['x'=4] {'x':(1)2}", &[&[0, 2], &[1, 3]]),
    // The mesh holds {{0,2},{1,3}}; along x are its columns.
    means("mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)) {'x'}", &[&[0, 1], &[2, 3]]),
];

/// Of four ids, in groups that differ in size.
pub(crate) const UNEVEN: [Spelling; 2] =
    [means("{{2},{3,0,1}}", &[&[2], &[3, 0, 1]]), means("{{1,0},{3},{2}}", &[&[1, 0], &[3], &[2]])];

/// Of eight ids.
pub(crate) const EIGHT: [Spelling; 8] = [
    means("{{0,1,2,3,4,5,6,7}}", &[&[0, 1, 2, 3, 4, 5, 6, 7]]),
    means("{{7,0},{3,4},{1,6},{5,2}}", &[&[7, 0], &[3, 4], &[1, 6], &[5, 2]]),
    means("[2,4]<=[8]", &[&[0, 1, 2, 3], &[4, 5, 6, 7]]),
    means("[2,4]<=[4,2]T(1,0)", &[&[0, 2, 4, 6], &[1, 3, 5, 7]]),
    // [a,b,c] of 2 x 2 x 2 holds 4a + 2b + c; c becomes the slowest, then a, then b.
    means("[4,2]<=[2,2,2]T(2,0,1)", &[&[0, 2], &[4, 6], &[1, 3], &[5, 7]]),
    means("mesh['x'=2,'y'=4] {'y'}", &[&[0, 1, 2, 3], &[4, 5, 6, 7]]),
    means("mesh['x'=2,'y'=4] {'x'}", &[&[0, 4], &[1, 5], &[2, 6], &[3, 7]]),
    means("mesh['x'=2,'y'=4] {'y':(2)2,'x'}", &[&[0, 4, 1, 5], &[2, 6, 3, 7]]),
];

#[test]
fn modes_by_hand() {
    let ids: &[&[usize]] = &[&[3, 1], &[0, 2]];
    for (mode, wanted) in [
        (Mode::CrossReplica, vec![vec![6, 2], vec![0, 4], vec![7, 3], vec![1, 5]]),
        (Mode::CrossPartition, vec![vec![3, 1], vec![0, 2], vec![7, 5], vec![4, 6]]),
        (Mode::CrossReplicaAndPartition, vec![vec![6, 7, 2, 3], vec![0, 1, 4, 5]]),
    ] {
        assert_eq!(mode.devices(ids), wanted);
    }
}
