//! Running ahead of an instruction that waits.
//!
//! The order of instructions in a module without a schedule is no order of execution: a device
//! starts whatever has its operands. A machine executes the steps of its plan one after the other
//! as long as none waits. Where every device waits, it is split: one machine, a *part*, waits at
//! the step; the other one goes on with the steps that do not depend on it. Those that do are
//! deferred, with the operands that they have, until the part ends. A computation returns when all
//! its parts have ended.
use super::Machine;
use super::frame::{Control, Frame};
use crate::plan::{Input, Plan, Slot, Step};
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
struct Pending {
    outputs: Outputs,
    leaf: usize,
}

impl Pending {
    fn value(&self) -> Option<Value> {
        self.outputs.get().map(|outputs| outputs[self.leaf].clone())
    }
}

/// A step that waits for its operands.
#[derive(Debug)]
struct Deferred {
    /// Its number.
    step: usize,
    /// The operands that it has.
    known: Vec<(Slot, Value)>,
    /// The others.
    pending: Vec<(Slot, Pending)>,
    outputs: Outputs,
    uses: Uses,
    predecessors: Vec<usize>,
}

/// The steps that a computation has left behind while it runs ahead.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// The slots whose values are not there yet.
    pending: FxHashMap<usize, Pending>,
    /// The steps that have not started, in order.
    deferred: Vec<Deferred>,
    /// The steps that have started and not ended.
    started: Vec<StartedStep>,
    /// The step of each instruction that has one.
    steps: FxHashMap<InstructionId, usize>,
}

/// A step that has started and not ended.
#[derive(Debug)]
struct StartedStep {
    /// Its number.
    step: usize,
    outputs: Outputs,
    /// The resources that it may still use.
    uses: Uses,
}

/// The step that a frame executes alone, in another frame's place.
#[derive(Debug)]
pub(super) struct PartStep {
    step: usize,
    outputs: Outputs,
}

/// The resources that two steps may both use. Steps that do are executed in the order of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Use {
    /// A channel, by ops of this kind: their executions on different devices are matched by number.
    Channel(Opcode, Option<i64>),
    /// An instruction without a channel, whose executions are matched in the same way.
    Instruction(ComputationId, InstructionId),
    /// The queues of the host, the state of random numbers, code of others.
    Outside,
}

type Uses = FxHashSet<Use>;

/// The next action of a machine.
pub(super) enum Next {
    /// The next step of its plan, or of a part.
    Step,
    /// The computation returns.
    Return,
    /// The step of a part has ended.
    EndPart,
    /// A step waits for a value: it was deferred.
    Deferred,
    /// All that is left waits for parts.
    Wait,
}

