//! `all-to-all`: every device sends a part to every other.
use super::value::ReplicaGroups;
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Sends part i to device i of the group.
    pub struct AllToAll {
        /// Names the channel; decides with `use_global_device_ids` what the ids in the groups are.
        pub channel_id: Option<i64> = "channel_id" also "all_reduce_id" or None;
        /// Which devices work together; empty for all of them.
        pub replica_groups: ReplicaGroups = "replica_groups", always ReplicaGroups::default();
        /// The dimension that is split; absent in the tuple form.
        pub dimensions: Vec<i64> = "dimensions" or Vec::<i64>::new();
        /// The layout may not be changed.
        pub constrain_layout: bool = "constrain_layout" or false;
    }
}

impl ShapeRule for AllToAll {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
