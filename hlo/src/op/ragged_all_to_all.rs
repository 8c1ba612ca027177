//! `ragged-all-to-all`: every device of a group sends rows to every device; the numbers of rows are
//! operands.
//!
//! Operands: `(input, output, input_offsets, send_sizes, output_offsets, recv_sizes)`. Rows are
//! along dimension 0. Device i sends device j `send_sizes[j]` rows from `input_offsets[j]` on; they
//! are written to j's output from row `output_offsets[j]` on, so this offset counts rows of the
//! *receiver*. Rows of the output that are not written keep their value. The four lists have one
//! entry for each device of the group, or a row of entries for each, so that several ranges can be
//! sent. The rows can be the parts of a list of one dimension: `[devices * updates]`.
use super::value::{Ignored, ReplicaGroups};
use super::{Communication, GroupMode, Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{Result, Shape};

attrs! {
    /// Sends different numbers of rows between devices.
    pub struct RaggedAllToAll {
        /// The channel; with one, the ids in the groups are partitions, else replicas.
        pub channel_id: Option<i64> = "channel_id" in channel_id or None;
        /// The groups of devices; empty for one group of all of them.
        pub replica_groups: ReplicaGroups = "replica_groups" in instruction, always ReplicaGroups::default();
        /// Parsed and dropped.
        pub dimensions: Ignored = "dimensions" or Ignored;
    }
}

impl ShapeRule for RaggedAllToAll {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(cx.operands.len() == 6, "6 operands")?;
        let (input, output) = (cx.array(0)?, cx.array(1)?);
        let same_rows = input.ty == output.ty
            && input.rank() > 0
            && input.rank() == output.rank()
            && input.dims[1..] == output.dims[1..];
        check(same_rows, "ragged_all_to_all_rows", || {
            format!("rows of {input:#} do not fit in {output:#}")
        })
        .map_err(|e| e.on(Place::Operand(1)))?;
        let first = cx.array(2)?;
        check(matches!(first.rank(), 1 | 2), "ragged_all_to_all_rank", || {
            format!("the offsets are {first:#}, expected [devices] or [devices, updates]")
        })
        .map_err(|e| e.on(Place::Operand(2)))?;
        for i in 2..6 {
            cx.types(i, crate::ElementType::is_integral, "signed, unsigned")?;
            let list = cx.array(i)?;
            check(
                list.ty == first.ty && list.dims == first.dims,
                "ragged_all_to_all_lists",
                || {
                    format!(
                        "offsets and sizes must have the same shape, found {first:#} and {list:#}"
                    )
                },
            )
            .map_err(|e| e.on(Place::Operand(i)))?;
        }
        Ok(output.clone().into())
    }
}
impl Communication for RaggedAllToAll {
    fn channel_id(&self) -> Option<i64> {
        self.channel_id
    }
    fn groups(&self) -> Option<(GroupMode, &ReplicaGroups)> {
        Some((GroupMode::without_flag(self.channel_id), &self.replica_groups))
    }
    fn check_group_size(&self, operands: &[&Shape], _: &Shape, devices: i64) -> Result<()> {
        let Some(list) = operands.get(2).and_then(|list| list.array()) else { return Ok(()) };
        let found = list.dims.first().copied().unwrap_or_default();
        let fits = found == devices || (list.rank() == 1 && found > 0 && found % devices == 0);
        check(fits, "ragged_all_to_all_devices", || {
            format!("found sizes for {found:#} devices, but a group has {devices}")
        })
        .map_err(|e| e.on(Place::Operand(2)))
    }
}
