//! Which values of a module may be smaller than their bounds: all that may depend on one that is.
use super::resizes;
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::op::Kind;
use hlo::{Module, Op, Shape};

/// The instructions whose values may be smaller than their bounds.
#[derive(Debug)]
pub(crate) struct DynamicValues {
    /// By computation and instruction; empty if there is none.
    may_be_smaller: Vec<Vec<bool>>,
}

impl DynamicValues {
    /// Follows the values of a module from the instructions that resize arrays.
    pub(crate) fn of(module: &Module) -> Self {
        if !module.instructions().any(|i| is_dynamic(&i.shape) || resizes(&i.op)) {
            return Self { may_be_smaller: Vec::new() };
        }
        let mut flow = Flow::new(module);
        while let Some(computation) = flow.open.pop() {
            flow.visit(computation);
        }
        Self { may_be_smaller: flow.may_be_smaller }
    }
    /// Returns whether one of these instructions may give a value smaller than its bounds.
    pub(crate) fn is_among(&self, computation: ComputationId, ids: &[InstructionId]) -> bool {
        let values = self.may_be_smaller.get(computation.index());
        values.is_some_and(|values| ids.iter().any(|id| values[id.index()]))
    }
}

struct Flow<'a> {
    module: &'a Module,
    may_be_smaller: Vec<Vec<bool>>,
    /// Whether an argument of a computation may be smaller.
    takes: Vec<bool>,
    callers: Vec<Vec<ComputationId>>,
    /// The computations of which something has changed.
    open: Vec<ComputationId>,
}

impl<'a> Flow<'a> {
    fn new(module: &'a Module) -> Self {
        let lengths = module.computations.iter().map(|(_, c)| c.instructions.len());
        let may_be_smaller: Vec<_> = lengths.map(|length| vec![false; length]).collect();
        let mut callers = vec![Vec::new(); may_be_smaller.len()];
        for (id, computation) in module.computations.iter() {
            for (_, instruction) in computation.instructions.iter() {
                instruction.op.each_callee(&mut |callee| callers[callee.index()].push(id));
            }
        }
        let takes = vec![false; may_be_smaller.len()];
        Self { module, may_be_smaller, takes, callers, open: module.computations.ids().collect() }
    }

    /// Looks at the instructions of a computation, and notes the computations for which that
    /// changes something.
    fn visit(&mut self, id: ComputationId) {
        let computation = &self.module.computations[id];
        let root = computation.root.index();
        let before = self.may_be_smaller[id.index()][root];
        for (at, instruction) in computation.instructions.iter() {
            let reached = self.reaches(id, instruction);
            if reached {
                instruction.op.each_callee(&mut |callee| {
                    if !std::mem::replace(&mut self.takes[callee.index()], true) {
                        self.open.push(callee);
                    }
                });
            }
            self.may_be_smaller[id.index()][at.index()] =
                reached && has_dimensions(&instruction.shape);
        }
        if self.may_be_smaller[id.index()][root] != before {
            self.open.extend(&self.callers[id.index()]);
        }
    }
    /// Returns whether an instruction makes, takes or is given a value that may be smaller than its
    /// bounds.
    fn reaches(&self, id: ComputationId, instruction: &Instruction) -> bool {
        let values = &self.may_be_smaller[id.index()];
        let is_parameter = matches!(instruction.op, Op::Parameter(_));
        let mut is_returned = false;
        instruction.op.each_callee(&mut |callee| {
            let root = self.module.computations[callee].root.index();
            is_returned |= self.may_be_smaller[callee.index()][root];
        });
        is_dynamic(&instruction.shape)
            || resizes(&instruction.op)
            || is_from_outside(instruction)
            || (is_parameter && self.takes[id.index()])
            || instruction.operands.iter().any(|operand| values[operand.index()])
            || is_returned
    }
}

/// Returns whether the value may come from outside of the module, or from where its operands do not
/// tell.
fn is_from_outside(instruction: &Instruction) -> bool {
    match instruction.opcode().kind() {
        Kind::Asynchronous | Kind::Collective | Kind::Custom | Kind::Host | Kind::Transfer => true,
        Kind::Array | Kind::Control | Kind::Device | Kind::Random | Kind::Value => false,
    }
}

fn is_dynamic(shape: &Shape) -> bool {
    shape.leaves().iter().any(|leaf| leaf.array().is_some_and(|array| array.dynamic.is_some()))
}

/// Returns whether the value has an array that is not a scalar.
fn has_dimensions(shape: &Shape) -> bool {
    shape.leaves().iter().any(|leaf| leaf.array().is_some_and(|array| array.rank() > 0))
}
