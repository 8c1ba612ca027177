//! `reverse`: the operand with the elements along some dimensions in reverse order
//!
//! `result[i] = operand[j]` with `j[d] = size[d] - 1 - i[d]` for the listed dimensions, and
//! `j[d] = i[d]` for the others
//!
//! - Without `dimensions`, the result is the operand.
//!
//! Source: StableHLO, `reverse`.
use super::{Operand, build};
use hlo::op::Reverse;
use hlo::{ArrayShape, Dims, Literal};
use num::index::to_usize;

pub(super) fn reverse(op: &Reverse, operand: &Operand<'_>, shape: &ArrayShape) -> Literal {
    let Reverse { dimensions } = op;
    build(shape, |index| {
        let mut source = Dims::from_slice(index);
        for &dim in dimensions {
            source[to_usize(dim)] = operand.size(dim) - 1 - index[to_usize(dim)];
        }
        operand.at(&source)
    })
}
