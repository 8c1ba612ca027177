//! `collective-broadcast`: one device of a group sends its value to the others.
//!
//! The first device of a group sends. With `has_dynamic_root` the last operand, `s32[n]`, has for
//! each of the n operands before it the position of the sending device in the group. A device in no
//! group gets zeros.
use super::groups::arrays;
use super::rules::one_or_tuple;
use super::value::ReplicaGroups;
use super::{Communication, GroupMode, Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ElementType, Result, Shape};

attrs! {
    /// Sends the value of the first device of a group to all of its devices.
    pub struct CollectiveBroadcast {
        /// The channel; with one, the ids in the groups are partitions, else replicas.
        pub channel_id: Option<i64> = "channel_id" in channel_id or None;
        /// The groups of devices; empty for one group of all of them.
        pub replica_groups: ReplicaGroups = "replica_groups" in instruction, always ReplicaGroups::default();
        /// The last operand selects the sending device.
        pub has_dynamic_root: bool = "has_dynamic_root" in has_dynamic_root or false;
    }
}

impl ShapeRule for CollectiveBroadcast {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let operands = arrays(cx)?;
        let mut data = operands.len();
        if self.has_dynamic_root {
            cx.arity(data > 1, "at least 2 operands with `has_dynamic_root`")?;
            data -= 1;
            let root = operands[data];
            let count = i64::try_from(data).unwrap_or(i64::MAX);
            check(
                root.ty == ElementType::S32 && root.dims.as_slice() == [count],
                "collective_broadcast_root",
                || format!("the roots are {root}, expected s32[{data:#}]: one per operand"),
            )
            .map_err(|e| e.on(Place::Operand(data)))?;
        }
        Ok(one_or_tuple(cx.operands[..data].iter().map(|&o| o.clone()).collect()))
    }
}
impl Communication for CollectiveBroadcast {
    fn channel_id(&self) -> Option<i64> {
        self.channel_id
    }
    fn groups(&self) -> Option<(GroupMode, &ReplicaGroups)> {
        Some((GroupMode::without_flag(self.channel_id), &self.replica_groups))
    }
}
