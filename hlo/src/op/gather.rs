//! `gather`: slices with start indices from an array.
use super::indexing::{IndexRules, Indexing};
use super::rules::List;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ArrayShape, ElementType, Result, Shape};

attrs! {
    /// Takes a slice of the operand for each index vector, and combines the slices into one array.
    ///
    /// `gather(operand, start_indices)`. The indices are an array of integers of any width. One of
    /// its dimensions, `index_vector_dim`, holds the index vectors; the others, the *batch*
    /// dimensions, enumerate them. If `index_vector_dim` is the rank of the indices, each element
    /// is a vector of length 1.
    ///
    /// An index vector is the start of a slice: component `k` is the index along operand dimension
    /// `start_index_map[k]`; along a dimension in `operand_batching_dims` it is the index in the
    /// paired batch dimension; along all others it is 0. All slices have `slice_sizes`. Start
    /// indices are clamped so that the slice is in bounds.
    ///
    /// # Shape
    ///
    /// The operand's type. The result's dimensions in `offset_dims` are those of a slice: they have
    /// its sizes, in order, without the dimensions in `collapsed_slice_dims` and
    /// `operand_batching_dims`. Its other dimensions are the batch dimensions, in order.
    ///
    /// # Constraints
    ///
    /// - `gather_c1`: offset, collapsed and batching dimensions are together as many as the operand
    ///   has.
    /// - `gather_c2`: `index_vector_dim` is a dimension of the indices, or their rank.
    /// - `gather_c3`: `start_index_map` has as many entries as an index vector.
    /// - `gather_c4`, `_c5`: `offset_dims` are sorted, without duplicates, and are dimensions of
    ///   the result.
    /// - `gather_c6`, `_c7`, `_c8`: `collapsed_slice_dims` are dimensions of the operand, are
    ///   sorted, and none of them is
    /// listed twice or is a batching dimension. `gather_c10`, `_c11`: the same for
    /// `operand_batching_dims`.
    /// - `gather_c9`, `_c12`: along collapsed and batching dimensions a slice has at most one
    ///   element.
    /// - `gather_c13` to `_c17`: `start_indices_batching_dims` are dimensions of the indices,
    ///   without duplicates and without `index_vector_dim`, as many as the operand's batching
    ///   dimensions and of the same sizes.
    /// - `gather_c18`, `_c19`: `start_index_map` lists dimensions of the operand, without
    ///   duplicates and batching dimensions.
    /// - `gather_c20`, `_c21`: `slice_sizes` has an entry per operand dimension, none larger than
    ///   it.
    pub struct Gather {
        /// Result dimensions that are dimensions of a slice.
        pub offset_dims: Vec<i64> = "offset_dims" in gather_dimension_numbers.offset_dims also "output_window_dims";
        /// Operand dimensions omitted from the result; the slice has at most one element there.
        pub collapsed_slice_dims: Vec<i64> = "collapsed_slice_dims" in gather_dimension_numbers.collapsed_slice_dims also "elided_window_dims";
        /// Operand dimension of each component of an index vector.
        pub start_index_map: Vec<i64> = "start_index_map" in gather_dimension_numbers.start_index_map also "gather_dims_to_operand_dims";
        /// Batching dimensions of the operand.
        pub operand_batching_dims: Vec<i64> = "operand_batching_dims" in gather_dimension_numbers.operand_batching_dims or Vec::<i64>::new();
        /// Batching dimensions of the indices, paired with `operand_batching_dims`.
        pub start_indices_batching_dims: Vec<i64> = "start_indices_batching_dims" in gather_dimension_numbers.start_indices_batching_dims or Vec::<i64>::new();
        /// The dimension of the indices that holds an index vector.
        pub index_vector_dim: i64 = "index_vector_dim" in gather_dimension_numbers.index_vector_dim;
        /// Sizes of the slice, one per operand dimension.
        pub slice_sizes: Vec<i64> = "slice_sizes" in gather_slice_sizes also "window_bounds";
        /// An assertion that does not change the result.
        pub indices_are_sorted: bool = "indices_are_sorted" in indices_are_sorted or false;
    }
}

