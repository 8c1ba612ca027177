//! The instructions on which the leaves that are asked for depend. The others may lack a rule.
use super::Stop;
use super::evaluate::Evaluator;
use super::transfers::received;
use hlo::ir::{Computation, InstructionId};
use hlo::op::{AsyncRole, Op};
use hlo::{Module, Shape};

/// Elements of an array of which the ends are held.
const MOST_ELEMENTS: usize = 1 << 28;

impl Evaluator<'_> {
    /// Fails if an array that is needed has too many elements to hold the ends of each: an engine may
    /// compute no more of it than a slice.
    pub(super) fn check_sizes(&self) -> Result<(), Stop> {
        let entry = &self.module.computations[self.module.entry];
        let needed = self.needed(self.module.entry, None);
        for (at, instruction) in entry.instructions.iter().filter(|(at, _)| needed[at.index()]) {
            let leaves = instruction.shape.leaves().into_iter().filter_map(Shape::array);
            let counts = leaves.map(|array| array.element_count().unwrap_or(usize::MAX));
            if counts.max().unwrap_or(0) > MOST_ELEMENTS {
                let path = entry.path(at);
                return Err(Stop::Module(format!("{path}: the array has too many elements")));
            }
        }
        Ok(())
    }
}

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
