//! `all-gather`: concatenates what the devices of a group hold.
use super::value::ReplicaGroups;
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Concatenates the values of a group's devices.
    pub struct AllGather {
        /// Names the channel; decides with `use_global_device_ids` what the ids in the groups are.
        pub channel_id: Option<i64> = "channel_id" also "all_reduce_id" or None;
        /// Which devices work together; empty for all of them.
        pub replica_groups: ReplicaGroups = "replica_groups", always ReplicaGroups::default();
        /// The layout may not be changed.
        pub constrain_layout: bool = "constrain_layout" or false;
        /// The dimension that grows.
        pub dimensions: Vec<i64> = "dimensions";
        /// The groups hold flattened ids.
        pub use_global_device_ids: bool = "use_global_device_ids" or false;
    }
}

impl ShapeRule for AllGather {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Starts an [`AllGather`].
    pub struct AllGatherStart {
        /// Names the channel; decides with `use_global_device_ids` what the ids in the groups are.
        pub channel_id: Option<i64> = "channel_id" also "all_reduce_id" or None;
        /// Which devices work together; empty for all of them.
        pub replica_groups: ReplicaGroups = "replica_groups", always ReplicaGroups::default();
        /// The layout may not be changed.
        pub constrain_layout: bool = "constrain_layout" or false;
        /// The dimension that grows.
        pub dimensions: Vec<i64> = "dimensions";
        /// The groups hold flattened ids.
        pub use_global_device_ids: bool = "use_global_device_ids" or false;
    }
}

impl ShapeRule for AllGatherStart {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Ends an [`AllGather`].
    pub struct AllGatherDone {
    }
}

impl ShapeRule for AllGatherDone {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
