//! `dot`: `result[batch, lhs.., rhs..] = sum over contracting of lhs * rhs`
use super::build;
use super::wide::{Products, Wide};
use crate::index::{offset_list, others, pick};
use crate::{Error, Result};
use hlo::op::Dot;
use hlo::op::value::DotAlgorithm;
use hlo::{ArrayShape, Literal};

/// Offsets of an operand: by batch, by free dimensions, by contracting dimensions.
struct Offsets {
    batch: Vec<usize>,
    free: Vec<usize>,
    contracting: Vec<usize>,
}

impl Offsets {
    fn of(shape: &ArrayShape, batch: &[i64], contracting: &[i64]) -> Self {
        let bound = [batch, contracting].concat();
        let free = others(shape.rank(), &bound);
        let list = |dims: &[i64]| {
            let (sizes, steps) = pick(shape, dims);
            offset_list(&sizes, &steps)
        };
        Self { batch: list(batch), free: list(&free), contracting: list(contracting) }
    }
}

pub(super) fn dot(op: &Dot, lhs: &Literal, rhs: &Literal, shape: &ArrayShape) -> Result<Literal> {
    if !matches!(
        op.algorithm,
        DotAlgorithm::Unset | DotAlgorithm::F32F32F32 | DotAlgorithm::F64F64F64
    ) {
        let word = op.algorithm.name();
        return Err(Error::unsupported(format!("the dot algorithm `{word}` cannot be run yet")));
    }
    let (left, right) =
        (lhs.array_shape().expect("verified"), rhs.array_shape().expect("verified"));
    let l = Offsets::of(left, &op.lhs_batch_dims, &op.lhs_contracting_dims);
    let r = Offsets::of(right, &op.rhs_batch_dims, &op.rhs_contracting_dims);
    let products = Products::new(Wide::of(lhs), Wide::of(rhs));
    let (rows, columns) = (l.free.len(), r.free.len());
    let matrix = rows * columns;
    Ok(build(shape, |at| {
        let (batch, within) = (at / matrix, at % matrix);
        let (row, column) = (within / columns, within % columns);
        let (from_l, from_r) = (l.batch[batch] + l.free[row], r.batch[batch] + r.free[column]);
        let terms = l.contracting.iter().zip(&r.contracting);
        products.sum(terms.map(|(&a, &b)| (from_l + a, from_r + b)), shape.ty)
    }))
}
