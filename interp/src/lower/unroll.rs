//! Loops of few iterations: the number of iterations follows from constants, as that of a loop over
//! the iterations of a cipher does.
//!
//! The steps of each iteration become steps of the computation with the loop, so that those of
//! neighboring iterations are fused.
use super::builder::PlanBuilder;
use super::unallocated::ArrayIds;
use crate::Result;
use hlo::op::While;
use std::rc::Rc;

impl PlanBuilder<'_> {
    /// Adds the steps of all iterations of a loop; returns the arrays of its value after the last
    /// one.
    pub(super) fn unrolled(
        &mut self,
        op: &While,
        first: ArrayIds,
        iterations: usize,
    ) -> Result<ArrayIds> {
        let mut carried = first;
        for _ in 0..iterations {
            self.inlined(op.condition, vec![Rc::clone(&carried)])?;
            carried = self.inlined(op.body, vec![carried])?;
            // What the loop itself takes for a iteration.
            self.fuel += 1;
        }
        self.inlined(op.condition, vec![Rc::clone(&carried)])?;
        Ok(carried)
    }
}
