//! `collective-broadcast`: one device of a group sends to the others.
use super::value::ReplicaGroups;
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Gives every device of a group the value of its first.
    pub struct CollectiveBroadcast {
        /// Names the channel; decides with `use_global_device_ids` what the ids in the groups are.
        pub channel_id: Option<i64> = "channel_id" also "all_reduce_id" or None;
        /// Which devices work together; empty for all of them.
        pub replica_groups: ReplicaGroups = "replica_groups", always ReplicaGroups::default();
        /// The last operand says which device sends.
        pub has_dynamic_root: bool = "has_dynamic_root" or false;
    }
}

impl ShapeRule for CollectiveBroadcast {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
