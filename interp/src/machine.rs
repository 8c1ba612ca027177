//! The machine: a stack of computations being run, one value for each instruction, fuel.
//!
//! Control flow (`call`, `fusion`, `while`, `conditional`) pushes frames; everything else is one call into
//! `reference`. A machine is a value: it can stop between any two instructions and go on later.
use crate::applied::Applied;
use crate::error::Code;
use crate::hooks::Hooks;
use crate::interpreter::{Options, checked_bytes, with_layouts};
use crate::reference::Channels;
use crate::{Error, Result, reference};
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId};
use hlo::{Arena, Literal, Module, Op, Scalar, Shape};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Frames a machine may have open.
const DEPTH_LIMIT: usize = 10_000;

/// A run that can be stopped and resumed.
#[derive(Debug)]
pub struct Machine<'m> {
    module: &'m Module,
    frames: Vec<Frame<'m>>,
    tables: HashMap<ComputationId, Rc<LastUses>>,
    context: Context<'m>,
}

/// What a machine came to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// The entry computation's result.
    Done(Literal),
}

/// A computation being run.
#[derive(Debug)]
struct Frame<'m> {
    computation: &'m Computation,
    arguments: Vec<Literal>,
    values: Vec<Option<Literal>>,
    next: usize,
    last_uses: Rc<LastUses>,
    /// What becomes of the result.
    then: Then,
}

/// What the caller does with a callee's result.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Then {
    /// It is the value of the instruction that called.
    Return,
    /// It is a `while`'s condition on the value the caller keeps.
    Condition,
    /// It is a `while`'s next value.
    Body,
}

/// For each instruction the values nobody needs after it.
type LastUses = Vec<Vec<InstructionId>>;

/// What ops need besides their operands.
#[derive(Debug)]
pub(crate) struct Context<'m> {
    pub(crate) module: &'m Module,
    options: Options,
    hooks: Hooks,
    spent: u64,
    live: usize,
    applied: RefCell<HashMap<ComputationId, Rc<Applied<'m>>>>,
    /// What `send` has put into each channel and no `recv-done` has taken.
    pub(crate) channels: Channels,
}

impl<'m> Context<'m> {
    /// Pays for `steps` steps.
    pub(crate) fn spend(&mut self, steps: u64) -> Result<()> {
        self.spent = self.spent.saturating_add(steps);
        match self.options.fuel {
            Some(fuel) if self.spent > fuel => Err(Code::OutOfFuel { steps: fuel }.into()),
            _ => Ok(()),
        }
    }
    /// A scalar computation, ready to be called for each element.
    pub(crate) fn applied(&self, id: ComputationId) -> Result<Rc<Applied<'m>>> {
        if let Some(applied) = self.applied.borrow().get(&id) {
            return Ok(Rc::clone(applied));
        }
        let applied = Rc::new(Applied::new(self.module, id, self.options)?);
        self.applied.borrow_mut().insert(id, Rc::clone(&applied));
        Ok(applied)
    }
    /// What the program may reach outside of itself.
    pub(crate) fn hooks(&self) -> &Hooks {
        &self.hooks
    }
    fn reserve(&mut self, bytes: usize) -> Result<()> {
        let live = self.live.saturating_add(bytes);
        if let Some(limit) = self.options.max_memory
            && live > limit
        {
            let message = format!("{live} bytes of values would be live; {limit} are allowed");
            return Err(Code::OutOfMemory { message }.into());
        }
        self.live = live;
        Ok(())
    }
}

impl<'m> Machine<'m> {
    pub(crate) fn new(
        module: &'m Module,
        options: Options,
        hooks: Hooks,
        arguments: Vec<Literal>,
    ) -> Result<Self> {
        Self::of(module, module.entry, options, hooks, arguments)
    }
    /// A machine that runs computation `id`.
    pub(crate) fn of(
        module: &'m Module,
        id: ComputationId,
        options: Options,
        hooks: Hooks,
        arguments: Vec<Literal>,
    ) -> Result<Self> {
        let context = Context {
            module,
            options,
            hooks,
            spent: 0,
            live: 0,
            applied: RefCell::default(),
            channels: Channels::default(),
        };
        let mut machine = Self { module, frames: Vec::new(), tables: HashMap::new(), context };
        machine.push(id, arguments, Then::Return)?;
        Ok(machine)
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.context.spent
    }

    /// Runs until there is a result.
    ///
    /// # Errors
    /// `E04xx`, with the instruction at which the run stopped.
    pub fn resume(&mut self) -> Result<Step> {
        loop {
            let Some(frame) = self.frames.last_mut() else {
                return Err(Error::internal("a machine was resumed after its end"));
            };
            let id = InstructionId::new(frame.next);
            let Some(instruction) = frame.computation.instructions.get(id) else {
                if let Some(result) = self.pop()? {
                    return Ok(Step::Done(result));
                }
                continue;
            };
            let (computation, at) = (frame.computation, id);
            self.step(instruction, id).map_err(|e| located(e, computation, at))?;
        }
    }

