//! The machine: a stack of frames that executes plans step by step.
//!
//! A machine is a value: it suspends at a cross-device instruction, and is resumed with the value
//! of that instruction.
mod ahead;
pub mod asynchronous;
mod control;
mod execute;
mod frame;
mod split;

use crate::context::RunContext;
use crate::float_environment::FloatEnvironment;
use crate::memory::Reservation;
use crate::observe::{Event, Progress, Watch};
use crate::plan::Step;
use crate::position::{Position, Suspension};
use crate::program::Program;
use crate::state::Site;
use crate::value::Value;
use crate::{Error, Result};
use ahead::Outputs;
use asynchronous::AsyncOps;
use frame::{Control, Frame, Open};
use hlo::ir::ComputationId;
use hlo::{Array, Literal};
use num::array::with_layouts;
use num::error::Code;
use num::parallel::threads;
use split::Next;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The limit of open frames of a machine.
const DEPTH_LIMIT: usize = 10_000;

/// The fuel of a step that moves the run to the pool.
const LONG_STEP: u64 = 1 << 14;

/// The depth up to which frames of callees are kept for the next iteration: each holds those it has
/// called, and dropping them recurses.
const SPARE_DEPTH: usize = 64;

/// A run that can be suspended and resumed.
#[derive(Debug)]
pub struct Machine {
    context: RunContext,
    program: Arc<Program>,
    frames: Vec<Frame>,
    /// The trail up to the first frame, if that executes a part of another machine's computation.
    outer: Vec<(Position, u64)>,
    /// The value of the part that it was.
    ended: Option<(Outputs, Vec<Value>)>,
    /// The asynchronous operations in progress.
    started: AsyncOps,
    watch: Option<Watch>,
    /// Whether it waits for the value of the current step.
    is_suspended: bool,
    /// The memory of that value.
    reserved: Option<Reservation>,
    /// The memory of the arguments of the run, which the caller holds until it ends.
    arguments: Option<Reservation>,
    /// When it moved to a thread of the pool for the current step.
    moved_at: Option<Instant>,
}

fn ended() -> Error {
    Error::internal("a machine was resumed after its end")
}

/// The reason why a machine returned.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The run has ended with this result.
    Done(Literal),
    /// The machine is at a cross-device instruction. [`Machine::resume_with`] sets
    /// its value.
    Suspended(Suspension),
    /// The machine has run ahead, and can do no more until a part that was
    /// [split off](Machine::split) ends.
    Waiting(Position),
    /// The part that the machine was has ended. [`Machine::end`] gives its value to the machine
    /// that runs ahead of it.
    PartDone,
}

impl Machine {
    /// Returns a machine that runs computation `id`.
    pub(crate) fn new(
        context: RunContext,
        id: ComputationId,
        arguments: Vec<Value>,
    ) -> Result<Self> {
        let watch = context.hooks().observer.clone().map(Watch::new);
        let program = Arc::clone(context.program());
        let started = AsyncOps::default();
        let frames = Vec::new();
        let mut machine = Self {
            context,
            program,
            frames,
            outer: Vec::new(),
            ended: None,
            started,
            watch,
            is_suspended: false,
            reserved: None,
            arguments: None,
            moved_at: None,
        };
        if !machine.takes(id, &arguments) {
            return Err(Error::internal("a machine was started with the wrong number of values"));
        }
        let mut leaves = Vec::new();
        for argument in arguments {
            argument.flatten(&mut leaves);
        }
        machine.push(id, leaves, None)?;
        Ok(machine)
    }

    /// Returns the machine with the memory of the arguments, which is charged until it is dropped.
    pub(crate) fn with_arguments(mut self, held: Reservation) -> Self {
        self.arguments = Some(held);
        self
    }

    /// Returns the number of steps taken so far.
    pub fn steps(&self) -> u64 {
        self.context.steps()
    }
    /// Returns the most bytes that were in use at once, arguments and scratch memory of kernels
    /// included.
    pub fn peak_bytes(&self) -> usize {
        self.context.budget().peak()
    }

    /// Runs until there is a result, or until a cross-device instruction.
    ///
    /// # Errors
    /// `E04xx`, with the instruction at which the run stopped. The run is over then, and its memory
    /// is returned.
    pub fn resume(&mut self) -> Result<Outcome> {
        if self.is_suspended {
            return Err(Error::internal("a suspended machine was resumed without a value"));
        }
        let _environment = FloatEnvironment::enter();
        let is_in_pool = rayon::current_thread_index().is_some() || threads() == 1;
        // Code of others may wait for another run, which may need the thread of the pool.
        self.run_steps(is_in_pool || self.program.calls_out || self.watch.is_some())
    }

