//! `reduce-scatter`: folds across devices and hands out the parts.
use super::value::ReplicaGroups;
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Folds like `all-reduce`; each device keeps its part.
    pub struct ReduceScatter {
        /// Names the channel; decides with `use_global_device_ids` what the ids in the groups are.
        pub channel_id: Option<i64> = "channel_id" also "all_reduce_id" or None;
        /// Which devices work together; empty for all of them.
        pub replica_groups: ReplicaGroups = "replica_groups", always ReplicaGroups::default();
        /// The layout may not be changed.
        pub constrain_layout: bool = "constrain_layout" or false;
        /// The groups hold flattened ids.
        pub use_global_device_ids: bool = "use_global_device_ids" or false;
        /// The dimension that is divided.
        pub dimensions: Vec<i64> = "dimensions";
        /// Combines two values.
        pub to_apply: ComputationId = "to_apply";
    }
}

impl ShapeRule for ReduceScatter {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
