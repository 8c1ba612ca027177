//! `reduce-scatter`: reduces like `all-reduce`, splits the result into equal shards and sends one
//! to each device of the group: the first to the device that the group lists first.
//!
//! The number of shards does not follow from the operands: the result states it, and
//! `verify/collectives.rs` compares it with the groups.
use super::groups::{arrays, block_ratio, global_ids, in_rank, multiple, results};
use super::rules::{only, reducer};
use super::value::ReplicaGroups;
use super::{Communication, GroupMode, Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Reduces like `all-reduce`; each device keeps its shard.
    pub struct ReduceScatter {
        /// The channel; together with `use_global_device_ids` it decides what the ids in the groups
        /// are.
        pub channel_id: Option<i64> = "channel_id" in channel_id or None;
        /// The groups of devices; empty for one group of all of them.
        pub replica_groups: ReplicaGroups = "replica_groups" in instruction, always ReplicaGroups::default();
        /// The layout must not be changed.
        pub constrain_layout: bool = "constrain_layout" in constrain_layout or false;
        /// The groups list flattened ids.
        pub use_global_device_ids: bool = "use_global_device_ids" in use_global_device_ids or false;
        /// The dimension that is divided.
        pub dimensions: Vec<i64> = "dimensions" in dimensions;
        /// Combines two values.
        pub to_apply: ComputationId = "to_apply" in called_computation_ids;
    }
}

impl ShapeRule for ReduceScatter {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        global_ids(self.channel_id, self.use_global_device_ids)?;
        let operands = arrays(cx)?;
        let dim = only(&self.dimensions, "dimensions")?;
        in_rank(dim, &operands, "reduce_scatter_c2")?;
        let stated = cx.stated()?;
        for (operand, result) in operands.iter().zip(results(cx, stated, "reduce_scatter_results")?)
        {
            reducer(cx, self.to_apply, &[operand.ty], "reduce_scatter_c7", "to_apply")?;
            multiple(result, operand, dim, "reduce_scatter_c1")?;
        }
        Ok(stated.clone())
    }
}
impl Communication for ReduceScatter {
    fn channel_id(&self) -> Option<i64> {
        self.channel_id
    }
    fn groups(&self) -> Option<(GroupMode, &ReplicaGroups)> {
        let mode = GroupMode::with_flag(self.channel_id, self.use_global_device_ids);
        Some((mode, &self.replica_groups))
    }
    fn check_group_size(&self, operands: &[&Shape], result: &Shape, devices: i64) -> Result<()> {
        block_ratio(
            Some(result),
            operands.first().copied(),
            &self.dimensions,
            devices,
            "reduce_scatter_group",
        )
    }
}
