//! The machine: a stack of frames that executes plans, one step after another.
//!
//! A machine is a value: it suspends at an instruction that other devices take part in, and is resumed with the value of
//! that instruction.
mod asynchronous;
mod control;
mod execute;
mod frame;
mod position;

pub use position::{Position, Suspension};

use crate::context::RunContext;
use crate::error::Code;
use crate::executable::Program;
use crate::observe::{Event, Watch};
use crate::plan::Step;
use crate::value::{Value, with_layouts};
use crate::{Error, Result};
use asynchronous::AsyncOps;
use frame::{Control, Frame, Open};
use hlo::Literal;
use hlo::ir::ComputationId;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Frames a machine may have open.
const DEPTH_LIMIT: usize = 10_000;

/// A run that can be suspended and resumed.
#[derive(Debug)]
pub struct Machine {
    context: RunContext,
    program: Arc<Program>,
    frames: Vec<Frame>,
    /// The operations that were started and are not done.
    started: AsyncOps,
    watch: Option<Watch>,
}

/// Why a machine returned.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The run has ended with this result.
    Done(Literal),
    /// The machine is at an instruction that other devices take part in. [`Machine::resume_with`] gives the instruction
    /// its value.
    Suspended(Suspension),
}

impl Machine {
    /// A machine that runs computation `id`.
    pub(crate) fn new(
        context: RunContext,
        id: ComputationId,
        arguments: Vec<Value>,
    ) -> Result<Self> {
        let watch = context.hooks().observer.clone().map(Watch::new);
        let program = Arc::clone(context.program());
        let started = AsyncOps::default();
        let mut machine = Self { context, program, frames: Vec::new(), started, watch };
        let mut leaves = Vec::new();
        for argument in arguments {
            argument.flatten(&mut leaves);
        }
        machine.push(id, leaves, None)?;
        Ok(machine)
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.context.steps()
    }
    /// The most bytes of arrays that were in use at once, arguments not counted.
    pub fn peak_bytes(&self) -> usize {
        self.context.budget().peak()
    }

    /// Runs until there is a result, or until other devices are needed.
    ///
    /// # Errors
    /// `E04xx`, with the instruction at which the run stopped.
    pub fn resume(&mut self) -> Result<Outcome> {
        let program = Arc::clone(&self.program);
        loop {
            let Some(frame) = self.frames.last() else {
                return Err(Error::internal("a machine was resumed after its end"));
            };
            let plan = program.plan(frame.computation);
            let ended = match plan.steps.get(frame.next) {
                Some(step) => self.step(step),
                None => self.pop(&program),
            };
            match ended {
                Ok(None) => {}
                Ok(Some(outcome)) => return Ok(outcome),
                Err(error) => return Err(self.locate(error)),
            }
        }
    }

    /// Gives the instruction at which the machine is suspended its value.
    ///
    /// # Errors
    /// `E0405` if the value takes more memory than is allowed.
    pub fn resume_with(&mut self, value: Value) -> Result<()> {
        let program = Arc::clone(&self.program);
        let Some(frame) = self.frames.last() else {
            return Err(Error::internal("a machine was resumed after its end"));
        };
        let step = &program.plan(frame.computation).steps[frame.next];
        self.set_outputs(step, value).map_err(|error| self.locate(error))
    }

    /// A machine of the same device that runs another computation.
    ///
    /// # Errors
    /// `E0406` if calls are nested too deep.
    pub fn spawn(&self, computation: ComputationId, arguments: Vec<Value>) -> Result<Self> {
        Self::new(self.context.clone(), computation, arguments)
    }

    /// The position of each open computation, the outermost first, and for a loop the number of rounds it has begun.
    pub fn trail(&self) -> Vec<(Position, u64)> {
        let frames = self.frames.iter().zip(1..);
        frames.map(|(frame, depth)| (self.position_of(frame, depth), frame.rounds)).collect()
    }

