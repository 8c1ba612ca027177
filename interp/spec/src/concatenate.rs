//! `concatenate`: the operands, one after the other along one dimension
//!
//! `result[i] = operand[k][j]` with `j[dim] = i[dim] - start[k]`, and `j[d] = i[d]` in the other
//! dimensions
//!
//! where `start[k]` is the sum of the sizes of the operands before k, and k the operand for which
//! `j[dim]` lies within its size.
//!
//! - An operand of size 0 in that dimension contributes nothing.
//!
//! Source: StableHLO, `concatenate`.
use super::{Operand, build};
use hlo::op::Concatenate;
use hlo::{ArrayShape, Dims, Literal};
use num::index::to_usize;

pub(super) fn concatenate(
    op: &Concatenate,
    operands: &[Operand<'_>],
    shape: &ArrayShape,
) -> Literal {
    let Concatenate { dimensions } = op;
    let dim = dimensions[0];
    build(shape, |index| {
        let mut source = Dims::from_slice(index);
        let at = &mut source[to_usize(dim)];
        for operand in operands {
            if *at < operand.size(dim) {
                return operand.at(&source);
            }
            *at -= operand.size(dim);
        }
        unreachable!("verified: the operands' sizes add up to the result's")
    })
}
