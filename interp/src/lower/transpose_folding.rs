//! Transpose folding: `dot` reads the operand of a `transpose` by other dimensions, and the
//! transposition need not be computed.
use super::builder::PlanBuilder;
use super::value_key::ValueKey;
use crate::state::Site;
use hlo::Op;
use hlo::ir::Instruction;
use hlo::op::Dot;
use num::index::{others, to_usize};
use std::borrow::Cow;

impl<'a> PlanBuilder<'a> {
    /// Returns a `dot` that reads the arrays of which its operands are transpositions; `None` of
    /// anything else.
    pub(super) fn transpose_folded(
        &self,
        site: Site,
        instruction: &Instruction,
    ) -> Option<ValueKey<'a>> {
        let Op::Dot(dot) = &instruction.op else { return None };
        let mut dot = dot.clone();
        let mut operands = instruction.operands.clone();
        for (k, id) in operands.iter_mut().enumerate() {
            let operand = &self.computation.instructions[*id];
            if let Op::Transpose(op) = &operand.op
                && !self.lowering.analysis.may_be_smaller(site, operand)
                && read_through(&mut dot, k, &op.dimensions)
            {
                *id = operand.operands[0];
            }
        }
        if operands == instruction.operands {
            return None;
        }
        let read = operands.iter().map(|&id| self.operand(id)).collect::<Vec<_>>();
        let dot = Instruction { op: Op::Dot(dot), operands, ..instruction.clone() };
        Some(ValueKey::new(Cow::Owned(dot), read))
    }
}

/// Changes the dimensions of operand `k` to those of the array that is transposed by `permutation`;
/// returns whether the dimensions that are left keep their order, as those of the result must.
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
