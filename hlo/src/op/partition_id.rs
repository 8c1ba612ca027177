//! `partition-id` and `replica-id`: the ids of the device.
use super::{Infer, ShapeRule};
use crate::{ElementType, Result, Shape};

attrs! {
    /// Returns the partition of the device: `u32[]`.
    pub struct PartitionId {}
}
attrs! {
    /// Returns the replica of the device: `u32[]`.
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
