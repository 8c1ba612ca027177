//! `partition-id` and `replica-id`: which device this is.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// The partition this device runs.
    pub struct PartitionId {
    }
}

impl ShapeRule for PartitionId {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// The replica this device runs.
    pub struct ReplicaId {
    }
}

impl ShapeRule for ReplicaId {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
