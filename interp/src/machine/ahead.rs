//! The steps that a frame has left behind, as it [runs ahead](super::split) of one that waits.
use crate::plan::{Plan, Slot, Step};
use crate::state::Site;
use crate::value::Value;
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::op::{AsyncRole, Kind};
use hlo::{Module, Op, Opcode};
use num::index::to_usize;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, OnceLock};

/// The outputs of a step, once it has ended.
pub(super) type Outputs = Arc<OnceLock<Vec<Value>>>;

/// An output of a step that has not ended.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub(super) outputs: Outputs,
    pub(super) leaf: usize,
}

impl Pending {
    fn value(&self) -> Option<Value> {
        self.outputs.get().map(|outputs| outputs[self.leaf].clone())
    }
}

/// A step that waits for its operands.
#[derive(Debug)]
pub(super) struct Deferred {
    /// Its number.
    pub(super) step: usize,
    /// The operands that it has.
    pub(super) known: Vec<(Slot, Value)>,
    /// The others.
    pub(super) pending: Vec<(Slot, Pending)>,
    pub(super) outputs: Outputs,
    pub(super) uses: Uses,
    pub(super) predecessors: Vec<usize>,
}

/// The steps that a computation has left behind while it runs ahead.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// The slots whose values are not there yet.
    pub(super) pending: FxHashMap<usize, Pending>,
    /// The steps that have not started, in order.
    pub(super) deferred: Vec<Deferred>,
    /// The steps that have started and not ended.
    pub(super) started: Vec<StartedStep>,
    /// The step of each instruction that has one.
    pub(super) steps: FxHashMap<InstructionId, usize>,
}

/// A step that has started and not ended.
#[derive(Debug)]
pub(super) struct StartedStep {
    /// Its number.
    pub(super) step: usize,
    pub(super) outputs: Outputs,
    /// The resources that it may still use.
    pub(super) uses: Uses,
}

/// The step that a frame executes alone, in another frame's place.
#[derive(Debug)]
pub(super) struct PartStep {
    pub(super) step: usize,
    pub(super) outputs: Outputs,
}

/// The resources that two steps may both use. Steps that do are executed in the order of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Use {
    /// A channel, by ops of this kind: their executions on different devices are matched by number.
    Channel(Opcode, Option<i64>),
    /// An instruction without a channel, whose executions are matched in the same way.
    Instruction(ComputationId, InstructionId),
    /// The queues of the host, the state of random numbers, code of others.
    Outside,
}

pub(super) type Uses = FxHashSet<Use>;

impl Ahead {
    pub(super) fn new(plan: &Plan) -> Self {
        let mut steps = FxHashMap::default();
        for (number, step) in plan.steps.iter().enumerate() {
            for site in step.fuses.iter().chain([&step.site]) {
                if site.computation == plan.computation {
                    steps.insert(site.instruction, number);
                }
            }
        }
        Self { steps, ..Self::default() }
    }

