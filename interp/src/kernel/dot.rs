//! `dot`: `result[batch, lhs.., rhs..] = sum over contracting of lhs * rhs`
//!
//! **Attributes.** `lhs_batch_dims` and `rhs_batch_dims` pair dimensions that are kept once, `lhs_contracting_dims` and
//! `rhs_contracting_dims` pair those that are summed over, each in the order listed. The result has the batch
//! dimensions, what is left of the left operand, what is left of the right one. Without contracting dimensions each sum
//! has one term; over a dimension of size 0 it has none and is 0.
//! `operand_precision` permits a backend to read `f32` less precisely; it changes nothing here. `algorithm` is followed
//! exactly: see [`contraction::recipe`](super::contraction).
//!
//! **Types.** Operands may differ in type and the result may be wider or narrower than both: products are formed from
//! the operands as they are, summed wide, and the sum is converted once, as `convert` would. So 0.5 + 0.5 in `f32`
//! is 1 in `s32`, and a sum of `s8` wraps at the width of the result alone. Two `pred` operands count their common true
//! elements; in `pred` that is whether there is one. See [`contraction`](super::contraction) for how sums are formed.
//!
//! **Differences.** XLA's evaluator converts the operands to the result's type first (0.5 + 0.5 is 0 in `s32`), which
//! XLA:CPU does not. XLA:CPU adds in `f32` and in another order.
use super::contraction::{Plan, Recipe};
use crate::index::{offset_list, others, pick};
use hlo::op::Dot;
use hlo::{ArrayShape, Literal};

/// Offsets of an operand: by batch, by free dimensions, by contracting dimensions.
pub(super) struct Offsets {
    pub(super) batch: Vec<usize>,
    pub(super) free: Vec<usize>,
    pub(super) contracting: Vec<usize>,
}

impl Offsets {
    pub(super) fn of(shape: &ArrayShape, batch: &[i64], contracting: &[i64]) -> Self {
        let bound = [batch, contracting].concat();
        let free = others(shape.rank(), &bound);
        let list = |dims: &[i64]| {
            let (sizes, strides) = pick(shape, dims);
            offset_list(&sizes, &strides)
        };
        Self { batch: list(batch), free: list(&free), contracting: list(contracting) }
    }
    /// Fills in the offsets of a row.
    pub(super) fn row(&self, batch: usize, row: usize, offsets: &mut [usize]) {
        let start = self.batch[batch] + self.free[row];
        for (offset, &term) in offsets.iter_mut().zip(&self.contracting) {
            *offset = start + term;
        }
    }
}

pub(super) fn dot(op: &Dot, lhs: &Literal, rhs: &Literal, shape: &ArrayShape) -> Literal {
    let array = |literal: &Literal| literal.array_shape().expect("verified: an array").clone();
    let l = Offsets::of(&array(lhs), &op.lhs_batch_dims, &op.lhs_contracting_dims);
    let r = Offsets::of(&array(rhs), &op.rhs_batch_dims, &op.rhs_contracting_dims);
    let plan = Plan {
        rows: l.free.len(),
        lhs: &|batch, row, offsets| l.row(batch, row, offsets),
        has_padding: false,
        rhs_batches: &r.batch,
        rhs_columns: &r.free,
        rhs_terms: &r.contracting,
    };
    Recipe::of(op.algorithm).contract(&plan, (lhs, rhs), shape)
}