    /// Runs the steps up to the next result. The first long one moves the run to a thread of the
    /// pool: another thread that shares out work must wait, asleep, for those of the pool to do all
    /// of it.
    fn run_steps(&mut self, stays: bool) -> Result<Outcome> {
        let program = Arc::clone(&self.program);
        loop {
            let Some(frame) = self.frames.last() else { return Err(ended()) };
            let plan = program.plan(frame.computation);
            let next = match frame.is_out_of_order() {
                true => self.next_ahead(plan),
                false => Next::Step,
            };
            let Some(frame) = self.frames.last() else { return Err(ended()) };
            let ended = match next {
                Next::Step => match plan.steps.get(frame.next) {
                    Some(step) if !stays && step.fuel >= LONG_STEP && step.sharing.is_shared() => {
                        self.moved_at = Some(Instant::now());
                        return rayon::scope(|_| self.run_steps(true));
                    }
                    Some(step) => self.step(step),
                    None => self.pop(&program),
                },
                Next::Return => self.pop(&program),
                Next::EndPart => Ok(self.end_part(plan).then_some(Outcome::PartDone)),
                Next::Deferred => Ok(None),
                Next::Wait => Ok(Some(Outcome::Waiting(self.position_of(frame, self.depth())))),
            };
            match ended {
                Ok(None) => {}
                Ok(Some(outcome)) => return Ok(outcome),
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    /// Sets the value of the instruction at which the machine is suspended.
    ///
    /// # Errors
    /// `E0405` if the value takes more memory than is allowed, `E0401` if it does not have the
    /// shape of the instruction, `E0499` if the machine is not suspended.
    pub fn resume_with(&mut self, value: Value) -> Result<()> {
        let program = Arc::clone(&self.program);
        let Some(frame) = self.frames.last() else { return Err(ended()) };
        if !std::mem::take(&mut self.is_suspended) {
            return Err(Error::internal(
                "a machine that is not suspended was resumed with a value",
            ));
        }
        let step = &program.plan(frame.computation).steps[frame.next];
        self.set_outputs(step, value).map_err(|error| self.failed(error))
    }

    /// Returns whether the parameters of a computation are of these values.
    fn takes(&self, id: ComputationId, arguments: &[Value]) -> bool {
        let parameters = self.program.module().computations[id].program_shape().parameters;
        arguments.len() == parameters.len()
            && arguments.iter().zip(parameters).all(|(argument, shape)| argument.fits(shape))
    }

    /// Returns a machine of the same device that runs another computation.
    ///
    /// # Errors
    /// `E0406` if calls are nested too deep, `E0408` if the computation takes other values.
    pub fn spawn(&self, computation: ComputationId, arguments: Vec<Value>) -> Result<Self> {
        if !self.takes(computation, &arguments) {
            return Err(asynchronous::taken_twice());
        }
        Self::new(self.context.clone(), computation, arguments)
    }

    /// Returns the position of each open computation, the outermost first, and for a loop the
    /// number of iterations it has begun.
    pub fn trail(&self) -> Vec<(Position, u64)> {
        let frames = self.frames.iter().zip(self.outer.len() + 1..);
        let own = frames.map(|(frame, depth)| (self.position_of(frame, depth), frame.iterations));
        self.outer.iter().copied().chain(own).collect()
    }
    /// Returns the number of open computations.
    fn depth(&self) -> usize {
        self.outer.len() + self.frames.len()
    }

    fn position_of(&self, frame: &Frame, depth: usize) -> Position {
        let plan = self.program.plan(frame.computation);
        let Site { computation, instruction } = plan.steps.get(frame.next).map_or_else(
            || {
                let root = self.program.module().computations[frame.computation].root;
                Site { computation: frame.computation, instruction: root }
            },
            |step| step.site,
        );
        Position { computation, instruction, depth }
    }
    /// Returns the innermost loop that is running, and the number of its iteration.
    fn innermost_loop(&self) -> Option<(Position, u64)> {
        let is_loop = |frame: &Frame| matches!(frame.control, Control::While(_) | Control::Scan(_));
        let at = self.frames.iter().rposition(is_loop)?;
        let frame = &self.frames[at];
        Some((self.position_of(frame, self.outer.len() + 1 + at), frame.iterations))
    }
    /// Ends the run with an error, at the current instruction unless it has a place.
    fn failed(&mut self, error: Error) -> Error {
        let Some(frame) = self.frames.last() else { return error };
        let position = self.position_of(frame, self.depth());
        let error = match self.innermost_loop() {
            Some((of_loop, iteration)) if of_loop != position && iteration > 0 => {
                let span = of_loop.span(self.program.module());
                error.label(span, format!("in iteration {iteration} of this loop"))
            }
            Some(_) | None => error,
        };
        self.frames.clear();
        self.reserved = None;
        self.started = AsyncOps::default();
        position.locate(error, self.program.module())
    }

    /// Executes one step of the innermost frame, or calls what it calls.
    fn step(&mut self, step: &Step) -> Result<Option<Outcome>> {
        self.context.spend(step.fuel)?;
        if let Some(progress) = &self.context.hooks().progress {
            self.publish(progress);
        }
        if self.watch.is_some() {
            let open = Open { start: Instant::now(), inner: Duration::ZERO };
            self.frame().open = Some(open);
        }
        if step.action.suspends() && self.context.place().is_some() {
            // The value is built only if there is room for it.
            let reserved = self.reserve_result(step)?;
            self.reserved = (!step.action.starts()).then_some(reserved);
            self.is_suspended = true;
            return Ok(Some(Outcome::Suspended(self.suspend(step))));
        }
        self.execute(step).map(|()| None)
    }

    /// Tells other threads where the run is: at the outermost loop, or else at an instruction of
    /// the first computation.
    fn publish(&self, progress: &Progress) {
        let is_loop = |frame: &&Frame| frame.iterations > 0;
        let frame = self.frames.iter().find(is_loop).unwrap_or(&self.frames[0]);
        let plan = self.program.plan(frame.computation);
        if let Some(step) = plan.steps.get(frame.next) {
            progress.set(step.site, frame.iterations);
        }
    }

    /// Returns the suspension at a step, with its operands.
    fn suspend(&mut self, step: &Step) -> Suspension {
        let leaves = self.frame().take_inputs(step);
        let depth = self.depth();
        let frame = self.frames.last().expect("a step has a frame");
        let position = self.position_of(frame, depth);
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

    /// Pushes the frame of a computation; `spare` is an earlier frame of it to reuse.
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

    /// Pops the innermost frame; returns the result if it was the last.
    fn pop(&mut self, program: &Program) -> Result<Option<Outcome>> {
        // Errors up to here belong to the root of the computation, so the frame stays open.
        let is_last = self.frames.len() == 1;
        let frame = self.frames.last_mut().expect("a frame is open");
        let plan = program.plan(frame.computation);
        self.context.spend(plan.fuel)?;
        let results = frame.take_results(plan);
        if is_last {
            let shape = program.module().computations[frame.computation].result_shape();
            let result = Value::unflatten(shape, &mut results.into_iter()).into_literal()?;
            self.frames.clear();
            return Ok(Some(Outcome::Done(with_layouts(result, shape).to_static())));
        }
        let frame = self.frames.pop().expect("a frame is open");
        self.returned(program, frame, results)?;
        Ok(None)
    }

    /// Advances from a step whose outputs are set.
    fn end_step(&mut self, step: &Step) {
        let frame = self.frame();
        frame.next += 1;
        frame.iterations = 0;
        frame.control = Control::None;
        let open = frame.open.take();
        // An output that nothing uses is freed here.
        let outputs = if open.is_some() { frame.outputs(step) } else { Vec::new() };
        for &slot in &step.frees {
            frame.slots[slot.index()] = None;
        }
        if let Some(open) = open {
            self.measure(step, open, &outputs);
        }
    }

    /// Reports a completed instruction to the observer.
    fn measure(&mut self, step: &Step, open: Open, outputs: &[Array]) {
        let total = open.start.elapsed();
        let depth = self.depth() - 1;
        let caller = self.frames.len().checked_sub(2);
        if let Some(outer) = caller.and_then(|caller| self.frames[caller].open.as_mut()) {
            outer.inner += total;
        }
        let computation = &self.program.module().computations[step.site.computation];
        if let Some(watch) = &self.watch {
            watch.report(&Event {
                computation,
                id: step.site.instruction,
                depth,
                start: open.start.saturating_duration_since(watch.start),
                total,
                own: total.saturating_sub(open.inner),
                bytes: step.bytes.unwrap_or_default(),
                outputs,
                is_part: step.part.is_some(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompileOptions, Device, DeviceGrid, Executable, Hooks, RunOptions};

    /// Bytes of the argument of all tests.
    const ARGUMENT: usize = 16;
    const TWO: DeviceGrid = DeviceGrid { replicas: 2, partitions: 1 };

    fn executable(text: &str) -> Executable {
        let verified = hlo::Module::parse(text).unwrap().verify().unwrap();
        Executable::compile(verified, &CompileOptions::default()).unwrap()
    }
    fn start(executable: &Executable, place: Option<DeviceGrid>, options: &RunOptions) -> Machine {
        let x: Literal = "f32[4] {1, 2, 3, 4}".parse().unwrap();
        let place = place.map(|grid| (Device { replica: 0, partition: 0 }, grid));
        // The host holds it, so that it is charged to the end.
        executable.start(place, std::slice::from_ref(&x), options).unwrap()
    }

    const SUM: &str = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
      ENTRY e { p = f32[4] parameter(0) q = f32[4] add(p, p)
        r = f32[4] all-reduce(q), replica_groups={}, to_apply=sum ROOT t = (f32[4], f32[4]) tuple(r, q) }";

    #[test]
    fn the_value_of_a_suspended_instruction_is_checked() {
        let executable = executable(SUM);
        let value = |text: &str| Value::from(text.parse::<Literal>().unwrap());
        let right = value("f32[4] {5, 6, 7, 8}");
        let mut machine = start(&executable, Some(TWO), &RunOptions::default());
        let early = machine.resume_with(right.clone()).unwrap_err();
        assert_eq!(early.code().number(), "E0499");
        assert!(matches!(machine.resume(), Ok(Outcome::Suspended(_))));
        assert_eq!(machine.resume().unwrap_err().code().number(), "E0499");
        machine.resume_with(right.clone()).unwrap();
        assert_eq!(machine.resume_with(right.clone()).unwrap_err().code().number(), "E0499");
        let Ok(Outcome::Done(result)) = machine.resume() else { panic!("it ends") };
        let expected = "(f32[4] {5, 6, 7, 8}, f32[4] {2, 4, 6, 8})".parse().unwrap();
        assert_eq!(result, expected);
        assert_eq!(machine.resume_with(right).unwrap_err().code().number(), "E0499");
        for wrong in ["f32[3] {1, 2, 3}", "s32[4] {1, 2, 3, 4}", "(f32[4] {1, 2, 3, 4})"] {
            let mut machine = start(&executable, Some(TWO), &RunOptions::default());
            machine.resume().unwrap();
            let error = machine.resume_with(value(wrong)).unwrap_err();
            assert_eq!((error.code().number(), error.instruction()), ("E0401", Some("e/r")));
            assert_eq!(machine.resume().unwrap_err().code().number(), "E0499");
        }
    }

    /// Memory is returned when a run completes, fails, or is dropped while suspended.
    #[test]
    fn memory_is_returned() {
        let failing = "less { t = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(t), index=0
            n = s32[] constant(9) ROOT l = pred[] compare(i, n), direction=LT }
          body { t = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1)
            j = s32[] add(i, one) x = f32[4] get-tuple-element(t), index=1 y = f32[4] exponential(x)
            z = f32[4] custom-call(y), custom_call_target=\"fails\" ROOT r = (s32[], f32[4]) tuple(j, z) }
          ENTRY e { p = f32[4] parameter(0) q = f32[4] add(p, p) z = s32[] constant(0) t = (s32[], f32[4]) tuple(z, q)
            ROOT w = (s32[], f32[4]) while(t), condition=less, body=body }";
        let fails = || Hooks::new().custom_call("fails", |_| Err(Error::internal("always")));
        let options = RunOptions::default();
        for (text, place, options, ends) in [
            (SUM, None, options.clone(), true),
            (SUM, None, options.clone().max_memory(ARGUMENT + 20), false),
            (SUM, None, options.clone().fuel(3), false),
            (SUM, Some(TWO), options.clone(), true),
            (failing, None, options.clone().hooks(fails()), false),
            (failing, None, options.clone().hooks(fails()).check_nan(true), false),
        ] {
            let executable = executable(text);
            let mut machine = start(&executable, place, &options);
            let budget = Arc::clone(machine.context.budget());
            let outcome = machine.resume();
            assert_eq!(outcome.is_ok(), ends, "{text}");
            assert!(budget.peak() > ARGUMENT);
            drop(outcome);
            if place.is_some() {
                assert!(budget.in_use() > ARGUMENT, "the suspended run holds its values");
            } else {
                assert_eq!(budget.in_use(), ARGUMENT, "{text}");
            }
            drop(machine);
            assert_eq!(budget.in_use(), 0, "{text}");
        }
    }

    /// A value of another device is charged to the device that receives it.
    #[test]
    fn charges_move_with_values() {
        let executable = executable(SUM);
        let mut first = start(&executable, Some(TWO), &RunOptions::default());
        let mut second = start(&executable, Some(TWO), &RunOptions::default());
        let Ok(Outcome::Suspended(mut suspension)) = first.resume() else { panic!("it waits") };
        second.resume().unwrap();
        let from = Arc::clone(first.context.budget());
        drop(first);
        assert_eq!(from.in_use(), 16);
        let to = Arc::clone(second.context.budget());
        // The answer was charged when the machine was suspended.
        let before = to.in_use();
        assert_eq!(before, ARGUMENT + 32);
        second.resume_with(suspension.operands.remove(0)).unwrap();
        assert_eq!((from.in_use(), to.in_use()), (0, before));
    }
}