const RULES: IndexRules = IndexRules {
    cover: "gather_c1",
    vector_dim: "gather_c2",
    map_count: "gather_c3",
    window_order: "gather_c4",
    window_range: "gather_c5",
    left_out_unique: "gather_c6",
    left_out_order: "gather_c7",
    left_out_range: "gather_c8",
    batching_order: "gather_c10",
    batching_range: "gather_c11",
    paired_unique: "gather_c13",
    paired_range: "gather_c14",
    paired_vector: "gather_c15",
    paired_count: "gather_c16",
    paired_sizes: "gather_c17",
    map_unique: "gather_c18",
    map_range: "gather_c19",
};

impl Gather {
    fn indexing(&self) -> Indexing<'_> {
        let list = |attribute, dims| List { attribute, dims };
        Indexing {
            window: list("offset_dims", &self.offset_dims),
            left_out: list("collapsed_slice_dims", &self.collapsed_slice_dims),
            batching: list("operand_batching_dims", &self.operand_batching_dims),
            paired: list("start_indices_batching_dims", &self.start_indices_batching_dims),
            map: list("start_index_map", &self.start_index_map),
            index_vector_dim: self.index_vector_dim,
        }
    }

    fn check_box(&self, operand: &ArrayShape) -> Result<()> {
        let sizes = List { attribute: "slice_sizes", dims: &self.slice_sizes };
        let each = || format!("one per dimension of {operand:#}");
        sizes.counts(operand.rank(), "gather_c20", each)?;
        let on = |e: crate::Error| e.on(Place::Attribute("slice_sizes"));
        for (&size, &dim) in self.slice_sizes.iter().zip(&operand.dims) {
            check((0..=dim).contains(&size), "gather_c21", || {
                format!("a slice of size {size} does not fit in a dimension of size {dim}")
            })
            .map_err(on)?;
        }
        let left_out = [
            ("gather_c9", &self.collapsed_slice_dims),
            ("gather_c12", &self.operand_batching_dims),
        ];
        for (rule, dims) in left_out {
            for dim in dims {
                let size = usize::try_from(*dim).ok().and_then(|d| self.slice_sizes.get(d));
                check(size.is_some_and(|&size| size <= 1), rule, || {
                    let size = size.unwrap_or(&0);
                    format!("dimension {dim} is collapsed, but its slice has size {size}")
                })
                .map_err(on)?;
            }
        }
        Ok(())
    }
}

impl ShapeRule for Gather {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (operand, indices) = (cx.array(0)?, cx.array(1)?);
        cx.types(1, ElementType::is_integral, "signed, unsigned")?;
        let indexing = self.indexing();
        let (batch, _) = indexing.batch(indices, &RULES)?;
        let rank = self.offset_dims.len() + batch.len();
        indexing.check(operand, indices, rank, &RULES)?;
        self.check_box(operand)?;
        let left_out = [self.collapsed_slice_dims.as_slice(), &self.operand_batching_dims].concat();
        let kept = (0..operand.rank()).zip(0i64..).filter(|(_, d)| !left_out.contains(d));
        // A slice of a dynamic dimension has a static size, as in XLA.
        let mut sizes = kept.map(|(d, _)| {
            let size = self.slice_sizes[d];
            (size, operand.is_dynamic(d) && size == operand.dims[d])
        });
        let vector = usize::try_from(self.index_vector_dim).expect("checked above");
        let flags = (0..indices.rank()).filter(|&d| d != vector).map(|d| indices.is_dynamic(d));
        let mut batch = batch.into_iter().zip(flags);
        let dims = (0i64..).take(rank).filter_map(|d| {
            if self.offset_dims.contains(&d) { sizes.next() } else { batch.next() }
        });
        Ok(super::rule::with_dims(operand.ty, dims).into())
    }
}
