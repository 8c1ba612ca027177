//! Running ahead of an instruction that waits.
//!
//! The order of instructions in a module without a schedule is no order of execution: a device
//! starts whatever has its operands. A machine executes the steps of its plan one after the other
//! as long as none waits. Where every device waits, it is split: one machine, a *part*, waits at
//! the step; the other one goes on with the steps that do not depend on it. Those that do are
//! deferred, with the operands that they have, until the part ends. A computation returns when all
//! its parts have ended.
use super::Machine;
use super::ahead::{Ahead, Deferred, Outputs, PartStep, StartedStep, Uses, uses_of};
use super::frame::{Control, Frame};
use crate::plan::{Input, Plan, Step};
use crate::value::Value;
use hlo::Module;
use std::sync::Arc;

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
            moved_at: None,
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
