//! `scatter`: combines updates into an array at indices given by another.
use super::indexing::{IndexRules, Indexing};
use super::rules::{List, one_or_tuple, reducer, same_dims_as_first, without};
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::ir::ComputationId;
use crate::{ArrayShape, Dims, ElementType, Result, Shape};

attrs! {
    /// Combines a window of updates into the operand for each index vector.
    ///
    /// `scatter(operands..., scatter_indices, updates...)`: N operands of the same dimensions, one
    /// array of indices, N arrays of updates of the same dimensions. It is the reverse of `gather`:
    /// where `gather` would read a slice, `scatter` combines one with the operand. Index vectors,
    /// `index_vector_dim`, the map and the batching dimensions have the same meaning.
    ///
    /// The updates are applied in row-major order, so that several for one element combine in that
    /// order: `to_apply` takes the current elements of all operands, and then the updates. A window
    /// that is not entirely in bounds is skipped. Elements without an update keep the operand's
    /// value.
    ///
    /// # Shape
    ///
    /// The operand's shape; of several operands a tuple of their shapes.
    ///
    /// # Constraints
    ///
    /// - `scatter_c1`, `_c3`: all operands have the same dimensions, and so have all updates.
    /// - `scatter_c2`: window, inserted and batching dimensions are together as many as the operand
    ///   has.
    /// - `scatter_c4`: the updates have the dimensions of the indices (without the index vector
    ///   dimension), and in
    /// `update_window_dims` sizes that fit in the operand.
    /// - `scatter_c6`: updates and operand have the same element type, ignoring precision.
    /// - `scatter_c7`, `_c8`: `update_window_dims` are sorted, without duplicates, and are
    ///   dimensions of the updates.
    /// - `scatter_c9`, `_c10`, `_c11`: `inserted_window_dims` are dimensions of the operand, are
    ///   sorted, and none of them is
    /// listed twice or is a batching dimension. `scatter_c12`, `_c13`: the same for
    /// `input_batching_dims`.
    /// - `scatter_c14` to `_c18`: `scatter_indices_batching_dims` are dimensions of the indices,
    ///   without duplicates and without `index_vector_dim`, as many as the operand's batching
    ///   dimensions and of the same sizes.
    /// - `scatter_c19`, `_c20`, `_c21`: `scatter_dims_to_operand_dims` has as many entries as an
    ///   index vector; they are
    /// dimensions of the operand, without duplicates and batching dimensions.
    /// - `scatter_c22`: `index_vector_dim` is a dimension of the indices, or their rank.
    /// - `scatter_c23`: `to_apply` takes two scalars and returns one scalar per operand.
    pub struct Scatter {
        /// Update dimensions that are dimensions of a window.
        pub update_window_dims: Vec<i64> = "update_window_dims" in scatter_dimension_numbers.update_window_dims;
        /// Operand dimensions omitted from the updates; a window has one element there.
        pub inserted_window_dims: Vec<i64> = "inserted_window_dims" in scatter_dimension_numbers.inserted_window_dims;
        /// Operand dimension of each component of an index vector.
        pub scatter_dims_to_operand_dims: Vec<i64> = "scatter_dims_to_operand_dims" in scatter_dimension_numbers.scatter_dims_to_operand_dims;
        /// Batching dimensions of the operand.
        pub input_batching_dims: Vec<i64> = "input_batching_dims" in scatter_dimension_numbers.input_batching_dims or Vec::<i64>::new();
        /// Batching dimensions of the indices, paired with `input_batching_dims`.
        pub scatter_indices_batching_dims: Vec<i64> = "scatter_indices_batching_dims" in scatter_dimension_numbers.scatter_indices_batching_dims or Vec::<i64>::new();
        /// The dimension of the indices that holds an index vector.
        pub index_vector_dim: i64 = "index_vector_dim" in scatter_dimension_numbers.index_vector_dim;
        /// An assertion that does not change the result.
        pub indices_are_sorted: bool = "indices_are_sorted" in indices_are_sorted or false;
        /// An assertion that does not change the result.
        pub unique_indices: bool = "unique_indices" in unique_indices or false;
        /// Combines the current element with the update.
        pub to_apply: ComputationId = "to_apply" in called_computation_ids;
    }
}