    fn position_of(&self, frame: &Frame, depth: usize) -> Position {
        let plan = self.program.plan(frame.computation);
        let root = self.program.module().computations[frame.computation].root;
        let instruction = plan.steps.get(frame.next).map_or(root, |step| step.instruction);
        Position { computation: frame.computation, instruction, depth }
    }
    /// The error, at the current instruction unless it has a place.
    fn locate(&self, error: Error) -> Error {
        let Some(frame) = self.frames.last() else { return error };
        self.position_of(frame, self.frames.len()).locate(error, self.program.module())
    }

    /// Executes one step of the innermost frame, or calls what it calls.
    fn step(&mut self, step: &Step) -> Result<Option<Outcome>> {
        self.context.spend(step.fuel)?;
        if self.watch.is_some() {
            let open = Open { start: Instant::now(), inner: Duration::ZERO };
            self.frame().open = Some(open);
        }
        if step.action.suspends() && self.context.place().is_some() {
            return Ok(Some(Outcome::Suspended(self.suspend(step))));
        }
        self.execute(step).map(|()| None)
    }

    /// The suspension at a step, with its operands.
    fn suspend(&mut self, step: &Step) -> Suspension {
        let leaves = self.frame().take_inputs(step);
        let depth = self.frames.len();
        let position = self.position_of(&self.frames[depth - 1], depth);
        let module = self.program.module();
        let computation = &module.computations[position.computation];
        let mut leaves = leaves.into_iter();
        let operands = computation.instructions[position.instruction].operands.iter();
        let operands = operands.map(|&operand| {
            Value::unflatten(&computation.instructions[operand].shape, &mut leaves)
        });
        Suspension { position, operands: operands.collect() }
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a step has a frame")
    }

    /// Begins to run a computation; `spare` is an earlier frame of it.
    fn push(
        &mut self,
        id: ComputationId,
        arguments: impl IntoIterator<Item = Value>,
        spare: Option<Frame>,
    ) -> Result<()> {
        if self.frames.len() >= DEPTH_LIMIT {
            return Err(Code::TooDeep { limit: DEPTH_LIMIT }.into());
        }
        let plan = self.program.plan(id);
        let mut frame = spare.unwrap_or_else(|| Frame::new(plan));
        frame.set_parameters(plan, arguments);
        frame.repeats = self
            .frames
            .last()
            .is_some_and(|caller| caller.repeats || matches!(caller.control, Control::While(_)));
        self.frames.push(frame);
        Ok(())
    }

    /// Ends the innermost frame; returns the result if it was the last.
    fn pop(&mut self, program: &Program) -> Result<Option<Outcome>> {
        let mut frame = self.frames.pop().expect("a frame is open");
        let plan = program.plan(frame.computation);
        self.context.spend(plan.fuel)?;
        let results = frame.take_results(plan);
        if self.frames.is_empty() {
            let shape = program.module().computations[frame.computation].result_shape();
            let root = program.module().computations[frame.computation].root;
            let position = Position { computation: frame.computation, instruction: root, depth: 1 };
            let result = Value::unflatten(shape, &mut results.into_iter()).into_literal();
            let result = result.map_err(|error| position.locate(error, program.module()))?;
            return Ok(Some(Outcome::Done(with_layouts(result, shape).cut())));
        }
        self.returned(program, frame, results)?;
        Ok(None)
    }

    /// Moves on from a step, whose outputs are set.
    fn end_step(&mut self, step: &Step) {
        let frame = self.frame();
        frame.next += 1;
        frame.rounds = 0;
        frame.control = Control::None;
        for &slot in &step.frees {
            frame.slots[slot.index()] = None;
        }
        if let Some(open) = frame.open.take() {
            self.measure(step, open);
        }
    }

    /// Reports an instruction that has ended to the observer.
    fn measure(&mut self, step: &Step, open: Open) {
        let total = open.start.elapsed();
        let depth = self.frames.len() - 1;
        if let Some(outer) = depth.checked_sub(1).and_then(|d| self.frames[d].open.as_mut()) {
            outer.inner += total;
        }
        let computation = &self.program.module().computations[self.frames[depth].computation];
        if let Some(watch) = &self.watch {
            watch.report(&Event {
                computation,
                id: step.instruction,
                depth,
                start: open.start.saturating_duration_since(watch.start),
                total,
                own: total.saturating_sub(open.inner),
                bytes: step.bytes.unwrap_or_default(),
            });
        }
    }
}
