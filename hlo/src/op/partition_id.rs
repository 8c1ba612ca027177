//! `partition-id` and `replica-id`: which device this is.
use super::{Infer, ShapeRule};
use crate::{ElementType, Result, Shape};

attrs! {
    /// The number of the partition this device runs: `u32[]`.
    pub struct PartitionId {}
}
attrs! {
    /// The number of the replica this device runs: `u32[]`.
    pub struct ReplicaId {}
}

impl ShapeRule for PartitionId {
    fn infer(&self, _: &Infer<'_>) -> Result<Shape> {
        Ok(Shape::scalar(ElementType::U32))
    }
}
impl ShapeRule for ReplicaId {
    fn infer(&self, _: &Infer<'_>) -> Result<Shape> {
        Ok(Shape::scalar(ElementType::U32))
    }
}
