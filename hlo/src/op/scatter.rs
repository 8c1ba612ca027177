//! `scatter`: combines boxes into an array at places given by another.
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Combines a box into the operand for each vector of indices.
    pub struct Scatter {
        /// Update dimensions that lie inside a box.
        pub update_window_dims: Vec<i64> = "update_window_dims";
        /// Operand dimensions of size 1 left out of the updates.
        pub inserted_window_dims: Vec<i64> = "inserted_window_dims";
        /// Operand dimension of each component of an index vector.
        pub scatter_dims_to_operand_dims: Vec<i64> = "scatter_dims_to_operand_dims";
        /// Operand dimensions that go along with the indices.
        pub input_batching_dims: Vec<i64> = "input_batching_dims" or Vec::<i64>::new();
        /// Index dimensions paired with `input_batching_dims`.
        pub scatter_indices_batching_dims: Vec<i64> = "scatter_indices_batching_dims" or Vec::<i64>::new();
        /// The dimension of the indices that holds a vector.
        pub index_vector_dim: i64 = "index_vector_dim";
        /// A promise that changes no value.
        pub indices_are_sorted: bool = "indices_are_sorted" or false;
        /// A promise that changes no value.
        pub unique_indices: bool = "unique_indices" or false;
        /// Combines two values.
        pub to_apply: ComputationId = "to_apply";
    }
}

impl ShapeRule for Scatter {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
