//! `reduce-scatter`: folds like `all-reduce`, cuts the result into equal blocks and gives each device of the group one: the
//! first to the device that the group lists first.
//!
//! How many blocks there are does not follow from the operands: the result states it, and `verify/collectives.rs`
//! compares it with the groups.
use super::groups::{arrays, block_ratio, global_ids, in_rank, multiple, results};
use super::rules::{only, reducer};
use super::value::ReplicaGroups;
use super::{Communication, GroupMode, Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Folds like `all-reduce`; each device keeps its part.
    pub struct ReduceScatter {
        /// Names the channel; decides with `use_global_device_ids` what the ids in the groups are.
        pub channel_id: Option<i64> = "channel_id" or None;
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
