//! Effects of instructions: on other devices, the host, the random state, or a custom call's target.
use hlo::ir::{ComputationId, Instruction};
use hlo::op::Kind;
use hlo::{Module, Op};

/// Which computations have an effect, by their numbers: their own, or that of one that they call.
#[derive(Debug)]
pub(crate) struct Effects(Vec<bool>);

impl Effects {
    /// Finds the computations of a module that have one.
    pub(crate) fn of(module: &Module) -> Self {
        let count = module.computations.len();
        let (mut found, mut callers) = (vec![false; count], vec![Vec::new(); count]);
        let mut open = Vec::new();
        for (id, computation) in module.computations.iter() {
            for (_, instruction) in computation.instructions.iter() {
                instruction.op.each_callee(&mut |callee| callers[callee.index()].push(id));
            }
            if computation.instructions.iter().any(|(_, instruction)| has_own_effect(instruction)) {
                open.push(id);
            }
        }
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut found[id.index()], true) {
                open.append(&mut callers[id.index()]);
            }
        }
        Self(found)
    }

    /// Returns whether an instruction has an effect, its own or that of a computation that it
    /// calls.
    pub(crate) fn has(&self, instruction: &Instruction) -> bool {
        let mut calls_effect = false;
        let mut add = |id: ComputationId| calls_effect |= self.0[id.index()];
        instruction.op.each_callee(&mut add);
        calls_effect || has_own_effect(instruction)
    }
}

fn has_own_effect(instruction: &Instruction) -> bool {
    match instruction.opcode().kind() {
        Kind::Array | Kind::Value | Kind::Control | Kind::Asynchronous | Kind::Device => false,
        Kind::Collective | Kind::Transfer | Kind::Host | Kind::Random => true,
        Kind::Custom => {
            let Op::CustomCall(call) = &instruction.op else { return true };
            call.custom_call_has_side_effect
        }
    }
}
