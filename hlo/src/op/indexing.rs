//! The dimension numbers of `gather` and `scatter`: the correspondence of dimensions of the
//! operand, of the indices and of the slices.
use super::check;
use super::rules::List;
use crate::diag::Place;
use crate::diag::quantity;
use crate::{ArrayShape, Dims, Result};

/// The lists common to `gather` and `scatter`, each with its attribute name.
pub(super) struct Indexing<'a> {
    /// Dimensions of the array of slices that are dimensions of a slice.
    pub(super) window: List<'a>,
    /// Operand dimensions that the slices omit.
    pub(super) left_out: List<'a>,
    /// Batching dimensions of the operand.
    pub(super) batching: List<'a>,
    /// Batching dimensions of the indices.
    pub(super) paired: List<'a>,
    /// Operand dimension of each component of an index vector.
    pub(super) map: List<'a>,
    /// Dimension of the indices that holds an index vector.
    pub(super) index_vector_dim: i64,
}

/// The labels of the checks.
pub(super) struct IndexRules {
    pub(super) cover: &'static str,
    pub(super) vector_dim: &'static str,
    pub(super) window_order: &'static str,
    pub(super) window_range: &'static str,
    pub(super) left_out_order: &'static str,
    pub(super) left_out_range: &'static str,
    pub(super) left_out_unique: &'static str,
    pub(super) batching_order: &'static str,
    pub(super) batching_range: &'static str,
    pub(super) paired_count: &'static str,
    pub(super) paired_range: &'static str,
    pub(super) paired_unique: &'static str,
    pub(super) paired_vector: &'static str,
    pub(super) paired_sizes: &'static str,
    pub(super) map_count: &'static str,
    pub(super) map_range: &'static str,
    pub(super) map_unique: &'static str,
}

impl Indexing<'_> {
    /// Returns the sizes of the indices without the index vector dimension, and the length of an
    /// index vector.
    pub(super) fn batch(&self, indices: &ArrayShape, rules: &IndexRules) -> Result<(Dims, i64)> {
        let (dim, rank) = (self.index_vector_dim, indices.rank());
        let fits = usize::try_from(dim).is_ok_and(|d| d <= rank);
        check(fits, rules.vector_dim, || {
            format!(
                "index_vector_dim {dim} is neither a dimension of {indices:#} nor its rank, {rank}"
            )
        })
        .map_err(|e| e.on(Place::Attribute("index_vector_dim")))?;
        // After the last dimension: each element is an index vector of length 1.
        let length = indices.dim(dim).unwrap_or(1);
        Ok((super::rules::without(indices, &[dim]), length))
    }

    /// Fails unless the lists fit each other, the operand and the indices; the array of slices has
    /// rank `boxes`.
    pub(super) fn check(
        &self,
        operand: &ArrayShape,
        indices: &ArrayShape,
        boxes: usize,
        rules: &IndexRules,
    ) -> Result<()> {
        let (_, vector) = self.batch(indices, rules)?;
        let length = usize::try_from(vector).unwrap_or(usize::MAX);
        self.map.counts(length, rules.map_count, || {
            format!("one per component of an index vector of {indices:#}")
        })?;
        self.window.sorted(rules.window_order)?;
        self.window.unique(rules.window_order)?;
        self.window.below(boxes, rules.window_range, || format!("an array of rank {boxes}"))?;
        self.left_out.sorted(rules.left_out_order)?;
        self.left_out.within(operand, rules.left_out_range)?;
        self.batching.sorted(rules.batching_order)?;
        self.batching.within(operand, rules.batching_range)?;
        self.left_out.unique_with(self.batching, rules.left_out_unique)?;
        self.map.within(operand, rules.map_range)?;
        self.map.unique_with(self.batching, rules.map_unique)?;
        self.pairs(operand, indices, rules)?;
        let (window, left_out, batching) =
            (self.window.attribute, self.left_out.attribute, self.batching.attribute);
        let covered = [self.window, self.left_out, self.batching].map(|list| list.dims.len());
        let covered: usize = covered.iter().sum();
        check(covered == operand.rank(), rules.cover, || {
            let (covered, rank) = (quantity(covered, "dimension"), operand.rank());
            format!(
                "`{window}`, `{left_out}` and `{batching}` list {covered} together, expected {rank}: \
                 those of {operand:#}"
            )
        })
        .map_err(|e| e.on(Place::Attribute(window)))
    }

    /// Checks that the batching dimensions of the operand and of the indices agree in number and
    /// size.
    fn pairs(&self, operand: &ArrayShape, indices: &ArrayShape, rules: &IndexRules) -> Result<()> {
        self.paired.counts(self.batching.dims.len(), rules.paired_count, || {
            format!("as many as `{}`", self.batching.attribute)
        })?;
        self.paired.within(indices, rules.paired_range)?;
        self.paired.unique(rules.paired_unique)?;
        let on = |e: crate::Error| e.on(Place::Attribute(self.paired.attribute));
        check(!self.paired.dims.contains(&self.index_vector_dim), rules.paired_vector, || {
            format!(
                "dimension {} of {indices:#} is the index vector dimension",
                self.index_vector_dim
            )
        })
        .map_err(on)?;
        for (&dim, &of) in self.batching.dims.iter().zip(self.paired.dims) {
            check(operand.dim(dim) == indices.dim(of), rules.paired_sizes, || {
                format!("dimension {dim} of {operand:#} and {of} of {indices:#} differ in size")
            })
            .map_err(on)?;
        }
        Ok(())
    }
}
