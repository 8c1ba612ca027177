//! `scatter`: combines boxes into an array at places given by another.
use super::indexing::{Indexing, Rules};
use super::rules::{List, one_or_tuple, reducer, same_dims_as_first, without};
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::ir::ComputationId;
use crate::{ArrayShape, Dims, ElementType, Result, Shape};

attrs! {
    /// Combines a box of updates into the operand for each vector of indices.
    ///
    /// `scatter(operands..., scatter_indices, updates...)`: N operands of the same dimensions, one array of indices, N
    /// arrays of updates of the same dimensions. It is `gather` the other way round: where `gather` would read a box,
    /// `scatter` combines one with what is there. Vectors of indices, `index_vector_dim`, the map and the batching
    /// dimensions mean the same as there.
    ///
    /// The updates are taken in row-major order, so that several for one place combine in that order: `to_apply` is
    /// given what is there, of all operands, and then the updates. A box that does not lie inside the operand as a whole
    /// is skipped. Without an update a place keeps the operand's value.
    ///
    /// # Shape
    ///
    /// The operand's shape; of several operands a tuple of their shapes.
    ///
    /// # Refused
    ///
    /// - `scatter_c1`, `_c3`: all operands have the same dimensions, and so have all updates.
    /// - `scatter_c2`: window, inserted and batching dimensions are as many as the operand has.
    /// - `scatter_c4`: the updates have the dimensions of the indices (without that of the vectors), and in
    ///   `update_window_dims` sizes that fit the operand.
    /// - `scatter_c6`: updates and operand have the same element type, precision aside.
    /// - `scatter_c7`, `_c8`: `update_window_dims` grow, without doubles, and are dimensions of the updates.
    /// - `scatter_c9`, `_c10`, `_c11`: `inserted_window_dims` are dimensions of the operand, grow, and none of them is
    ///   listed twice or is a batching dimension. `scatter_c12`, `_c13`: the same of `input_batching_dims`.
    /// - `scatter_c14` to `_c18`: `scatter_indices_batching_dims` are dimensions of the indices, without doubles and
    ///   without `index_vector_dim`, as many as the operand's batching dimensions and of the same sizes.
    /// - `scatter_c19`, `_c20`, `_c21`: `scatter_dims_to_operand_dims` has as many entries as an index vector; they are
    ///   dimensions of the operand, none twice, none that is batched.
    /// - `scatter_c22`: `index_vector_dim` is a dimension of the indices, or their rank.
    /// - `scatter_c23`: `to_apply` takes two scalars for each operand and gives one for each.
    pub struct Scatter {
        /// Update dimensions that lie inside a box.
        pub update_window_dims: Vec<i64> = "update_window_dims";
        /// Operand dimensions left out of the updates; a box has one element there.
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
        /// Combines what is there with the update.
        pub to_apply: ComputationId = "to_apply";
    }
}

const RULES: Rules = Rules {
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

    /// The updates hold a box for each vector of indices, and a box fits into the operand.
    fn check_boxes(&self, operand: &ArrayShape, batch: &Dims, updates: &ArrayShape) -> Result<()> {
        let outer = without(updates, &self.update_window_dims);
        check(outer == *batch, "scatter_c4", || {
            format!(
                "{updates:#} does not hold one box for each index vector: its dimensions outside a \
                 box are {outer:?}, those of the indices {batch:?}"
            )
        })?;
        let left_out = [self.inserted_window_dims.as_slice(), &self.input_batching_dims].concat();
        let inner = without(operand, &left_out);
        for (&dim, &size) in self.update_window_dims.iter().zip(&inner) {
            check(updates.dim(dim).is_some_and(|u| u <= size), "scatter_c4", || {
                format!(
                    "dimension {dim} of {updates:#} is larger than the operand, which has {size}"
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
                format!("the updates are {first:#} and {updates:#}, of different dimensions")
            })
            .map_err(|e| e.on(Place::Operand(at)))?;
            check(updates.ty.same_ignoring_precision(ty), "scatter_c6", || {
                format!("the updates are {}, the operand {ty}", updates.ty)
            })
            .map_err(|e| e.on(Place::Operand(at)))?;
            inputs.push(ty);
        }
        let indexing = self.indexing();
        let (batch, _) = indexing.batch(indices, &RULES)?;
        let on = |e: crate::Error| e.on(Place::Operand(count + 1));
        let wanted = batch.len() + self.update_window_dims.len();
        check(first.rank() == wanted, "scatter_c4", || {
            format!(
                "the updates {first:#} have rank {}, wanted {wanted}: {} for the index vectors, {} \
                 inside a box",
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
