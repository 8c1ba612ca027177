//! `all-reduce`: folds what the devices of a group hold.
use super::value::{Ignored, Reducer, ReplicaGroups};
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Gives every device of a group the fold of all their values.
    pub struct AllReduce {
        /// Names the channel; decides with `use_global_device_ids` what the ids in the groups are.
        pub channel_id: Option<i64> = "channel_id" also "all_reduce_id" or None;
        /// Which devices work together; empty for all of them.
        pub replica_groups: ReplicaGroups = "replica_groups" also "replica_group_ids", always ReplicaGroups::default();
        /// The layout may not be changed.
        pub constrain_layout: bool = "constrain_layout" or false;
        /// The groups hold flattened ids.
        pub use_global_device_ids: bool = "use_global_device_ids" or false;
        /// Read and left out: it follows from the other attributes.
        pub mode: Ignored = "mode" or Ignored;
        /// Of texts of 2018; means nothing now.
        pub barrier: Ignored = "barrier" or Ignored;
        /// Combines the values of two devices.
        pub to_apply: Reducer = "to_apply" or Reducer::default();
    }
}

impl ShapeRule for AllReduce {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Starts an [`AllReduce`].
    pub struct AllReduceStart {
        /// Names the channel; decides with `use_global_device_ids` what the ids in the groups are.
        pub channel_id: Option<i64> = "channel_id" also "all_reduce_id" or None;
        /// Which devices work together; empty for all of them.
        pub replica_groups: ReplicaGroups = "replica_groups" also "replica_group_ids", always ReplicaGroups::default();
        /// The layout may not be changed.
        pub constrain_layout: bool = "constrain_layout" or false;
        /// The groups hold flattened ids.
        pub use_global_device_ids: bool = "use_global_device_ids" or false;
        /// Read and left out: it follows from the other attributes.
        pub mode: Ignored = "mode" or Ignored;
        /// Of texts of 2018; means nothing now.
        pub barrier: Ignored = "barrier" or Ignored;
        /// Combines the values of two devices.
        pub to_apply: Reducer = "to_apply" or Reducer::default();
    }
}

impl ShapeRule for AllReduceStart {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Ends an [`AllReduce`].
    pub struct AllReduceDone {
    }
}

impl ShapeRule for AllReduceDone {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
