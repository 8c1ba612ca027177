//! `all-gather`: concatenates the values of the devices of a group. Every device of the group has
//! the same result.
//!
//! The values are concatenated in the order in which the group lists its devices. Several operands
//! are gathered independently. The number of devices does not follow from the operands: the result
//! states it, and `verify/collectives.rs` compares it with the groups.
use super::groups::{arrays, block_ratio, global_ids, in_rank, multiple, results, second};
use super::rules::{one_or_tuple, only};
use super::value::ReplicaGroups;
use super::{Communication, GroupMode, Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Concatenates the values of a group's devices.
    pub struct AllGather,
    /// Starts an [`AllGather`]: returns `(operand, result)`, for several operands `((operands),
    /// (results))`.
    pub struct AllGatherStart {
        /// The channel; together with `use_global_device_ids` it decides what the ids in the groups
        /// are.
        pub channel_id: Option<i64> = "channel_id" in channel_id or None;
        /// The groups of devices; empty for one group of all of them.
        pub replica_groups: ReplicaGroups = "replica_groups" in instruction, always ReplicaGroups::default();
        /// The layout must not be changed.
        pub constrain_layout: bool = "constrain_layout" in constrain_layout or false;
        /// The dimension that is concatenated.
        pub dimensions: Vec<i64> = "dimensions" in dimensions;
        /// The groups list flattened ids.
        pub use_global_device_ids: bool = "use_global_device_ids" in use_global_device_ids or false;
    }
}
attrs! {
    /// Ends an [`AllGather`]: returns its result.
    pub struct AllGatherDone {}
}

impl ShapeRule for AllGather {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        global_ids(self.channel_id, self.use_global_device_ids)?;
        gathered(&self.dimensions, cx, cx.stated()?)
    }
}
impl ShapeRule for AllGatherStart {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        global_ids(self.channel_id, self.use_global_device_ids)?;
        let operands = one_or_tuple(cx.operands.iter().map(|&o| o.clone()).collect());
        // A shape that is not a pair cannot hold the result; the comparison of shapes reports it.
        let result = match cx.stated()?.tuple() {
            Some([_, result]) => gathered(&self.dimensions, cx, result)?,
            _ => operands.clone(),
        };
        Ok(Shape::Tuple(vec![operands, result]))
    }
}
impl ShapeRule for AllGatherDone {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        second(cx, "all_gather_done_operand")
    }
}
impl Communication for AllGather {
    fn channel_id(&self) -> Option<i64> {
        self.channel_id
    }
    fn groups(&self) -> Option<(GroupMode, &ReplicaGroups)> {
        let mode = GroupMode::with_flag(self.channel_id, self.use_global_device_ids);
        Some((mode, &self.replica_groups))
    }
    fn check_group_size(&self, operands: &[&Shape], result: &Shape, devices: i64) -> Result<()> {
        block_ratio(
            operands.first().copied(),
            Some(result),
            &self.dimensions,
            devices,
            "all_gather_group",
        )
    }
}
impl Communication for AllGatherStart {
    fn channel_id(&self) -> Option<i64> {
        self.channel_id
    }
    fn groups(&self) -> Option<(GroupMode, &ReplicaGroups)> {
        let mode = GroupMode::with_flag(self.channel_id, self.use_global_device_ids);
        Some((mode, &self.replica_groups))
    }
    fn check_group_size(&self, operands: &[&Shape], result: &Shape, devices: i64) -> Result<()> {
        let result = result.tuple().and_then(|pair| pair.get(1));
        block_ratio(
            operands.first().copied(),
            result,
            &self.dimensions,
            devices,
            "all_gather_group",
        )
    }
}
impl Communication for AllGatherDone {}

/// Returns `shape`, after checking that it is a result of these operands.
fn gathered(dimensions: &[i64], cx: &Infer<'_>, shape: &Shape) -> Result<Shape> {
    let operands = arrays(cx)?;
    let dim = only(dimensions, "dimensions")?;
    in_rank(dim, &operands, "all_gather_c1")?;
    for (operand, result) in operands.iter().zip(results(cx, shape, "all_gather_results")?) {
        multiple(operand, result, dim, "all_gather_c6")?;
    }
    Ok(shape.clone())
}
