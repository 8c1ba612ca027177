//! The instructions on which the leaves that are asked for depend. The others may lack a rule.
use super::transfers::received;
use hlo::Module;
use hlo::ir::{Computation, InstructionId};
use hlo::op::{AsyncRole, Op};

/// Returns for each instruction of a computation whether a leaf of the result that is asked for
/// depends on it; all are asked for if there is no list. What is known depends on nothing.
pub(super) fn needed(
    module: &Module,
    computation: &Computation,
    asked: Option<&[bool]>,
    is_known: &dyn Fn(InstructionId) -> bool,
) -> Vec<bool> {
    let mut needed = vec![false; computation.instructions.len()];
    needed[computation.root.index()] = true;
    let ids: Vec<InstructionId> = computation.instructions.ids().collect();
    for at in ids.into_iter().rev() {
        if !needed[at.index()] || is_known(at) {
            continue;
        }
        let instruction = &computation.instructions[at];
        if let Some(from) = received(module, computation, at) {
            needed[from.sent.index()] = true;
            continue;
        }
        let is_result = at == computation.root && matches!(instruction.op, Op::Tuple(_));
        let asked = asked.filter(|_| is_result);
        let mut leaves = 0..0;
        for &operand in &instruction.operands {
            let count = computation.instructions[operand].shape.leaves().len();
            leaves = leaves.end..leaves.end + count;
            if asked.is_none_or(|asked| asked[leaves.clone()].contains(&true)) {
                needed[operand.index()] = true;
            }
        }
    }
    needed
}

/// Returns whether the operand of an op is an operation that has been started.
pub(super) fn is_started(op: &Op) -> bool {
    matches!(op.opcode().async_role(), Some(AsyncRole::Update(_) | AsyncRole::Done(_)))
}
