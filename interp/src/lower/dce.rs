//! Dead code elimination: removes the steps whose results nothing reads. A step with an effect on
//! other devices, the host, the random state or a custom call's target is never dead.
use super::build::UnallocatedPlan;
use super::inline::Inlining;
use hlo::ir::{ComputationId, Instruction};
use hlo::op::Kind;
use hlo::{Module, Op};

/// Which computations have an effect, by their numbers: their own, or that of one that they call.
pub(super) fn with_effects(module: &Module) -> Vec<bool> {
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
    found
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

/// Returns whether an instruction has an effect, its own or that of a computation that it calls.
pub(crate) fn has_effect(instruction: &Instruction, computations: &[bool]) -> bool {
    let mut calls_effect = false;
    instruction.op.each_callee(&mut |id: ComputationId| calls_effect |= computations[id.index()]);
    calls_effect || has_own_effect(instruction)
}

impl UnallocatedPlan {
    /// Removes the dead steps. Their fuel is spent by the steps after them.
    pub(super) fn without_dead_steps(
        mut self,
        module: &Module,
        effects: &[bool],
        inlining: &Inlining,
    ) -> Self {
        let mut live = vec![false; self.arrays.len()];
        for &array in &self.results {
            live[array] = true;
        }
        let mut kept = vec![true; self.steps.len()];
        for (step, kept) in self.steps.iter().zip(&mut kept).rev() {
            *kept = step.outputs.iter().any(|&array| live[array])
                || has_effect(step.site.of(module), effects);
            for &array in step.inputs.iter().filter(|_| *kept) {
                live[array] = true;
            }
        }
        let (mut fuel, mut kept) = (0, kept.into_iter());
        self.steps.retain_mut(|step| {
            step.fuel = step.fuel.saturating_add(std::mem::take(&mut fuel));
            let is_kept = kept.next().unwrap_or(true);
            if !is_kept {
                fuel = step.fuel.saturating_add(inlining.fuel_of_dead(&step.action));
            }
            is_kept
        });
        self.fuel = self.fuel.saturating_add(fuel);
        self.set_last_uses();
        self
    }

    pub(super) fn set_last_uses(&mut self) {
        let Self { arrays, steps, results, .. } = self;
        for array in arrays.iter_mut() {
            array.last_use = None;
        }
        let reads = steps.iter().enumerate().map(|(number, step)| (number, &step.inputs));
        for (at, read) in reads.chain([(usize::MAX, &*results)]) {
            for &array in read {
                arrays[array].last_use = Some(at);
            }
        }
    }
}
