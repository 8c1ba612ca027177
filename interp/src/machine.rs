//! The machine: a stack of computations being run, one value for each instruction, fuel.
//!
//! Control flow pushes frames (`control`); everything else is one call into `reference`. A machine is a value: it can
//! stop between any two instructions and go on later.
use crate::check_nan;
use crate::context::Context;
use crate::error::Code;
use crate::interpreter::fitted;
use crate::observe::{Event, Watch};
use crate::table::Table;
use crate::{Error, Result, kernel};
use hlo::diag::Site;
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId};
use hlo::{Literal, Op, Shape, Span};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Frames a machine may have open.
const DEPTH_LIMIT: usize = 10_000;

/// A run that can be stopped and resumed.
#[derive(Debug)]
pub struct Machine<'m> {
    pub(crate) context: Context<'m>,
    pub(crate) frames: Vec<Frame<'m>>,
    watch: Option<Watch>,
    /// Bytes of operands that are handed out: its own until it is answered.
    lent: usize,
}

/// What a machine came to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Step<'m> {
    /// The entry computation's result.
    Done(Literal),
    /// The machine stands at an op that others take part in, and wants an [answer](Machine::answer).
    Wait(Request<'m>),
}

/// Where a machine stands.
#[derive(Debug, Clone, Copy)]
pub struct Position<'m> {
    /// The innermost open computation.
    pub computation: &'m Computation,
    /// Which of the module's computations that is.
    pub computation_id: ComputationId,
    /// The instruction.
    pub id: InstructionId,
    /// How many computations are open.
    pub depth: usize,
}

impl<'m> Position<'m> {
    /// The instruction.
    pub fn instruction(&self) -> &'m Instruction {
        &self.computation.instructions[self.id]
    }
    /// Its name: `computation/instruction`.
    pub fn name(&self) -> String {
        self.computation.path(self.id)
    }
    /// Its place in the text; a default one if there is no text.
    pub fn span(&self) -> Span {
        self.computation.span(self.id)
    }
    /// The error, at this instruction unless it has a place.
    pub fn blame(&self, error: Error) -> Error {
        error.at(self.computation.site(self.id))
    }
}

impl From<&Position<'_>> for Site {
    fn from(position: &Position<'_>) -> Self {
        position.computation.site(position.id)
    }
}
impl PartialEq for Position<'_> {
    fn eq(&self, other: &Self) -> bool {
        let key = |place: &Self| (place.computation_id, place.id, place.depth);
        key(self) == key(other)
    }
}

/// An instruction that a machine of a [`Team`](crate::Team) does not run by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Request<'m> {
    /// Where it stands.
    pub place: Position<'m>,
    /// Its operands' values.
    pub operands: Vec<Literal>,
}

impl<'m> Request<'m> {
    /// The instruction.
    pub fn instruction(&self) -> &'m Instruction {
        self.place.instruction()
    }
}

/// A computation being run.
#[derive(Debug)]
pub(crate) struct Frame<'m> {
    pub(crate) computation: &'m Computation,
    computation_id: ComputationId,
    arguments: Vec<Literal>,
    values: Vec<Option<Literal>>,
    pub(crate) next: usize,
    /// How often the loop it stands at has begun.
    pub(crate) rounds: u64,
    table: Arc<Table>,
    /// What becomes of the result.
    pub(crate) then: Then,
    /// The instruction that waits for a frame above this one.
    open: Option<Open>,
}

/// When an instruction was begun, and how much of its time others were measured in.
#[derive(Debug, Clone, Copy)]
struct Open {
    start: Instant,
    inner: Duration,
}

/// What the caller does with a callee's result.
#[derive(Debug)]
pub(crate) enum Then {
    /// It is the value of the instruction that called.
    Return,
    /// It is a `while`'s condition on this value.
    Condition(Literal),
    /// It is a `while`'s next value.
    Body,
    /// It is one step of a `scan`.
    Scan(Box<crate::control::Scan>),
    /// It is the result an asynchronous instruction holds beside its operands.
    Async(Vec<Literal>),
}

impl<'m> Machine<'m> {
    /// A machine that runs computation `id`.
    pub(crate) fn new(
        context: Context<'m>,
        id: ComputationId,
        arguments: Vec<Literal>,
    ) -> Result<Self> {
        let watch = context.hooks().observer.clone().map(Watch::new);
        let mut machine = Self { context, frames: Vec::new(), watch, lent: 0 };
        machine.push(id, arguments, Then::Return)?;
        Ok(machine)
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.context.steps()
    }
    /// The most bytes of values that were live at once, arguments not counted.
    pub fn peak_bytes(&self) -> usize {
        self.context.peak()
    }

