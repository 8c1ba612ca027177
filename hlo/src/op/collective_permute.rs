//! `collective-permute`: devices send along given pairs.
use super::value::Pairs;
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Sends each source's value to its target.
    pub struct CollectivePermute {
        /// Names the channel; decides with `use_global_device_ids` what the ids in the groups are.
        pub channel_id: Option<i64> = "channel_id" also "all_reduce_id" or None;
        /// Who sends to whom.
        pub source_target_pairs: Pairs = "source_target_pairs";
        /// Sizes of the parts moved in place.
        pub slice_sizes: Vec<Vec<i64>> = "slice_sizes" or Vec::<Vec<i64>>::new();
    }
}

impl ShapeRule for CollectivePermute {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Starts a [`CollectivePermute`].
    pub struct CollectivePermuteStart {
        /// Names the channel; decides with `use_global_device_ids` what the ids in the groups are.
        pub channel_id: Option<i64> = "channel_id" also "all_reduce_id" or None;
        /// Who sends to whom.
        pub source_target_pairs: Pairs = "source_target_pairs";
        /// Sizes of the parts moved in place.
        pub slice_sizes: Vec<Vec<i64>> = "slice_sizes" or Vec::<Vec<i64>>::new();
    }
}

impl ShapeRule for CollectivePermuteStart {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Ends a [`CollectivePermute`].
    pub struct CollectivePermuteDone {
    }
}

impl ShapeRule for CollectivePermuteDone {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
