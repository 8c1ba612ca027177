//! Equal instructions: the second one has the value of the first.
//!
//! Only ops that are steps of their own are joined. One that is computed within a fused step costs little, and its value would
//! have to be stored for the other step.
use super::Lowered;
use super::build::{Builder, Leaf, Leaves};
use crate::plan::{Action, Fusion};
use crate::state::Site;
use hlo::ir::Instruction;
use hlo::op::{Kind, Opcode};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// The instructions that were lowered to kernels so far, by opcode and operands.
pub(super) type Computed = FxHashMap<(Opcode, SmallVec<[Leaf; 3]>), Vec<(Site, Leaves)>>;

/// Whether an instruction becomes a step of its own that computes arrays from arrays.
pub(super) fn is_alone(instruction: &Instruction, lowered: &Lowered) -> bool {
    instruction.opcode().kind() == Kind::Array
        && match &lowered.action {
            Action::Kernel(kernel) => matches!(kernel.fusion(), Fusion::None),
            _ => false,
        }
}

impl Builder<'_> {
    /// Returns the leaves of an earlier instruction that computes the same; of those that are steps of their own.
    pub(super) fn joined(
        &mut self,
        instruction: &Instruction,
        cost: u64,
        inputs: &[Leaf],
    ) -> Option<Leaves> {
        let earlier = self.draft.computed.get(&(instruction.opcode(), inputs.into()))?;
        let computations = &self.lowering.module().computations;
        let same = earlier.iter().find(|(site, _)| {
            let other = &computations[site.computation].instructions[site.instruction];
            other.op == instruction.op && other.shape == instruction.shape
        });
        let leaves = same.map(|(_, leaves)| Rc::clone(leaves))?;
        // A run spends the same, whatever the plan.
        self.fuel = self.fuel.saturating_add(cost);
        Some(leaves)
    }

    /// Notes what computes these leaves.
    pub(super) fn note(
        &mut self,
        site: Site,
        instruction: &Instruction,
        inputs: &[Leaf],
        leaves: &Leaves,
    ) {
        let known = self.draft.computed.entry((instruction.opcode(), inputs.into()));
        known.or_default().push((site, Rc::clone(leaves)));
    }
}
