//! Products of transposed matrices: `dot` reads the operand of a `transpose` by other dimensions, and the transposition need
//! not be computed.
use super::build::{Builder, Leaf};
use crate::index::{others, to_usize};
use crate::state::Site;
use hlo::ir::Instruction;
use hlo::op::Dot;
use hlo::{Op, Shape};

/// A `dot`, with the leaf and the shape of each operand.
pub(super) struct Untransposed<'a> {
    pub(super) op: Op,
    pub(super) operands: Vec<(Leaf, &'a Shape)>,
}

impl<'a> Builder<'a> {
    /// Returns a `dot` of which an operand is a transposition without that; `None` of anything else.
    pub(super) fn untransposed(
        &self,
        site: Site,
        instruction: &Instruction,
    ) -> Option<Untransposed<'a>> {
        let Op::Dot(dot) = &instruction.op else { return None };
        let mut dot = dot.clone();
        let mut operands = Vec::new();
        let mut is_changed = false;
        for (k, &id) in instruction.operands.iter().enumerate() {
            let operand = &self.computation.instructions[id];
            let mut id = id;
            if let Op::Transpose(op) = &operand.op
                && !self.lowering.may_be_smaller(site, operand)
                && read_through(&mut dot, k, &op.dimensions)
            {
                id = operand.operands[0];
                is_changed = true;
            }
            let leaf = *self.values[id.index()].first()?;
            operands.push((leaf, &self.computation.instructions[id].shape));
        }
        is_changed.then_some(Untransposed { op: Op::Dot(dot), operands })
    }
}

/// Changes the dimensions of operand `k` to those of the array that is transposed by `permutation`; returns whether the
/// dimensions that are left keep their order, as those of the result must.
fn read_through(dot: &mut Dot, k: usize, permutation: &[i64]) -> bool {
    let (batch, contracting) = match k {
        0 => (&mut dot.lhs_batch_dims, &mut dot.lhs_contracting_dims),
        _ => (&mut dot.rhs_batch_dims, &mut dot.rhs_contracting_dims),
    };
    let before = |d: &i64| permutation[to_usize(*d)];
    let paired: Vec<i64> = batch.iter().chain(contracting.iter()).copied().collect();
    let free: Vec<i64> = others(permutation.len(), &paired).iter().map(before).collect();
    if !free.is_sorted() {
        return false;
    }
    for d in batch.iter_mut().chain(contracting) {
        *d = before(d);
    }
    true
}