const RULES: IndexRules = IndexRules {
    cover: "scatter_c2",
    window_order: "scatter_c7",
    window_range: "scatter_c8",
    left_out_unique: "scatter_c9",
    left_out_order: "scatter_c10",
    left_out_range: "scatter_c11",
    batching_order: "scatter_c12",
    batching_range: "scatter_c13",
    paired_unique: "scatter_c14",
    paired_range: "scatter_c15",
    paired_vector: "scatter_c16",
    paired_count: "scatter_c17",
    paired_sizes: "scatter_c18",
    map_count: "scatter_c19",
    map_unique: "scatter_c20",
    map_range: "scatter_c21",
    vector_dim: "scatter_c22",
};

impl Scatter {
    fn indexing(&self) -> Indexing<'_> {
        let list = |attribute, dims| List { attribute, dims };
        Indexing {
            window: list("update_window_dims", &self.update_window_dims),
            left_out: list("inserted_window_dims", &self.inserted_window_dims),
            batching: list("input_batching_dims", &self.input_batching_dims),
            paired: list("scatter_indices_batching_dims", &self.scatter_indices_batching_dims),
            map: list("scatter_dims_to_operand_dims", &self.scatter_dims_to_operand_dims),
            index_vector_dim: self.index_vector_dim,
        }
    }

    /// Checks that the updates have a window for each index vector, and that a window fits in the
    /// operand.
    fn check_boxes(&self, operand: &ArrayShape, batch: &Dims, updates: &ArrayShape) -> Result<()> {
        let outer = without(updates, &self.update_window_dims);
        check(outer == *batch, "scatter_c4", || {
            format!(
                "{updates:#} does not hold one window for each index vector: its dimensions outside a \
                 window are {outer:?}, those of the indices {batch:?}"
            )
        })?;
        let left_out = [self.inserted_window_dims.as_slice(), &self.input_batching_dims].concat();
        let inner = without(operand, &left_out);
        for (&dim, &size) in self.update_window_dims.iter().zip(&inner) {
            check(updates.dim(dim).is_some_and(|u| u <= size), "scatter_c4", || {
                format!(
                    "dimension {dim} of {updates:#} is larger than that of the operand, which is {size}"
                )
            })?;
        }
        Ok(())
    }
}

impl ShapeRule for Scatter {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let count = cx.operands.len() / 2;
        let odd = cx.operands.len() % 2 == 1 && count > 0;
        cx.arity(odd, "operands, indices, and as many updates as operands")?;
        let (operand, indices) = (cx.array(0)?, cx.array(count)?);
        cx.types(count, ElementType::is_integral, "signed, unsigned")?;
        let first = cx.array(count + 1)?;
        let mut inputs = Vec::with_capacity(count);
        for i in 0..count {
            same_dims_as_first(cx, i, "scatter_c1")?;
            let (ty, at) = (cx.array(i)?.ty, count + 1 + i);
            let updates = cx.array(at)?;
            check(updates.dims == first.dims, "scatter_c3", || {
                format!("the updates are {first:#} and {updates:#}, with different dimensions")
            })
            .map_err(|e| e.on(Place::Operand(at)))?;
            check(updates.ty.same_ignoring_precision(ty), "scatter_c6", || {
                format!("the updates are {}, the operand is {ty}", updates.ty)
            })
            .map_err(|e| e.on(Place::Operand(at)))?;
            inputs.push(ty);
        }
        let indexing = self.indexing();
        let (batch, _) = indexing.batch(indices, &RULES)?;
        let on = |e: crate::Error| e.on(Place::Operand(count + 1));
        let expected = batch.len() + self.update_window_dims.len();
        check(first.rank() == expected, "scatter_c4", || {
            format!(
                "the updates {first:#} have rank {}, expected {expected}: {} for the index vectors, {} \
                 of the window",
                first.rank(),
                batch.len(),
                self.update_window_dims.len()
            )
        })
        .map_err(on)?;
        indexing.check(operand, indices, first.rank(), &RULES)?;
        self.check_boxes(operand, &batch, first).map_err(on)?;
        reducer(cx, self.to_apply, &inputs, "scatter_c23", "to_apply")?;
        let shapes = cx.operands[..count].iter().map(|&shape| shape.clone());
        Ok(one_or_tuple(shapes.collect()))
    }
}
