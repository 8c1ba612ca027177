//! Equal instructions: the second one has the value of the first.
//!
//! Only ops that are steps of their own are joined. One that is computed within a fused step costs little, and its value would
//! have to be stored for the other step.
use super::Lowered;
use super::build::{Builder, Leaf, Leaves};
use crate::plan::{Action, Fusion};
use hlo::ir::Instruction;
use hlo::op::{Kind, Opcode};
use hlo::{Op, Shape};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// The ops that were lowered to kernels so far, with the shapes of their results, by opcode and operands.
pub(super) type Computed = FxHashMap<(Opcode, SmallVec<[Leaf; 3]>), Vec<(Op, Shape, Leaves)>>;

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
        let is_same =
            |(op, shape, _): &&(Op, Shape, _)| *op == instruction.op && *shape == instruction.shape;
        let leaves = earlier.iter().find(is_same).map(|(_, _, leaves)| Rc::clone(leaves))?;
        // A run spends the same, whatever the plan.
        self.fuel = self.fuel.saturating_add(cost);
        Some(leaves)
    }

    /// Notes what computes these leaves. It may differ from the instruction of the module, as its operands then do.
    pub(super) fn note(&mut self, instruction: &Instruction, inputs: &[Leaf], leaves: &Leaves) {
        let known = self.draft.computed.entry((instruction.opcode(), inputs.into()));
        let (op, shape) = (instruction.op.clone(), instruction.shape.clone());
        known.or_default().push((op, shape, Rc::clone(leaves)));
    }
}
