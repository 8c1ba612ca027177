//! `all-reduce`: reduces the values of the devices of a group elementwise. Every device of the
//! group has the same result.
//!
//! Several operands are reduced independently, with the same computation. The order of the
//! reduction is that in which the group lists its devices.
use super::groups::{arrays, global_ids};
use super::rules::{one_or_tuple, reducer};
use super::value::{Ignored, Reducer, ReplicaGroups};
use super::{Communication, GroupMode, Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{Result, Shape};

attrs! {
    /// Reduces the values of all devices of a group.
    pub struct AllReduce,
    /// Starts an [`AllReduce`]: returns its result, which must not be used before the end.
    pub struct AllReduceStart {
        /// The channel; together with `use_global_device_ids` it decides what the ids in the groups
        /// are.
        pub channel_id: Option<i64> = "channel_id" in channel_id also "all_reduce_id" or None;
        /// The groups of devices; empty for one group of all of them.
        pub replica_groups: ReplicaGroups = "replica_groups" in instruction also "replica_group_ids", always ReplicaGroups::default();
        /// The layout must not be changed.
        pub constrain_layout: bool = "constrain_layout" in constrain_layout or false;
        /// The groups list flattened ids.
        pub use_global_device_ids: bool = "use_global_device_ids" in use_global_device_ids or false;
        /// Parsed and dropped: it follows from the other attributes.
        pub mode: Ignored = "mode" or Ignored;
        /// From texts of 2018; ignored.
        pub barrier: Ignored = "barrier" or Ignored;
        /// Combines the values of two devices.
        pub to_apply: Reducer = "to_apply" in called_computation_ids or Reducer::default();
    }
}
attrs! {
    /// Ends an [`AllReduce`]: returns its result.
    pub struct AllReduceDone {}
}

impl ShapeRule for AllReduce {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        global_ids(self.channel_id, self.use_global_device_ids)?;
        reduced(self.channel_id, self.to_apply, cx)
    }
}
impl ShapeRule for AllReduceStart {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        global_ids(self.channel_id, self.use_global_device_ids)?;
        reduced(self.channel_id, self.to_apply, cx)
    }
}
impl ShapeRule for AllReduceDone {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        Ok(cx.operands[0].clone())
    }
}
impl Communication for AllReduce {
    fn channel_id(&self) -> Option<i64> {
        self.channel_id
    }
    fn groups(&self) -> Option<(GroupMode, &ReplicaGroups)> {
        let mode = GroupMode::with_flag(self.channel_id, self.use_global_device_ids);
        Some((mode, &self.replica_groups))
    }
}
impl Communication for AllReduceStart {
    fn channel_id(&self) -> Option<i64> {
        self.channel_id
    }
    fn groups(&self) -> Option<(GroupMode, &ReplicaGroups)> {
        let mode = GroupMode::with_flag(self.channel_id, self.use_global_device_ids);
        Some((mode, &self.replica_groups))
    }
}
impl Communication for AllReduceDone {}

/// Returns the shapes of the operands, after checking that the computation reduces them.
fn reduced(channel_id: Option<i64>, to_apply: Reducer, cx: &Infer<'_>) -> Result<Shape> {
    check(channel_id.is_none_or(|id| id > 0), "channel_positive", || {
        format!("channel_id={} is not positive", channel_id.unwrap_or_default())
    })
    .map_err(|e| e.on(Place::Attribute("channel_id")))?;
    for operand in arrays(cx)? {
        if let Some(id) = to_apply.0 {
            reducer(cx, id, &[operand.ty], "all_reduce_c5", "to_apply")?;
        }
    }
    Ok(one_or_tuple(cx.operands.iter().map(|&o| o.clone()).collect()))
}
