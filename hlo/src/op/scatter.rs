//! `scatter`: combines boxes into an array at places given by another.
use super::gather::{Batching, index_dims};
use super::rule::same_dims;
use super::rules::{ascending, one_or_tuple, reducer, unique_in_range};
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::ir::ComputationId;
use crate::{ArrayShape, ElementType, Result, Shape};

attrs! {
    /// Combines a box into the operand for each vector of indices, in row-major order of the updates.
    ///
    /// A box that does not lie inside the operand as a whole is skipped. Operands come first, then the indices, then
    /// the updates.
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
        /// Combines what is there with the update.
        pub to_apply: ComputationId = "to_apply";
    }
}

impl Scatter {
    fn lists(&self, operand: &ArrayShape, vector: i64, updates: &ArrayShape) -> Result<()> {
        let rank = operand.rank();
        ascending(&self.update_window_dims, "scatter_c7", "update_window_dims")?;
        unique_in_range(
            &self.update_window_dims,
            updates.rank(),
            "scatter_c8",
            "update_window_dims",
        )?;
        ascending(&self.inserted_window_dims, "scatter_c10", "inserted_window_dims")?;
        ascending(&self.input_batching_dims, "scatter_c12", "input_batching_dims")?;
        let left_out = [self.inserted_window_dims.as_slice(), &self.input_batching_dims].concat();
        unique_in_range(&left_out, rank, "scatter_c9", "inserted_window_dims")?;
        let covered = self.update_window_dims.len() + left_out.len();
        check(covered == rank, "scatter_c2", || {
            format!("window, inserted and batching dimensions are {covered}, the operand's rank is {rank}")
        })
        .map_err(|e| e.on(Place::Attribute("update_window_dims")))?;
        let mapped = i64::try_from(self.scatter_dims_to_operand_dims.len()).unwrap_or(i64::MAX);
        check(mapped == vector, "scatter_c19", || {
            format!("scatter_dims_to_operand_dims has {mapped} entries, an index vector {vector}")
        })
        .map_err(|e| e.on(Place::Attribute("scatter_dims_to_operand_dims")))?;
        unique_in_range(
            &self.scatter_dims_to_operand_dims,
            rank,
            "scatter_c20",
            "scatter_dims_to_operand_dims",
        )
    }

    fn updates(
        &self,
        operand: &ArrayShape,
        indices: &ArrayShape,
        updates: &ArrayShape,
        i: usize,
    ) -> Result<()> {
        let on = |e: crate::Error| e.on(Place::Operand(i));
        let (batch, _) = index_dims(indices, self.index_vector_dim, "scatter_c22")?;
        let wanted = batch.len() + self.update_window_dims.len();
        check(updates.rank() == wanted, "scatter_c4", || {
            format!("updates of rank {wanted} are wanted, found {updates}")
        })
        .map_err(on)?;
        let outer = super::rules::without(updates, &self.update_window_dims);
        check(outer == batch, "scatter_c4", || {
            format!("{updates} does not hold one box for each index vector of {indices}")
        })
        .map_err(on)?;
        let inner = (0i64..).zip(&operand.dims).filter(|(d, _)| {
            !self.inserted_window_dims.contains(d) && !self.input_batching_dims.contains(d)
        });
        for (&dim, (_, &size)) in self.update_window_dims.iter().zip(inner) {
            check(updates.dim(dim).is_some_and(|u| u <= size), "scatter_c4", || {
                format!("dimension {dim} of the updates {updates} exceeds {size}")
            })
            .map_err(on)?;
        }
        Ok(())
    }
}

impl ShapeRule for Scatter {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let count = cx.operands.len() / 2;
        cx.arity(cx.operands.len() % 2 == 1 && count > 0, "operands, indices and as many updates")?;
        let (first, indices) = (cx.array(0)?, cx.array(count)?);
        cx.types(count, ElementType::is_integral, "signed, unsigned")?;
        let (_, vector) = index_dims(indices, self.index_vector_dim, "scatter_c22")?;
        let mut inputs = Vec::with_capacity(count);
        for i in 0..count {
            let (operand, updates) = (cx.array(i)?, cx.array(count + 1 + i)?);
            same_dims(cx, first, operand, i)?;
            check(updates.ty.same_ignoring_precision(operand.ty), "scatter_c6", || {
                format!("the updates are {}, the operand {}", updates.ty, operand.ty)
            })
            .map_err(|e| e.on(Place::Operand(count + 1 + i)))?;
            self.lists(operand, vector, updates)?;
            self.updates(operand, indices, updates, count + 1 + i)?;
            inputs.push(operand.ty);
        }
        let (left, right) =
            (self.input_batching_dims.len(), self.scatter_indices_batching_dims.len());
        check(left == right, "scatter_c17", || {
            format!("{left} operand dimensions are batched with {right} of the indices")
        })
        .map_err(|e| e.on(Place::Attribute("scatter_indices_batching_dims")))?;
        unique_in_range(
            &self.scatter_indices_batching_dims,
            indices.rank(),
            "scatter_c14",
            "scatter_indices_batching_dims",
        )?;
        let batching = Batching {
            dims: &self.input_batching_dims,
            indices_dims: &self.scatter_indices_batching_dims,
            index_vector_dim: self.index_vector_dim,
            map: &self.scatter_dims_to_operand_dims,
            attribute: "scatter_indices_batching_dims",
        };
        batching.check(first, indices, ["scatter_c16", "scatter_c18", "scatter_c20"])?;
        reducer(cx, self.to_apply, &inputs, "scatter_c23", "to_apply")?;
        let shapes = cx.operands[..count].iter().map(|&shape| shape.clone());
        Ok(one_or_tuple(shapes.collect()))
    }
}
