//! Removal of instructions that no result depends on.
use crate::Builder;
use crate::state::{Open, State};
use hlo::Op;
use hlo::ir::{CommonAttrs, Instruction, InstructionId};
use hlo::op::Kind;

impl Builder {
    /// Sets whether instructions are kept that the result does not depend on.
    ///
    /// By default [`Builder::build`] and the closures of ops drop them, except parameters and
    /// instructions that communicate, exchange data with the host, use the random state, run
    /// asynchronously or are custom calls with a side effect, and calls of computations that
    /// contain such. Computations that nothing calls are dropped too.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[]", "x");
    /// let _ = x.tanh();
    /// assert!(!b.build(x.exp())?.module().to_string().contains("tanh"));
    /// b.set_keep_unused(true);
    /// assert!(b.build(x.exp())?.module().to_string().contains("tanh"));
    /// # Ok::<(), builder::Error>(())
    /// ```
    pub fn set_keep_unused(&self, keep: bool) {
        self.state.borrow_mut().keep_unused = keep;
    }
}

impl State {
    /// Returns the computation without the instructions that the root does not depend on, and its
    /// root; as it is if they are kept.
    pub(crate) fn pruned(&self, open: Open, root: InstructionId) -> (Open, InstructionId) {
        if self.keep_unused {
            return (open, root);
        }
        let live = self.live(&open, root);
        if live.iter().all(|&live| live) {
            return (open, root);
        }
        let mut kept = Open { captures: open.captures, ..Open::new(open.mark, open.name) };
        let mut moved: Vec<Option<InstructionId>> = Vec::with_capacity(live.len());
        for (id, instruction) in open.instructions.iter() {
            moved.push(live[id.index()].then(|| {
                let mut copy = instruction.clone();
                let places = copy.operands.iter_mut().chain(control(&mut copy.common));
                places.for_each(|place| *place = moved[place.index()].unwrap_or(*place));
                kept.push(copy, open.names[id].clone(), open.callers[id.index()])
            }));
        }
        (kept, moved[root.index()].unwrap_or(root))
    }
    /// Returns which instructions are kept.
    fn live(&self, open: &Open, root: InstructionId) -> Vec<bool> {
        let mut live = vec![false; open.instructions.len()];
        live[root.index()] = true;
        for (id, instruction) in open.instructions.iter().rev() {
            if live[id.index()] || self.has_effect(instruction) {
                live[id.index()] = true;
                let common = instruction.common.as_deref();
                let before = common.map(CommonAttrs::control_predecessors).unwrap_or_default();
                instruction.operands.iter().chain(before).for_each(|o| live[o.index()] = true);
            }
        }
        live
    }
    /// Returns whether the instruction does more than give a value; a parameter belongs to the
    /// signature.
    fn has_effect(&self, instruction: &Instruction) -> bool {
        match instruction.opcode().kind() {
            Kind::Asynchronous | Kind::Collective | Kind::Transfer | Kind::Host | Kind::Random => {
                true
            }
            Kind::Custom => {
                let Op::CustomCall(call) = &instruction.op else { return false };
                call.custom_call_has_side_effect
            }
            Kind::Array | Kind::Value | Kind::Control | Kind::Device => {
                matches!(instruction.op, Op::Parameter(_)) || self.calls_effects(instruction)
            }
        }
    }
    fn calls_effects(&self, instruction: &Instruction) -> bool {
        let mut any = false;
        instruction.op.each_callee(&mut |id| {
            let callee = self.finished.get(id).map(|callee| &callee.instructions);
            let mut all = callee.into_iter().flat_map(hlo::id::Arena::iter);
            any |= all.any(|(_, i)| i.opcode() != hlo::Opcode::Parameter && self.has_effect(i));
        });
        any
    }
}

/// Returns the control predecessors.
fn control(common: &mut Option<Box<CommonAttrs>>) -> impl Iterator<Item = &mut InstructionId> {
    common.iter_mut().filter_map(|common| common.control.as_mut()).flatten()
}
