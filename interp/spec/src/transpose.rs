//! `transpose`: the operand with its dimensions in another order
//!
//! `result[i] = operand[j]` with `j[dimensions[d]] = i[d]`
//!
//! Source: StableHLO, `transpose`.
use super::{Operand, build};
use hlo::op::Transpose;
use hlo::{ArrayShape, Dims, Literal};
use num::index::to_usize;

pub(super) fn transpose(op: &Transpose, operand: &Operand<'_>, shape: &ArrayShape) -> Literal {
    let Transpose { dimensions } = op;
    build(shape, |index| {
        let mut source = Dims::from_slice(index);
        for (&i, &dim) in index.iter().zip(dimensions) {
            source[to_usize(dim)] = i;
        }
        operand.at(&source)
    })
}