    /// Runs until there is a result.
    ///
    /// # Errors
    /// `E04xx`, with the instruction at which the run stopped.
    pub fn resume(&mut self) -> Result<Step<'m>> {
        loop {
            let Some(frame) = self.frames.last_mut() else {
                return Err(Error::internal("a machine was resumed after its end"));
            };
            let (id, computation) = (InstructionId::new(frame.next), frame.computation);
            let Some(instruction) = computation.instructions.get(id) else {
                if let Some(result) = self.pop()? {
                    return Ok(Step::Done(result.cut()));
                }
                continue;
            };
            let waits = self.step(instruction, id).map_err(|e| located(e, computation, id))?;
            if let (Some(operands), Some(place)) = (waits, self.place()) {
                // Their memory stays the machine's until it is answered.
                self.lent = operands.iter().map(Literal::unshared_bytes).sum();
                return Ok(Step::Wait(Request { place, operands }));
            }
        }
    }

    /// Where it stands; nothing after its end.
    fn place(&self) -> Option<Position<'m>> {
        let frame = self.frames.last()?;
        Some(frame.place(self.frames.len()))
    }
    /// Gives the instruction that the machine waits at its value.
    ///
    /// # Errors
    /// `E0405` if the value takes more memory than is allowed.
    pub fn answer(&mut self, value: Literal) -> Result<()> {
        let Some(place) = self.place() else { return Ok(()) };
        let shape = &place.instruction().shape;
        let bytes = self.frames.last().and_then(|frame| frame.table.bytes[place.id.index()]);
        self.reserve(shape, bytes).map_err(|e| place.blame(e))?;
        self.context.release(std::mem::take(&mut self.lent));
        // Devices share no memory, and each counts its own.
        self.finish(place.id, fitted(value, shape).unshared());
        Ok(())
    }
    /// A machine of the same device that runs another computation.
    ///
    /// # Errors
    /// `E0406` if calls are nested too deep.
    pub fn beside(&self, id: ComputationId, arguments: Vec<Literal>) -> Result<Self> {
        Self::new(self.context.clone(), id, arguments)
    }
    /// Where each open computation stands, the outermost first, and of a loop how many rounds it has begun.
    pub fn trail(&self) -> Vec<(Position<'m>, u64)> {
        (self.frames.iter().zip(1..))
            .map(|(frame, depth)| (frame.place(depth), frame.rounds))
            .collect()
    }

    /// Runs one instruction of the innermost frame, or calls what it calls.
    ///
    /// Gives the operands of an instruction that others take part in, which is not run.
    fn step(
        &mut self,
        instruction: &'m Instruction,
        id: InstructionId,
    ) -> Result<Option<Vec<Literal>>> {
        self.context.spend(1)?;
        let start = self.watch.as_ref().map(|_| Instant::now());
        let frame = self.frames.last_mut().expect("resume has found one");
        frame.open = start.map(|start| Open { start, inner: Duration::ZERO });
        if let Op::Parameter(parameter) = &instruction.op {
            let number = usize::try_from(parameter.number).expect("verified: not negative");
            let argument = std::mem::replace(&mut frame.arguments[number], Literal::token());
            self.finish(id, fitted(argument, &instruction.shape));
            return Ok(None);
        }
        let mut operands = frame.operands(instruction, id);
        if self.context.device().is_some() && joins(&instruction.op) {
            return Ok(Some(operands));
        }
        if self.calls(instruction, &mut operands)? {
            return Ok(None);
        }
        let frame = self.frames.last().expect("resume has found one");
        if let Op::DynamicUpdateSlice(_) | Op::Scatter(_) = &instruction.op {
            // They write into an operand nobody else needs.
            self.context.release(operands[0].unshared_bytes());
        }
        let reserved = self.reserve(&instruction.shape, frame.table.bytes[id.index()])?;
        let name = || frame.computation.name(id).to_string();
        let before = self.context.options().check_nan.then(|| operands.clone());
        let value = kernel::evaluate(instruction, &mut operands, &self.context, &name)?;
        if let Some(before) = before {
            check_nan::check(instruction, &before, &value)?;
        }
        // What the value shares with the operands is theirs.
        self.context.release(reserved.saturating_sub(value.unshared_bytes()));
        self.context.discard(operands);
        self.finish(id, value);
        Ok(None)
    }

    /// Takes the memory of a result of this shape, if it can be counted.
    pub(crate) fn reserve(&self, shape: &Shape, bytes: Option<usize>) -> Result<usize> {
        let bytes = bytes.ok_or_else(|| {
            let message = format!("{shape} has more elements than memory has addresses");
            Error::from(Code::OutOfMemory { message })
        })?;
        self.context.reserve(bytes).map(|()| bytes)
    }

    /// Begins to run a computation with these arguments.
    pub(crate) fn push(
        &mut self,
        id: ComputationId,
        arguments: Vec<Literal>,
        then: Then,
    ) -> Result<()> {
        if self.frames.len() >= DEPTH_LIMIT {
            return Err(Code::TooDeep { limit: DEPTH_LIMIT }.into());
        }
        let computation = &self.context.module().computations[id];
        let table = self.context.table(id);
        let values = vec![None; computation.instructions.len()];
        self.frames.push(Frame {
            computation,
            computation_id: id,
            arguments,
            values,
            next: 0,
            rounds: 0,
            table,
            then,
            open: None,
        });
        Ok(())
    }

    /// Sets the value of the instruction the innermost frame stands at, and moves on.
    pub(crate) fn finish(&mut self, id: InstructionId, value: Literal) {
        let frame = self.frames.last_mut().expect("an instruction has a frame");
        frame.next = id.index() + 1;
        frame.rounds = 0;
        let bytes = frame.table.bytes[id.index()].unwrap_or_default();
        frame.values[id.index()] = Some(value);
        for dead in &frame.table.dead[id.index()] {
            if let Some(value) = frame.values[dead.index()].take() {
                self.context.release(value.unshared_bytes());
            }
        }
        if let Some(open) = frame.open.take() {
            self.measured(id, open, bytes);
        }
    }

    /// Tells the observer of an instruction that has ended.
    fn measured(&mut self, id: InstructionId, open: Open, bytes: usize) {
        let total = open.start.elapsed();
        let depth = self.frames.len() - 1;
        if let Some(outer) = depth.checked_sub(1).and_then(|d| self.frames[d].open.as_mut()) {
            outer.inner += total;
        }
        let computation = self.frames[depth].computation;
        if let Some(watch) = &self.watch {
            watch.tell(&Event {
                computation,
                id,
                depth,
                start: open.start.saturating_duration_since(watch.start),
                total,
                own: total.saturating_sub(open.inner),
                bytes,
            });
        }
    }

    /// Ends the innermost frame; gives the result if it was the last.
    fn pop(&mut self) -> Result<Option<Literal>> {
        let mut frame = self.frames.pop().expect("resume has found one");
        let root = frame.computation.root;
        let result = frame.values[root.index()].take().expect("the root has been run");
        let Some(caller) = self.frames.last() else { return Ok(Some(result)) };
        let id = InstructionId::new(caller.next);
        let computation = caller.computation;
        let instruction = &computation.instructions[id];
        self.returned(instruction, id, frame.then, result)
            .map_err(|e| located(e, computation, id))?;
        Ok(None)
    }
}

