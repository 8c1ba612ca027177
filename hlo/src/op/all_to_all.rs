//! `all-to-all`: every device of a group sends a part to every device.
//!
//! | form | operands | device i sends to device j | result of device i |
//! |---|---|---|---|
//! | array, with `dimensions` | one | block j of the dimension | block i of every device, in the group's order, along the same dimension |
//! | tuple, without | as many as the group has devices | operand j | element j came from device j |
//!
//! Texts of early 2019 have one operand without `dimensions` and an array as the result; they are
//! parsed as the tuple form of a group of one.
use super::groups::{arrays, in_rank};
use super::rules::only;
use super::value::ReplicaGroups;
use super::{Communication, GroupMode, Infer, ShapeRule, check};
use crate::diag::Place;
use crate::diag::quantity;
use crate::{Result, Shape};

attrs! {
    /// Sends part i to device i of the group.
    pub struct AllToAll {
        /// The channel; with one, the ids in the groups are partitions, else replicas.
        pub channel_id: Option<i64> = "channel_id" in channel_id or None;
        /// The groups of devices; empty for one group of all of them.
        pub replica_groups: ReplicaGroups = "replica_groups" in instruction, always ReplicaGroups::default();
        /// The dimension that is split; absent in the tuple form.
        pub dimensions: Vec<i64> = "dimensions" in dimensions or Vec::<i64>::new();
        /// The layout must not be changed.
        pub constrain_layout: bool = "constrain_layout" in constrain_layout or false;
    }
}

impl ShapeRule for AllToAll {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let operands = arrays(cx)?;
        let shapes = || cx.operands.iter().map(|&o| o.clone()).collect();
        if self.dimensions.is_empty() {
            let stated = cx.stated()?;
            for (i, operand) in operands.iter().enumerate() {
                let same = operand.ty == operands[0].ty && operand.dims == operands[0].dims;
                check(same, "all_to_all_same_shape", || {
                    format!("operands of `all-to-all` are {:#} and {operand:#}", operands[0])
                })
                .map_err(|e| e.on(Place::Operand(i)))?;
            }
            return Ok(match (stated, cx.operands) {
                (Shape::Array(_), [operand]) => (*operand).clone(),
                _ => Shape::Tuple(shapes()),
            });
        }
        let dim = only(&self.dimensions, "dimensions")?;
        cx.arity(operands.len() == 1, "1 operand when there are `dimensions`")?;
        in_rank(dim, &operands, "all_to_all_c1")?;
        let dynamic = (0..operands[0].rank()).any(|d| operands[0].is_dynamic(d));
        check(!dynamic, "all_to_all_dynamic", || {
            format!("{:#} has a dynamic dimension, and cannot be split", operands[0])
        })
        .map_err(|e| e.on(Place::Operand(0)))?;
        Ok(cx.operands[0].clone())
    }
}
impl Communication for AllToAll {
    fn channel_id(&self) -> Option<i64> {
        self.channel_id
    }
    fn groups(&self) -> Option<(GroupMode, &ReplicaGroups)> {
        Some((GroupMode::without_flag(self.channel_id), &self.replica_groups))
    }
    fn check_group_size(&self, operands: &[&Shape], _: &Shape, devices: i64) -> Result<()> {
        let Some(&dim) = self.dimensions.first() else {
            let count = operands.len();
            return check(i64::try_from(count) == Ok(devices), "all_to_all_operands", || {
                format!(
                    "found {}, but a group has {}",
                    quantity(count, "operand"),
                    quantity(devices, "device")
                )
            });
        };
        let dim = usize::try_from(dim).ok();
        let size = dim.and_then(|dim| operands.first()?.array()?.dims.get(dim).copied());
        let size = size.unwrap_or_default();
        check(size % devices == 0, "all_to_all_c2", || {
            format!("a size of {size:#} cannot be split among {devices} devices")
        })
        .map_err(|e| e.on(Place::Attribute("dimensions")))
    }
}
