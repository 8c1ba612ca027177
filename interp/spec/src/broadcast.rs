//! `broadcast`: the operand, repeated along new dimensions
//!
//! `result[i] = operand[j]` with `j[d] = i[dimensions[d]]`
//!
//! - `dimensions` need not be sorted: `{1,0}` transposes.
//! - A dimension keeps its size: HLO does not expand one of size 1, unlike StableHLO's
//!   `broadcast_in_dim`.
//!
//! Source: XLA operation semantics, `BroadcastInDim`; StableHLO, `broadcast_in_dim`.
use super::{Operand, build};
use hlo::op::Broadcast;
use hlo::{ArrayShape, Dims, Literal};
use num::index::to_usize;

pub(super) fn broadcast(op: &Broadcast, operand: &Operand<'_>, shape: &ArrayShape) -> Literal {
    let Broadcast { dimensions } = op;
    build(shape, |index| {
        let source: Dims = dimensions.iter().map(|&d| index[to_usize(d)]).collect();
        operand.at(&source)
    })
}