impl<'m> Frame<'m> {
    /// Where it stands, as the innermost of `depth` frames.
    fn place(&self, depth: usize) -> Position<'m> {
        let id = InstructionId::new(self.next);
        Position { computation: self.computation, computation_id: self.computation_id, id, depth }
    }
    /// The operands of an instruction; those that are not used again leave the frame, so that they may be written to.
    fn operands(&mut self, instruction: &Instruction, id: InstructionId) -> Vec<Literal> {
        let operands = &instruction.operands;
        let mut taken = Vec::with_capacity(operands.len());
        for (i, &operand) in operands.iter().enumerate() {
            let last = self.table.is_last_use(operand, id) && !operands[i + 1..].contains(&operand);
            let slot = &mut self.values[operand.index()];
            let value = if last { slot.take() } else { slot.clone() };
            taken.push(value.expect("operands stand before their users and are live"));
        }
        taken
    }
}

/// Whether other devices take part in an op.
fn joins(op: &Op) -> bool {
    // At the other end of these is the host, which has queues.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only transfers can be with the host")]
    let with_host = match op {
        Op::Send(op) => op.is_host_transfer,
        Op::SendDone(op) => op.is_host_transfer,
        Op::Recv(op) => op.is_host_transfer,
        Op::RecvDone(op) => op.is_host_transfer,
        _ => false,
    };
    !with_host
        && matches!(
            op,
            Op::AllGather(_)
                | Op::AllGatherDone(_)
                | Op::AllGatherStart(_)
                | Op::AllReduce(_)
                | Op::AllReduceDone(_)
                | Op::AllReduceStart(_)
                | Op::AllToAll(_)
                | Op::AsyncDone(_)
                | Op::AsyncStart(_)
                | Op::AsyncUpdate(_)
                | Op::CollectiveBroadcast(_)
                | Op::CollectivePermute(_)
                | Op::CollectivePermuteDone(_)
                | Op::CollectivePermuteStart(_)
                | Op::RaggedAllToAll(_)
                | Op::Recv(_)
                | Op::RecvDone(_)
                | Op::ReduceScatter(_)
                | Op::Send(_)
                | Op::SendDone(_)
        )
}

fn located(error: Error, computation: &Computation, id: InstructionId) -> Error {
    error.at(computation.site(id))
}
