//! `reverse`: the order of the elements along some dimensions, reversed
//!
//! `result[i] = operand[j]` with `j[d] = size[d] - 1 - i[d]` if `d` is in `dimensions`, else `j[d] = i[d]`.
//!
//! Source: StableHLO, "reverse".
use super::{Array, build};
use hlo::op::Reverse;
use hlo::{ArrayShape, Dims, Literal};

pub(super) fn reverse(op: &Reverse, operand: &Array<'_>, shape: &ArrayShape) -> Literal {
    let Reverse { dimensions } = op;
    build(shape, |index| {
        let mut source = Dims::from_slice(index);
        for &dim in dimensions {
            let d = crate::index::to_usize(dim);
            source[d] = operand.size(dim) - 1 - index[d];
        }
        operand.at(&source)
    })
}