impl Ahead {
    fn new(plan: &Plan) -> Self {
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
    fn predecessors(&self, module: &Module, plan: &Plan, site: Site) -> Vec<usize> {
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
    fn update(&mut self, slots: &mut [Option<Value>]) {
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
    fn precedes(&self, (uses, predecessors): (&Uses, &[usize]), deferred: usize) -> bool {
        let deferred = self.deferred[..deferred].iter().map(|step| (step.step, &step.uses));
        let mut before = self.started.iter().map(|step| (step.step, &step.uses)).chain(deferred);
        before.any(|(step, other)| predecessors.contains(&step) || !other.is_disjoint(uses))
    }

    /// Takes the first deferred step that can start.
    fn take_ready(&mut self) -> Option<Deferred> {
        let ready = (0..self.deferred.len()).find(|&i| {
            let deferred = &self.deferred[i];
            let Deferred { uses, predecessors, pending, .. } = deferred;
            pending.is_empty() && !self.precedes((uses, predecessors), i)
        })?;
        Some(self.deferred.remove(ready))
    }

    /// Makes the outputs of a step pending.
    fn expect(&mut self, step: &Step, outputs: &Outputs, slots: &mut [Option<Value>]) {
        for (leaf, output) in step.outputs.iter().enumerate() {
            slots[output.slot.index()] = None;
            let pending = Pending { outputs: Arc::clone(outputs), leaf };
            self.pending.insert(output.slot.index(), pending);
        }
        self.free(step, slots);
    }

    fn free(&mut self, step: &Step, slots: &mut [Option<Value>]) {
        for &slot in &step.frees {
            slots[slot.index()] = None;
            self.pending.remove(&slot.index());
        }
    }
}

impl Machine {
    /// Returns whether the machine, which waits, may be [split](Self::split).
    pub fn can_split(&self) -> bool {
        self.split_at().is_some()
    }

    /// Returns the frame whose current step becomes a part.
    fn split_at(&self) -> Option<usize> {
        let above = if self.is_suspended { 1 } else { 2 };
        let frame = self.frames.len().checked_sub(above)?;
        // Of a part alone nothing is left to go on with.
        (self.frames[frame].part.is_none() || frame > 0).then_some(frame)
    }

    /// Splits off a machine that goes on after the step at which this one waits, which must not
    /// need the order of the text. The other one is nothing if this one cannot be split.
    pub fn split(&mut self) -> Option<Self> {
        let at = self.split_at()?;
        let program = Arc::clone(&self.program);
        let mut outer = self.outer.clone();
        outer.extend(self.trail().into_iter().skip(self.outer.len()).take(at));
        let mut frames = std::mem::take(&mut self.frames);
        let inner = frames.split_off(at + 1);
        let top = frames.last_mut()?;
        self.frames = match top.part {
            // Its outputs are expected already.
            Some(_) => frames.pop().into_iter().collect(),
            None => vec![top.split(program.plan(top.computation), program.module())],
        };
        self.frames.extend(inner);
        let rest = Self {
            context: self.context.clone(),
            program,
            frames,
            outer: std::mem::replace(&mut self.outer, outer),
            ended: None,
            started: std::mem::take(&mut self.started),
            watch: self.watch.clone(),
            is_suspended: false,
            reserved: None,
            arguments: self.arguments.take(),
        };
        Some(rest)
    }

    /// Returns what to do next in a frame that has run ahead, or that executes a part.
    pub(super) fn next_ahead(&mut self, plan: &Plan) -> Next {
        let Self { program, frames, .. } = self;
        let module = program.module();
        let Some(frame) = frames.last_mut() else { return Next::Return };
        if let Some(part) = &frame.part
            && frame.next > part.step
        {
            return Next::EndPart;
        }
        let Frame { ahead, slots, next, .. } = frame;
        let Some(state) = ahead else { return Next::Step };
        state.update(slots);
        if let Some(Deferred { step, known, outputs, uses, .. }) = state.take_ready() {
            state.started.push(StartedStep { step, outputs: Arc::clone(&outputs), uses });
            let mut part = frame.part(plan, step, outputs);
            for (slot, value) in known {
                part.slots[slot.index()] = Some(value);
            }
            frames.push(part);
            return Next::Step;
        }
        let Some(step) = plan.steps.get(*next) else {
            if state.deferred.is_empty() && state.started.is_empty() {
                *ahead = None;
                return Next::Return;
            }
            return Next::Wait;
        };
        let uses = uses_of(module, step.site);
        let predecessors = state.predecessors(module, plan, step.site);
        let is_pending = |input: &Input| state.pending.contains_key(&input.slot.index());
        if step.inputs.iter().any(is_pending)
            || state.precedes((&uses, &predecessors), state.deferred.len())
        {
            frame.defer(step, uses, predecessors);
            return Next::Deferred;
        }
        // Their earlier values were taken by the steps that read them.
        for output in &step.outputs {
            state.pending.remove(&output.slot.index());
        }
        Next::Step
    }

    /// Gives the value of the part that the machine was, which has ended, to the machine that runs
    /// ahead of it.
    pub fn end(&mut self) {
        if let Some((outputs, values)) = self.ended.take() {
            let is_first = outputs.set(values).is_ok();
            debug_assert!(is_first, "a part ends once");
        }
    }

    /// Ends the step of a part. Returns whether nothing is left.
    pub(super) fn end_part(&mut self, plan: &Plan) -> bool {
        let Some(mut frame) = self.frames.pop() else { return true };
        if let Some(PartStep { step, outputs }) = frame.part.take() {
            let step = &plan.steps[step];
            let values = step.outputs.iter().map(|output| {
                // Nothing reads an output that was freed.
                frame.slots[output.slot.index()].take().unwrap_or(Value::Token)
            });
            self.ended = Some((outputs, values.collect()));
        }
        let is_last = self.frames.is_empty();
        if !is_last {
            self.end();
        }
        is_last
    }
}

impl Frame {
    /// Returns a frame that executes a step of this one alone.
    fn part(&self, plan: &Plan, step: usize, outputs: Outputs) -> Self {
        Self {
            next: step,
            part: Some(PartStep { step, outputs }),
            repeats: self.repeats,
            slots: vec![None; self.slots.len()],
            ..Self::without_slots(plan)
        }
    }

    /// Goes on after the current step, and returns the frame that is still there.
    fn split(&mut self, plan: &Plan, module: &Module) -> Self {
        let outputs = Outputs::default();
        let mut part = self.part(plan, self.next, Arc::clone(&outputs));
        part.iterations = std::mem::take(&mut self.iterations);
        part.control = std::mem::replace(&mut self.control, Control::None);
        part.open = self.open.take();
        let step = &plan.steps[self.next];
        // An instruction that has been reached keeps its place; the computations that it calls may
        // reach others.
        let uses = match step.action.callees().is_empty() {
            true => Uses::default(),
            false => uses_of(module, step.site),
        };
        let state = self.ahead.get_or_insert_with(|| Box::new(Ahead::new(plan)));
        state.started.push(StartedStep { step: self.next, outputs: Arc::clone(&outputs), uses });
        state.expect(step, &outputs, &mut self.slots);
        self.next += 1;
        part
    }

    /// Goes on after the current step, which waits for operands, or for a step before it.
    fn defer(&mut self, step: &Step, uses: Uses, predecessors: Vec<usize>) {
        let (mut known, mut pending) = (Vec::new(), Vec::new());
        for &input in &step.inputs {
            let slot = input.slot;
            let expected = self.ahead.as_mut().and_then(|ahead| match input.is_last {
                true => ahead.pending.remove(&slot.index()),
                false => ahead.pending.get(&slot.index()).cloned(),
            });
            let is_twice = known.iter().any(|(other, _)| *other == slot)
                || pending.iter().any(|(other, _)| *other == slot);
            match expected {
                Some(expected) if !is_twice => pending.push((slot, expected)),
                None if !is_twice => known.push((slot, self.take(input))),
                // The last of several reads empties the slot.
                Some(_) => {}
                None if input.is_last => self.slots[slot.index()] = None,
                None => {}
            }
        }
        let (outputs, number) = (Outputs::default(), self.next);
        self.next += 1;
        let Some(state) = &mut self.ahead else { return };
        state.expect(step, &outputs, &mut self.slots);
        let deferred = Deferred { step: number, known, pending, outputs, uses, predecessors };
        state.deferred.push(deferred);
    }
}

/// Returns what an instruction uses, itself or in the computations that it calls.
fn uses_of(module: &Module, site: Site) -> Uses {
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
