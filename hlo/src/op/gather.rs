//! `gather`: takes boxes at places given by an array.
use super::rules::{ascending, unique_in_range};
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ArrayShape, Dims, ElementType, Result, Shape};

attrs! {
    /// Takes a box for each vector of indices; each index is limited so that the box lies inside the operand.
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
        /// Sizes of the box.
        pub slice_sizes: Vec<i64> = "slice_sizes" also "window_bounds";
        /// A promise that changes no value.
        pub indices_are_sorted: bool = "indices_are_sorted" or false;
    }
}

/// The sizes of an index array without the dimension that holds a vector, and the vector's length.
pub(super) fn index_dims(
    indices: &ArrayShape,
    index_vector_dim: i64,
    rule: &'static str,
) -> Result<(Dims, i64)> {
    let rank = i64::try_from(indices.rank()).unwrap_or(i64::MAX);
    check((0..=rank).contains(&index_vector_dim), rule, || {
        format!("index_vector_dim {index_vector_dim} does not lie in {indices}")
    })
    .map_err(|e| e.on(Place::Attribute("index_vector_dim")))?;
    let length = indices.dim(index_vector_dim).unwrap_or(1);
    Ok((super::rules::without(indices, &[index_vector_dim]), length))
}

/// Batching dimensions of an array and of its indices go together: as many, of the same sizes, none of them the one
/// that holds a vector, and none given by an index as well.
pub(super) struct Batching<'a> {
    pub(super) dims: &'a [i64],
    pub(super) indices_dims: &'a [i64],
    pub(super) index_vector_dim: i64,
    pub(super) map: &'a [i64],
    pub(super) attribute: &'static str,
}

impl Batching<'_> {
    /// `rules` are those of the vector's dimension, the sizes, and the map.
    pub(super) fn check(
        &self,
        operand: &ArrayShape,
        indices: &ArrayShape,
        rules: [&'static str; 3],
    ) -> Result<()> {
        let on = |e: crate::Error| e.on(Place::Attribute(self.attribute));
        check(!self.indices_dims.contains(&self.index_vector_dim), rules[0], || {
            format!("dimension {} of the indices holds a vector", self.index_vector_dim)
        })
        .map_err(on)?;
        for (&dim, &of) in self.dims.iter().zip(self.indices_dims) {
            check(operand.dim(dim) == indices.dim(of), rules[1], || {
                format!("dimension {dim} of {operand} and {of} of {indices} differ in size")
            })
            .map_err(on)?;
        }
        let both = self.dims.iter().find(|dim| self.map.contains(dim));
        check(both.is_none(), rules[2], || {
            format!("dimension {} is both batched and given by an index", both.unwrap_or(&0))
        })
        .map_err(on)
    }
}

impl Gather {
    fn lists(&self, operand: &ArrayShape, vector: i64, result_rank: usize) -> Result<()> {
        let rank = operand.rank();
        ascending(&self.offset_dims, "gather_c4", "offset_dims")?;
        unique_in_range(&self.offset_dims, result_rank, "gather_c4", "offset_dims")?;
        ascending(&self.collapsed_slice_dims, "gather_c7", "collapsed_slice_dims")?;
        ascending(&self.operand_batching_dims, "gather_c10", "operand_batching_dims")?;
        let left_out = [self.collapsed_slice_dims.as_slice(), &self.operand_batching_dims].concat();
        unique_in_range(&left_out, rank, "gather_c6", "collapsed_slice_dims")?;
        let mapped = i64::try_from(self.start_index_map.len()).unwrap_or(i64::MAX);
        check(mapped == vector, "gather_c19", || {
            format!("start_index_map has {mapped} entries, an index vector {vector}")
        })
        .map_err(|e| e.on(Place::Attribute("start_index_map")))?;
        unique_in_range(&self.start_index_map, rank, "gather_c20", "start_index_map")?;
        let covered = self.offset_dims.len() + left_out.len();
        check(covered == rank && self.slice_sizes.len() == rank, "gather_c1", || {
            format!("offset, collapsed and batching dimensions are {covered}, slice sizes {}, the operand's rank {rank}", self.slice_sizes.len())
        })
        .map_err(|e| e.on(Place::Attribute("slice_sizes")))?;
        for (&size, &dim) in self.slice_sizes.iter().zip(&operand.dims) {
            check((0..=dim).contains(&size), "gather_c12", || {
                format!("a slice of size {size} does not fit a dimension of size {dim}")
            })
            .map_err(|e| e.on(Place::Attribute("slice_sizes")))?;
        }
        for &dim in &left_out {
            let size = usize::try_from(dim).ok().and_then(|d| self.slice_sizes.get(d)).copied();
            check(size.is_some_and(|s| s <= 1), "gather_c8", || {
                format!("dimension {dim} is left out of the result, so its slice has at most one element")
            })
            .map_err(|e| e.on(Place::Attribute("slice_sizes")))?;
        }
        Ok(())
    }
}

impl ShapeRule for Gather {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (operand, indices) = (cx.array(0)?, cx.array(1)?);
        cx.types(1, ElementType::is_integral, "signed, unsigned")?;
        let (batch, vector) = index_dims(indices, self.index_vector_dim, "gather_c2")?;
        let rank = self.offset_dims.len() + batch.len();
        self.lists(operand, vector, rank)?;
        let (left, right) =
            (self.operand_batching_dims.len(), self.start_indices_batching_dims.len());
        check(left == right, "gather_c16", || {
            format!("{left} operand dimensions are batched with {right} of the indices")
        })
        .map_err(|e| e.on(Place::Attribute("start_indices_batching_dims")))?;
        unique_in_range(
            &self.start_indices_batching_dims,
            indices.rank(),
            "gather_c14",
            "start_indices_batching_dims",
        )?;
        let batching = Batching {
            dims: &self.operand_batching_dims,
            indices_dims: &self.start_indices_batching_dims,
            index_vector_dim: self.index_vector_dim,
            map: &self.start_index_map,
            attribute: "start_indices_batching_dims",
        };
        batching.check(operand, indices, ["gather_c15", "gather_c17", "gather_c18"])?;
        let sizes = (0i64..).zip(&self.slice_sizes).filter(|(d, _)| {
            !self.collapsed_slice_dims.contains(d) && !self.operand_batching_dims.contains(d)
        });
        let mut sizes = sizes.map(|(_, &size)| size);
        let mut batch = batch.into_iter();
        let dims = (0i64..).take(rank).filter_map(|d| {
            if self.offset_dims.contains(&d) { sizes.next() } else { batch.next() }
        });
        Ok(ArrayShape::new(operand.ty, dims.collect::<Dims>()).into())
    }
}
