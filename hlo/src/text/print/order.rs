//! The order in which computations and instructions are printed.
//!
//! Both orders are XLA's. Computations are found by walking instructions in printing order, while
//! XLA walks them in the order of the text: for text that XLA printed the two are the same, and
//! this one does not change when the text is printed again.
use super::instruction::is_sugared;
use crate::Module;
use crate::ir::{Computation, ComputationId, InstructionId};
use crate::op::Op;

/// The data that the printing order of a module depends on.
pub(crate) struct Order<'m> {
    module: &'m Module,
    /// Computations that an instruction calls.
    called: Vec<bool>,
    /// Computations of a `fusion`, which have no schedule.
    fused: Vec<bool>,
    /// Computations printed as the wrapped op of an asynchronous instruction.
    hidden: Vec<bool>,
}

impl<'m> Order<'m> {
    pub(crate) fn new(module: &'m Module) -> Self {
        let none = vec![false; module.computations.len()];
        let (mut called, mut fused, mut wrapped, mut shared) =
            (none.clone(), none.clone(), none.clone(), none);
        let instructions = module.instructions();
        for instruction in instructions {
            let (fusion, start) = (
                matches!(instruction.op, Op::Fusion(_)),
                matches!(instruction.op, Op::AsyncStart(_)),
            );
            instruction.op.each_callee(&mut |id| {
                let i = id.index();
                called[i] = true;
                fused[i] |= fusion;
                wrapped[i] |= start;
                shared[i] |= !start || !is_sugared(instruction, &module.computations[id]);
            });
        }
        let hidden = module.computations.ids().map(|id| {
            let i = id.index();
            wrapped[i] && !shared[i] && id != module.entry
        });
        Self { module, hidden: hidden.collect(), called, fused }
    }

    /// Returns all printed computations: callees before callers, each once.
    pub(crate) fn computations(&self) -> Vec<ComputationId> {
        let ids = || self.module.computations.ids();
        let mut seen = vec![false; self.called.len()];
        let mut order = Vec::with_capacity(self.called.len());
        for root in ids().filter(|id| !self.called[id.index()]) {
            self.embedded(root, &mut seen, &mut order);
            order.push(root);
        }
        // Computations that are not reachable from a root are recursive; the verifier rejects them,
        // but they are printed.
        for id in ids().filter(|id| self.called[id.index()]) {
            if !std::mem::replace(&mut seen[id.index()], true) {
                self.embedded(id, &mut seen, &mut order);
                order.push(id);
            }
        }
        order.retain(|&id| !self.hidden[id.index()]);
        order
    }

    /// Adds the computations `root` calls, directly or not, callees first. A computation counts as
    /// seen when it is first reached, not when it is printed, so a shared one can come after one of
    /// its callers.
    fn embedded(&self, root: ComputationId, seen: &mut [bool], order: &mut Vec<ComputationId>) {
        let mut stack = vec![(root, self.instructions(root), 0)];
        while let Some((id, list, next)) = stack.last_mut() {
            let id = *id;
            let Some(&at) = list.get(*next) else {
                stack.pop();
                if !stack.is_empty() {
                    order.push(id);
                }
                continue;
            };
            *next += 1;
            let mut callees = Vec::new();
            self.module.computations[id].instructions[at].op.each_callee(&mut |callee| {
                if !std::mem::replace(&mut seen[callee.index()], true) {
                    callees.push(callee);
                }
            });
            // The first callee is walked first: it is pushed last.
            for callee in callees.into_iter().rev() {
                stack.push((callee, self.instructions(callee), 0));
            }
        }
    }

    /// Returns the instructions of a computation in printing order.
    pub(crate) fn instructions(&self, id: ComputationId) -> Vec<InstructionId> {
        let computation = &self.module.computations[id];
        if self.module.config.is_scheduled && !self.fused[id.index()] {
            return computation.instructions.ids().collect();
        }
        post_order(computation)
    }
}

/// Returns whether the module is in printing order.
pub(crate) fn is_in_order(module: &Module) -> bool {
    let order = Order::new(module);
    let shown = module.computations.ids().filter(|id| !order.hidden[id.index()]);
    shown.eq(order.computations())
        && module
            .computations
            .ids()
            .all(|id| module.computations[id].instructions.ids().eq(order.instructions(id)))
}

/// Returns the operands-first order of a depth-first search from every unused instruction, in text
/// order.
pub(super) fn post_order(computation: &Computation) -> Vec<InstructionId> {
    let instructions = &computation.instructions;
    let mut used = vec![false; instructions.len()];
    for (_, instruction) in instructions.iter() {
        for operand in &instruction.operands {
            used[operand.index()] = true;
        }
    }
    let mut done = vec![false; instructions.len()];
    let mut order = Vec::with_capacity(instructions.len());
    let mut stack = Vec::new();
    for start in instructions.ids().filter(|id| !used[id.index()]) {
        stack.push((start, false));
        while let Some((id, ready)) = stack.pop() {
            if done[id.index()] {
                continue;
            }
            if ready {
                done[id.index()] = true;
                order.push(id);
                continue;
            }
            stack.push((id, true));
            let instruction = &instructions[id];
            // Control predecessors are visited from the last to the first, then operands: what is
            // pushed last is visited first.
            for &operand in instruction.operands.iter().rev() {
                if !done[operand.index()] {
                    stack.push((operand, false));
                }
            }
            for &predecessor in predecessors(instruction) {
                if !done[predecessor.index()] {
                    stack.push((predecessor, false));
                }
            }
        }
    }
    order
}

fn predecessors(instruction: &crate::ir::Instruction) -> &[InstructionId] {
    instruction.common.as_ref().map_or(&[], |common| common.control_predecessors())
}
