//! `gather`: takes boxes at places given by an array.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Takes a box for each vector of indices.
    pub struct Gather {
        /// Result dimensions that lie inside a box.
        pub offset_dims: Vec<i64> = "offset_dims" also "output_window_dims";
        /// Operand dimensions of size 1 left out of the result.
        pub collapsed_slice_dims: Vec<i64> = "collapsed_slice_dims" also "elided_window_dims";
        /// Operand dimension of each component of an index vector.
        pub start_index_map: Vec<i64> = "start_index_map" also "gather_dims_to_operand_dims";
        /// Operand dimensions that go along with the indices.
        pub operand_batching_dims: Vec<i64> = "operand_batching_dims" or Vec::<i64>::new();
        /// Index dimensions paired with `operand_batching_dims`.
        pub start_indices_batching_dims: Vec<i64> = "start_indices_batching_dims" or Vec::<i64>::new();
        /// The dimension of the indices that holds a vector.
        pub index_vector_dim: i64 = "index_vector_dim";
        /// The box.
        pub slice_sizes: Vec<i64> = "slice_sizes" also "window_bounds";
        /// A promise that changes no value.
        pub indices_are_sorted: bool = "indices_are_sorted" or false;
    }
}

impl ShapeRule for Gather {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
