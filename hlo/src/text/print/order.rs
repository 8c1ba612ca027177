//! The order in which computations and instructions are printed.
//!
//! Both orders are XLA's. Computations are found by walking instructions in the order they are printed, where XLA walks
//! them in the order they were read: for text that XLA printed the two are the same, and ours does not change when the
//! text is printed once more.
use crate::Module;
use crate::ir::{Computation, ComputationId, InstructionId};
use crate::op::Op;

/// All computations: callees before callers, each once.
pub(crate) fn computations(module: &Module) -> Vec<ComputationId> {
    let mut called = vec![false; module.computations.len()];
    for (_, computation) in module.computations.iter() {
        for (_, instruction) in computation.instructions.iter() {
            instruction.op.each_callee(&mut |id| called[id.index()] = true);
        }
    }
    let mut seen = called.iter().map(|_| false).collect::<Vec<_>>();
    let mut order = Vec::with_capacity(called.len());
    let roots = module.computations.ids().filter(|id| !called[id.index()]);
    for root in roots.collect::<Vec<_>>() {
        embedded(module, root, &mut seen, &mut order);
        order.push(root);
    }
    // Without a root a computation calls itself; the verifier says so, and printing shows it all the same.
    for id in module.computations.ids() {
        if called[id.index()] && !seen[id.index()] {
            seen[id.index()] = true;
            embedded(module, id, &mut seen, &mut order);
            order.push(id);
        }
    }
    order.retain(|&id| !is_hidden(module, id));
    order
}

/// The computations `root` calls, directly or not, callees first. A computation counts as seen when it is first met,
/// not when it is printed, so one that is shared may come after a user of it.
fn embedded(module: &Module, root: ComputationId, seen: &mut [bool], order: &mut Vec<ComputationId>) {
    let mut stack = vec![(root, instructions(module, root), 0)];
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
        let op = &module.computations[id].instructions[at].op;
        op.each_callee(&mut |callee| {
            if !std::mem::replace(&mut seen[callee.index()], true) {
                callees.push(callee);
            }
        });
        // The first callee is walked first: it goes on the stack last.
        for callee in callees.into_iter().rev() {
            stack.push((callee, instructions(module, callee), 0));
        }
    }
}

/// Whether the computation is printed as the op of an asynchronous instruction.
fn is_hidden(module: &Module, id: ComputationId) -> bool {
    let callers = module.computations.iter().flat_map(|(_, c)| c.instructions.iter());
    let mut wraps = false;
    if !crate::text::is_single_op(&module.computations[id]) || id == module.entry {
        return false;
    }
    for (_, instruction) in callers {
        match &instruction.op {
            Op::AsyncStart(start) if start.calls == id => wraps = true,
            op => {
                let mut other = false;
                op.each_callee(&mut |callee| other |= callee == id);
                if other {
                    return false;
                }
            }
        }
    }
    wraps
}

/// The instructions of a computation in the order they are printed.
pub(crate) fn instructions(module: &Module, id: ComputationId) -> Vec<InstructionId> {
    let computation = &module.computations[id];
    if module.config.is_scheduled && !is_fused(module, id) {
        return computation.instructions.ids().collect();
    }
    post_order(computation)
}

/// Whether a `fusion` runs the computation: those have no schedule.
fn is_fused(module: &Module, id: ComputationId) -> bool {
    module.fused.get(id.index()).copied().unwrap_or(false)
}

/// Operands before users: from every instruction that nothing uses, in text order, down to its operands.
fn post_order(computation: &Computation) -> Vec<InstructionId> {
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
            // What is pushed last is visited first: control predecessors from the last to the first, then operands.
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
    instruction.common.as_ref().map_or(&[], |common| &common.control_predecessors)
}
