//! Common subexpression elimination: an instruction whose key equals that of an earlier one has its
//! value.
//!
//! Only ops that are steps of their own are eliminated. One that is computed within a fused step
//! costs little, and its value would have to be stored for the other step.
use super::builder::PlanBuilder;
use super::lowering::Lowered;
use super::unallocated::ArrayIds;
use super::value_key::ValueKey;
use hlo::op::Kind;
use kernels::Fusion;
use std::rc::Rc;

impl Lowered {
    /// Returns whether the instruction of a key becomes a step of its own that computes arrays from
    /// arrays.
    pub(super) fn is_alone(&self, key: &ValueKey<'_>) -> bool {
        key.instruction().opcode().kind() == Kind::Array
            && self.action.kernel().is_some_and(|kernel| matches!(kernel.fusion(), Fusion::None))
    }
}

impl<'a> PlanBuilder<'a> {
    /// Returns the arrays of an earlier instruction with the same key.
    pub(super) fn common(&mut self, key: &ValueKey<'a>, fuel: u64) -> Option<ArrayIds> {
        let arrays = Rc::clone(self.computed.get(key)?);
        // A run spends the same, whatever the plan.
        self.fuel = self.fuel.saturating_add(fuel);
        Some(arrays)
    }
}
