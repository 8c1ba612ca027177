//! `scan`: a computation carried along a dimension.
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Runs a computation along a dimension, carrying values.
    pub struct Scan {
        /// The dimension; one entry.
        pub dimensions: Vec<i64> = "dimensions";
        /// How many values are carried.
        pub num_carries: i64 = "num_carries";
        /// From the end to the start.
        pub is_reverse: bool = "is_reverse" or false;
        /// A promise that changes no value.
        pub is_associative: bool = "is_associative", always false;
        /// One step.
        pub to_apply: ComputationId = "to_apply";
    }
}

impl ShapeRule for Scan {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
