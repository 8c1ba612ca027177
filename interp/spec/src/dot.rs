//! `dot`: sums of products over the contracting dimensions
//!
//! `result[b.., l.., r..] = sum over k of lhs[b.., l.., k..] * rhs[b.., r.., k..]`
//!
//! - b are the dimensions that `lhs_batch_dims` and `rhs_batch_dims` pair, in the order listed; k
//!   those that `lhs_contracting_dims` and `rhs_contracting_dims` pair; l and r are the other
//!   dimensions of each operand, in order.
//! - Without contracting dimensions each sum has one term; over a dimension of size 0 it has none
//!   and is 0.
//! - The operands may differ in type, and the result may be wider or narrower than both: see
//!   [`products`](super::products), also for `algorithm`.
//!
//! XLA's evaluator converts the operands to the result's type first; XLA:CPU and StableHLO do not.
//!
//! Source: StableHLO, `dot_general`.
use super::products::Products;
use super::{Operand, build, indices, set};
use hlo::op::Dot;
use hlo::{ArrayShape, Dims, Literal};
use num::index::others;

pub(super) fn dot(op: &Dot, lhs: &Operand<'_>, rhs: &Operand<'_>, shape: &ArrayShape) -> Literal {
    let Dot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        operand_precision: _, // Permits backends to round the operands. They are never rounded here.
        algorithm,
    } = op;
    let products = Products::new(lhs.shape.ty, rhs.shape.ty, *algorithm, shape.ty);
    let left = Side::new(lhs, lhs_batch_dims, lhs_contracting_dims, &[]);
    let right = Side::new(rhs, rhs_batch_dims, rhs_contracting_dims, &[]);
    build(shape, |index| {
        let (batch, l, r) = parts(index, &left);
        products.sum(
            left.terms()
                .map(|k| (lhs.at(&left.index(batch, l, &k)), rhs.at(&right.index(batch, r, &k)))),
        )
    })
}

/// Splits the index of a result into its batch part, its left part and its right part.
pub(super) fn parts<'i>(index: &'i [i64], left: &Side<'_>) -> (&'i [i64], &'i [i64], &'i [i64]) {
    let (batch, rest) = index.split_at(left.batch.len());
    let (l, r) = rest.split_at(left.free.len());
    (batch, l, r)
}

/// The dimensions of one operand of a dot.
pub(super) struct Side<'a> {
    batch: &'a [i64],
    contracting: &'a [i64],
    /// The other dimensions, except those of groups.
    free: Dims,
    rank: usize,
    /// Sizes of the contracting dimensions.
    sizes: Dims,
}

impl<'a> Side<'a> {
    pub(super) fn new(
        operand: &Operand<'_>,
        batch: &'a [i64],
        contracting: &'a [i64],
        group: &[i64],
    ) -> Self {
        let rank = operand.rank();
        let free = others(rank, &[batch, contracting, group].concat());
        let sizes = contracting.iter().map(|&dim| operand.size(dim)).collect();
        Self { batch, contracting, free, rank, sizes }
    }
    /// Returns the indices of the contracting dimensions, one for each term of a sum.
    pub(super) fn terms(&self) -> impl Iterator<Item = Dims> {
        indices(&self.sizes)
    }
    /// Returns the index of the element with these indices of its batch, free and contracting
    /// dimensions.
    pub(super) fn index(&self, batch: &[i64], free: &[i64], contracting: &[i64]) -> Dims {
        let mut index = Dims::from_elem(0, self.rank);
        set(&mut index, self.batch, batch);
        set(&mut index, &self.free, free);
        set(&mut index, self.contracting, contracting);
        index
    }
}
