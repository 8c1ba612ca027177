//! Asynchronous operations on one device: `async-start`, `all-gather-start` and the like.
//!
//! A computation runs when its last parameter is bound: at the start, at an update, or at the done.
use super::Machine;
use super::execute::not_started;
use super::frame::Control;
use crate::plan::{Action, Step};
use crate::value::{AsyncId, Value};
use crate::{Error, Result};
use hlo::Module;
use hlo::ir::ComputationId;
use num::error::Code;
use rustc_hash::FxHashMap;

/// The asynchronous operations in progress.
#[derive(Debug, Default)]
pub(crate) struct AsyncOps {
    next: u64,
    open: FxHashMap<AsyncId, AsyncState>,
}

/// The state of an asynchronous operation.
#[derive(Debug)]
enum AsyncState {
    /// The operands bound so far; the computation runs when all its parameters are bound.
    Binding { callee: ComputationId, operands: usize, leaves: Vec<Value> },
    /// The result of the operation.
    Done(Value),
}

impl AsyncOps {
    fn begin(&mut self, started: AsyncState) -> AsyncId {
        let id = AsyncId::new(self.next);
        self.next += 1;
        self.open.insert(id, started);
        id
    }
    /// Registers an operation whose result is known.
    pub(super) fn begin_done(&mut self, result: Value) -> AsyncId {
        self.begin(AsyncState::Done(result))
    }
    /// Ends an operation whose result is known.
    pub(super) fn end(&mut self, id: AsyncId) -> Result<Value> {
        match self.open.remove(&id) {
            Some(AsyncState::Done(result)) => Ok(result),
            Some(AsyncState::Binding { .. }) | None => Err(already_done()),
        }
    }
}

impl Machine {
    /// Starts a computation with the operands that are bound so far.
    pub(super) fn async_start(&mut self, step: &Step, callee: ComputationId) -> Result<()> {
        let leaves = self.frame().take_inputs(step);
        let operands = self.operand_count(step);
        let id = self.started.begin(AsyncState::Binding { callee, operands, leaves });
        if self.run_if_bound(id)? {
            return Ok(());
        }
        self.store(step, Value::Async(id));
        self.end_step(step);
        Ok(())
    }
    /// Binds more operands.
    pub(super) fn async_update(&mut self, step: &Step) -> Result<()> {
        let id = self.bind(step)?;
        if self.run_if_bound(id)? {
            return Ok(());
        }
        self.store(step, Value::Async(id));
        self.end_step(step);
        Ok(())
    }
    /// Binds the last operands and takes the result.
    pub(super) fn async_done(&mut self, step: &Step) -> Result<()> {
        let id = self.bind(step)?;
        if self.run_if_bound(id)? {
            return Ok(());
        }
        if let Some(AsyncState::Binding { callee, operands, .. }) = self.started.open.get(&id) {
            return Err(not_bound(self.program.module(), *callee, *operands));
        }
        let result = self.started.end(id)?;
        self.store(step, result);
        self.end_step(step);
        Ok(())
    }
    /// Takes the result of the computation that a step has started.
    pub(super) fn async_returned(
        &mut self,
        step: &Step,
        id: AsyncId,
        results: Vec<Value>,
    ) -> Result<()> {
        if matches!(step.action, Action::AsyncDone) {
            return self.end_call(step, results);
        }
        self.started.open.insert(id, AsyncState::Done(Value::Tuple(results)));
        self.store(step, Value::Async(id));
        self.end_step(step);
        Ok(())
    }

    /// Binds the operands of a step after the first, which is the asynchronous operation.
    fn bind(&mut self, step: &Step) -> Result<AsyncId> {
        let instruction = step.site.of(self.program.module());
        let computation = &self.program.module().computations[step.site.computation];
        let state = &computation.instructions[instruction.operands[0]].shape;
        let (state, more) = (state.leaves().len(), instruction.operands.len() - 1);
        let mut inputs = self.frame().take_inputs(step);
        let id = inputs.first().and_then(Value::async_id).ok_or_else(not_started)?;
        if let Some(AsyncState::Binding { operands, leaves, .. }) = self.started.open.get_mut(&id) {
            *operands += more;
            leaves.extend(inputs.drain(state..));
        } else if more > 0 {
            return Err(taken_twice());
        }
        Ok(id)
    }
    /// Runs the computation of an operation if all its parameters are bound.
    ///
    /// The verifier compares the operands with the parameters; only a value that is taken twice, in
    /// different computations, can have others.
    fn run_if_bound(&mut self, id: AsyncId) -> Result<bool> {
        let Some(AsyncState::Binding { callee, operands, leaves }) = self.started.open.get_mut(&id)
        else {
            return Ok(false);
        };
        let program = self.program.module().computations[*callee].program_shape();
        if *operands < program.parameters.len() {
            return Ok(false);
        }
        let shapes = program.parameters.iter().flat_map(|shape| shape.leaves());
        let shapes: Vec<_> = shapes.collect();
        let fits =
            leaves.len() == shapes.len() && leaves.iter().zip(shapes).all(|(v, s)| v.fits(s));
        if !fits {
            return Err(taken_twice());
        }
        let (callee, leaves) = (*callee, std::mem::take(leaves));
        self.started.open.remove(&id);
        self.frame().control = Control::Async(id);
        self.push(callee, leaves, None).map(|()| true)
    }
    fn operand_count(&self, step: &Step) -> usize {
        step.site.of(self.program.module()).operands.len()
    }
}

/// Returns the error of an operation whose operands or result are those of another place that takes
/// it as well.
pub fn taken_twice() -> Error {
    misused(
        "the value of an asynchronous operation is taken twice: the operands bound to it are not \
         those that its computation takes",
    )
}

/// Returns the error of a done whose operation another one has ended.
pub fn already_done() -> Error {
    misused("this operation was not started, or is already done")
}

/// Returns the error of a done that comes when only so many parameters of the computation are
/// bound.
pub fn not_bound(module: &Module, callee: ComputationId, found: usize) -> Error {
    let computation = &module.computations[callee];
    let (name, expected) = (&computation.name, computation.parameters().len());
    let message = format!("`{name}` has {expected} parameters, but {found} are bound");
    Code::Trap { message }.into()
}

fn misused(message: &str) -> Error {
    Error::from(Code::Trap { message: message.to_owned() })
        .with_help("pass the value of a start to one update or done only")
}