    /// Returns the steps after which an instruction is executed although it does not read their
    /// values: those before its control dependencies, and before the tokens and barriers that it
    /// reads.
    pub(super) fn predecessors(&self, module: &Module, plan: &Plan, site: Site) -> Vec<usize> {
        if site.computation != plan.computation {
            return Vec::new();
        }
        let instructions = &module.computations[site.computation].instructions;
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        let mut open = vec![site.instruction];
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let step = self.steps.get(&id).filter(|_| id != site.instruction);
            if let Some(&step) = step {
                found.push(step);
                continue;
            }
            let instruction = &instructions[id];
            open.extend(instruction.common.iter().flat_map(|common| common.control_predecessors()));
            // An element of a tuple is there before the others.
            if let Op::GetTupleElement(op) = &instruction.op
                && let tuple = &instructions[instruction.operands[0]]
                && let Op::Tuple(_) = tuple.op
            {
                open.push(tuple.operands[to_usize(op.index)]);
            } else {
                open.extend(&instruction.operands);
            }
        }
        found
    }

    /// Puts the values that are there now in their places.
    pub(super) fn update(&mut self, slots: &mut [Option<Value>]) {
        self.started.retain(|started| started.outputs.get().is_none());
        self.pending.retain(|&slot, pending| match pending.value() {
            Some(value) => {
                slots[slot] = Some(value);
                false
            }
            None => true,
        });
        for deferred in &mut self.deferred {
            let Deferred { known, pending, .. } = deferred;
            pending.retain(|(slot, pending)| match pending.value() {
                Some(value) => {
                    known.push((*slot, value));
                    false
                }
                None => true,
            });
        }
    }

    /// Returns whether a step must wait for one that has not ended, of the deferred ones only the
    /// first `deferred`.
    pub(super) fn precedes(
        &self,
        (uses, predecessors): (&Uses, &[usize]),
        deferred: usize,
    ) -> bool {
        let deferred = self.deferred[..deferred].iter().map(|step| (step.step, &step.uses));
        let mut before = self.started.iter().map(|step| (step.step, &step.uses)).chain(deferred);
        before.any(|(step, other)| predecessors.contains(&step) || !other.is_disjoint(uses))
    }

    /// Takes the first deferred step that can start.
    pub(super) fn take_ready(&mut self) -> Option<Deferred> {
        let ready = (0..self.deferred.len()).find(|&i| {
            let deferred = &self.deferred[i];
            let Deferred { uses, predecessors, pending, .. } = deferred;
            pending.is_empty() && !self.precedes((uses, predecessors), i)
        })?;
        Some(self.deferred.remove(ready))
    }

    /// Makes the outputs of a step pending.
    pub(super) fn expect(&mut self, step: &Step, outputs: &Outputs, slots: &mut [Option<Value>]) {
        for (leaf, output) in step.outputs.iter().enumerate() {
            slots[output.slot.index()] = None;
            let pending = Pending { outputs: Arc::clone(outputs), leaf };
            self.pending.insert(output.slot.index(), pending);
        }
        self.free(step, slots);
    }

    pub(super) fn free(&mut self, step: &Step, slots: &mut [Option<Value>]) {
        for &slot in &step.frees {
            slots[slot.index()] = None;
            self.pending.remove(&slot.index());
        }
    }
}

/// Returns what an instruction uses, itself or in the computations that it calls.
pub(super) fn uses_of(module: &Module, site: Site) -> Uses {
    let (mut uses, mut seen) = (Uses::default(), FxHashSet::default());
    let mut open = Vec::new();
    let mut visit = |instruction: &Instruction, at: Site, open: &mut Vec<ComputationId>| {
        uses.extend(own_use(instruction, at));
        instruction.op.each_callee(&mut |callee| open.push(callee));
    };
    visit(site.of(module), site, &mut open);
    while let Some(computation) = open.pop() {
        if seen.insert(computation) {
            for (instruction, it) in module.computations[computation].instructions.iter() {
                visit(it, Site { computation, instruction }, &mut open);
            }
        }
    }
    uses
}

fn own_use(instruction: &Instruction, at: Site) -> Option<Use> {
    let op = &instruction.op;
    match op.opcode().kind() {
        Kind::Array | Kind::Value | Kind::Control | Kind::Asynchronous | Kind::Device => None,
        Kind::Collective | Kind::Transfer => match op.opcode().async_role() {
            Some(AsyncRole::Update(_)) => None,
            Some(AsyncRole::Done(_)) if op.opcode() != Opcode::RecvDone => None,
            Some(AsyncRole::Start(_) | AsyncRole::Done(_)) | None if op.is_host_transfer() => {
                Some(Use::Outside)
            }
            Some(AsyncRole::Start(_) | AsyncRole::Done(_)) | None => Some(match op.channel_id() {
                None if op.opcode().kind() == Kind::Collective => {
                    Use::Instruction(at.computation, at.instruction)
                }
                channel => Use::Channel(op.opcode(), channel),
            }),
        },
        Kind::Host | Kind::Random => Some(Use::Outside),
        Kind::Custom => {
            let Op::CustomCall(call) = op else { return Some(Use::Outside) };
            call.custom_call_has_side_effect.then_some(Use::Outside)
        }
    }
}
