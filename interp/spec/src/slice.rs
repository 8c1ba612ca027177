//! `slice`: a strided box of the operand
//!
//! `result[i] = operand[j]` with `j[d] = start[d] + i[d] * stride[d]`
//!
//! - Dimension d has the indices from `start` up to `limit`, which is excluded:
//!   `(limit - start) / stride` of them, rounded up.
//!
//! Source: StableHLO, `slice`.
use super::{Operand, build};
use hlo::op::Slice;
use hlo::op::value::SliceRange;
use hlo::{ArrayShape, Dims, Literal};

pub(super) fn slice(op: &Slice, operand: &Operand<'_>, shape: &ArrayShape) -> Literal {
    let Slice { ranges } = op;
    build(shape, |index| {
        let ranges = index.iter().zip(&ranges.0);
        // The size of the result follows from `limit`.
        let source: Dims =
            ranges.map(|(i, SliceRange { start, limit: _, stride })| start + i * stride).collect();
        operand.at(&source)
    })
}
