//! `ragged-all-to-all`: every device sends rows to every other.
use super::value::{Ignored, ReplicaGroups};
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Sends rows of different counts between devices.
    pub struct RaggedAllToAll {
        /// Names the channel; decides with `use_global_device_ids` what the ids in the groups are.
        pub channel_id: Option<i64> = "channel_id" also "all_reduce_id" or None;
        /// Which devices work together; empty for all of them.
        pub replica_groups: ReplicaGroups = "replica_groups", always ReplicaGroups::default();
        /// Read and left out.
        pub dimensions: Ignored = "dimensions" or Ignored;
    }
}

impl ShapeRule for RaggedAllToAll {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