    /// Runs one instruction of the innermost frame, or calls what it calls.
    fn step(&mut self, instruction: &'m Instruction, id: InstructionId) -> Result<()> {
        self.context.spend(1)?;
        let frame = self.frames.last_mut().expect("resume has found one");
        let operands = |frame: &Frame<'m>| -> Vec<Literal> {
            instruction.operands.iter().map(|&id| frame.value(id).clone()).collect()
        };
        match &instruction.op {
            Op::Parameter(parameter) => {
                let number = usize::try_from(parameter.number).expect("verified");
                let value = with_layouts(&frame.arguments[number], &instruction.shape);
                self.finish(id, value);
                Ok(())
            }
            Op::Call(call) => self.call(call.to_apply, operands),
            Op::Fusion(fusion) => self.call(fusion.calls, operands),
            Op::While(repeat) => {
                let value = frame.value(instruction.operands[0]).clone();
                frame.values[id.index()] = Some(value.clone());
                self.push(repeat.condition, vec![value], Then::Condition)
            }
            Op::Conditional(choice) => {
                let selector = frame.value(instruction.operands[0]).get(0);
                let branch = choose(selector, choice.branches.len());
                let argument = frame.value(instruction.operands[branch + 1]).clone();
                self.push(choice.branches[branch], vec![argument], Then::Return)
            }
            _ => {
                let mut bytes = 0usize;
                for leaf in instruction.shape.leaves() {
                    if let Shape::Array(array) = leaf {
                        bytes = bytes.saturating_add(checked_bytes(array)?);
                    }
                }
                self.context.reserve(bytes)?;
                let holder: Vec<&Literal> =
                    instruction.operands.iter().map(|&id| frame.value(id)).collect();
                let name = || frame.computation.names[id].to_string();
                let value = reference::evaluate(instruction, &holder, &mut self.context, &name)?;
                self.finish(id, value);
                Ok(())
            }
        }
    }

    fn call(
        &mut self,
        callee: ComputationId,
        operands: impl Fn(&Frame<'m>) -> Vec<Literal>,
    ) -> Result<()> {
        let arguments = operands(self.frames.last().expect("resume has found one"));
        self.push(callee, arguments, Then::Return)
    }

    fn push(&mut self, id: ComputationId, arguments: Vec<Literal>, then: Then) -> Result<()> {
        if self.frames.len() >= DEPTH_LIMIT {
            return Err(Code::TooDeep { limit: DEPTH_LIMIT }.into());
        }
        let computation = &self.module.computations[id];
        let last_uses =
            Rc::clone(self.tables.entry(id).or_insert_with(|| {
                Rc::new(last_uses(&computation.instructions, computation.root))
            }));
        let values = vec![None; computation.instructions.len()];
        self.frames.push(Frame { computation, arguments, values, next: 0, last_uses, then });
        Ok(())
    }

    /// Sets the value of the instruction the innermost frame stands at, and moves on.
    fn finish(&mut self, id: InstructionId, value: Literal) {
        let frame = self.frames.last_mut().expect("an instruction has a frame");
        frame.values[id.index()] = Some(value);
        frame.next = id.index() + 1;
        let dead = Rc::clone(&frame.last_uses);
        for &dead in &dead[id.index()] {
            if let Some(value) = frame.values[dead.index()].take() {
                self.context.live = self.context.live.saturating_sub(owned_bytes(&value));
            }
        }
    }

    /// Ends the innermost frame; gives the result if it was the last.
    fn pop(&mut self) -> Result<Option<Literal>> {
        let mut frame = self.frames.pop().expect("resume has found one");
        let root = frame.computation.root;
        let result = frame.values[root.index()].take().expect("the root has been run");
        let Some(caller) = self.frames.last_mut() else { return Ok(Some(result)) };
        let id = InstructionId::new(caller.next);
        let instruction = &caller.computation.instructions[id];
        match frame.then {
            Then::Return => self.finish(id, with_layouts(&result, &instruction.shape)),
            Then::Condition => {
                let Op::While(repeat) = &instruction.op else {
                    return Err(Error::internal("a condition belongs to a while"));
                };
                let value = caller.values[id.index()].take().expect("kept while its condition ran");
                if result.get(0) == Scalar::Pred(true) {
                    self.push(repeat.body, vec![value], Then::Body)?;
                } else {
                    self.finish(id, value);
                }
            }
            Then::Body => {
                let Op::While(repeat) = &instruction.op else {
                    return Err(Error::internal("a body belongs to a while"));
                };
                self.context.spend(1)?;
                caller.values[id.index()] = Some(result.clone());
                self.push(repeat.condition, vec![result], Then::Condition)?;
            }
        }
        Ok(None)
    }
}

impl Frame<'_> {
    fn value(&self, id: InstructionId) -> &Literal {
        self.values[id.index()].as_ref().expect("operands stand before their users and are live")
    }
}

/// The branch a selector chooses: true is the first of two; an index out of range is the last.
fn choose(selector: Scalar, branches: usize) -> usize {
    let last = branches.saturating_sub(1);
    match selector {
        Scalar::Pred(on) => usize::from(!on),
        Scalar::Signed(index) => usize::try_from(index).map_or(last, |i| i.min(last)),
        Scalar::Unsigned(_) | Scalar::Float(_) | Scalar::Complex(..) => last,
    }
}

/// For each instruction the values that are not used after it.
fn last_uses(instructions: &Arena<Instruction>, root: InstructionId) -> LastUses {
    let mut last: Vec<usize> = (0..instructions.len()).collect();
    for (id, instruction) in instructions.iter() {
        for operand in &instruction.operands {
            last[operand.index()] = id.index();
        }
    }
    let mut dead = vec![Vec::new(); instructions.len()];
    for (value, &user) in last.iter().enumerate() {
        if value != root.index() {
            dead[user].push(InstructionId::new(value));
        }
    }
    dead
}

/// Bytes of the arrays of a value.
fn owned_bytes(value: &Literal) -> usize {
    match value.elements() {
        Some(elements) => elements.iter().map(owned_bytes).sum(),
        None => value.bytes().len(),
    }
}

fn located(error: Error, computation: &Computation, id: InstructionId) -> Error {
    let span = computation.spans.get(id).copied().unwrap_or_default().body;
    error.at(span, || format!("{}/{}", computation.name, computation.names[id]))
}
