//! Control flow: the computations that steps call, and the use of their results.
use super::frame::{Control, Frame, LoopState};
use super::{Machine, SPARE_DEPTH};
use crate::branch::choose;
use crate::loops::{LoopEnd, LoopProgram};
use crate::plan::{Action, Step};
use crate::program::Program;
use crate::scan::{Scan, ScanAction};
use crate::value::Value;
use crate::{Error, Result};
use hlo::Scalar;
use hlo::ir::ComputationId;

impl Machine {
    /// Starts the computation that a step calls.
    pub(super) fn call(&mut self, step: &Step) -> Result<()> {
        match &step.action {
            Action::Call(callee) => {
                let frame = self.frame();
                let arguments = frame.take_inputs(step);
                let spare = frame.callees.remove(&frame.next);
                self.push(*callee, arguments, spare)
            }
            Action::While { condition, body, fast: _ } => {
                let carried = self.frame().take_inputs(step);
                let starts = carried.iter().any(|value| value.async_id().is_some());
                let program = step.action.loop_program();
                let carried =
                    match program.filter(|program| !starts && self.has_room(step, program)) {
                        Some(program) => match program.run(&self.context, carried)? {
                            LoopEnd::Done(carried) => return self.end_call(step, carried),
                            LoopEnd::OutOfFuel(carried) => carried,
                        },
                        None => carried,
                    };
                let state = LoopState {
                    condition: *condition,
                    body: *body,
                    carried,
                    condition_frame: None,
                    body_frame: None,
                    in_body: false,
                };
                self.test(step, Box::new(state))
            }
            Action::Branch(branches) => {
                let mut inputs = self.frame().take_inputs(step).into_iter();
                let selector = match inputs.next() {
                    Some(Value::Array(selector)) => selector.get(0),
                    _ => return Err(Error::internal("a conditional has a selector")),
                };
                let branch = choose(selector, branches.len());
                // The leaves of the branches' arguments are consecutive.
                let leaves = |id: &ComputationId| self.program.plan(*id).parameters.len();
                let before = branches[..branch].iter().map(leaves).sum();
                let count = leaves(&branches[branch]);
                let arguments: Vec<Value> = inputs.skip(before).take(count).collect();
                self.push(branches[branch], arguments, None)
            }
            Action::Scan(op) => {
                let inputs = self.operands(step)?;
                let shape = &step.site.of(self.program.module()).shape;
                let scan = Scan::new(op, inputs.into_vec(), shape, &self.context)?;
                self.scan(step, Box::new(scan))
            }
            Action::AsyncStart { callee } => self.async_start(step, *callee),
            Action::AsyncUpdate => self.async_update(step),
            Action::AsyncDone => self.async_done(step),
            Action::Kernel(_)
            | Action::Function(_)
            | Action::Steps(_)
            | Action::Bitcast
            | Action::Communicate(_)
            | Action::Start(_)
            | Action::Done => Err(Error::internal("the step calls no computation")),
        }
    }

    /// Takes the result of the computation that the innermost frame's step has called.
    pub(super) fn returned(
        &mut self,
        program: &Program,
        callee: Frame,
        results: Vec<Value>,
    ) -> Result<()> {
        let is_shallow = self.frames.len() < SPARE_DEPTH;
        let frame = self.frame();
        let step = &program.plan(frame.computation).steps[frame.next];
        match std::mem::replace(&mut frame.control, Control::None) {
            Control::None => {
                if is_shallow && frame.repeats && matches!(step.action, Action::Call(_)) {
                    frame.callees.insert(frame.next, callee);
                }
                self.end_call(step, results)
            }
            Control::While(mut state) if state.in_body => {
                state.carried = results;
                state.body_frame = Some(callee);
                self.context.spend(1)?;
                self.test(step, state)
            }
            Control::While(mut state) => {
                let is_true = matches!(results.as_slice(), [Value::Array(on)] if on.get(0) == Scalar::Pred(true));
                state.condition_frame = Some(callee);
                self.tested(step, state, is_true)
            }
            Control::Scan(mut scan) => {
                scan.store(results)?;
                self.scan(step, scan)
            }
            Control::Async(id) => self.async_returned(step, id, results),
        }
    }

    /// Runs the condition of a loop on its value.
    fn test(&mut self, step: &Step, mut state: Box<LoopState>) -> Result<()> {
        if let Action::While { fast: Some(program), .. } = &step.action
            && program.bytes().is_none()
            && !self.is_observed()
            && let Some(is_true) = program.is_true(&self.context, &state.carried)?
        {
            return self.tested(step, state, is_true);
        }
        state.in_body = false;
        let parameters = &self.program.plan(state.condition).parameters;
        // Values that the condition does not read stay unshared.
        let leaf = |(value, slot): (&Value, &Option<_>)| match slot {
            Some(_) => value.clone(),
            None => Value::Token,
        };
        let arguments: Vec<Value> = state.carried.iter().zip(parameters).map(leaf).collect();
        let (condition, spare) = (state.condition, state.condition_frame.take());
        self.frame().control = Control::While(state);
        self.push(condition, arguments, spare)
    }

    /// Begins the next iteration of a loop, or ends it.
    fn tested(&mut self, step: &Step, mut state: Box<LoopState>, is_true: bool) -> Result<()> {
        if !is_true {
            return self.end_call(step, state.carried);
        }
        state.in_body = true;
        let carried = std::mem::take(&mut state.carried);
        let (body, spare) = (state.body, state.body_frame.take());
        let frame = self.frame();
        frame.iterations += 1;
        frame.control = Control::While(state);
        self.push(body, carried, spare)
    }

    /// Begins the next step of a scan, or ends it.
    fn scan(&mut self, step: &Step, mut scan: Box<Scan>) -> Result<()> {
        self.context.spend(1)?;
        match scan.next(&self.context)? {
            ScanAction::Call(arguments) => {
                let callee = scan.callee();
                let frame = self.frame();
                frame.iterations += 1;
                frame.control = Control::Scan(scan);
                self.push(callee, arguments, None)
            }
            ScanAction::Done(results) => self.end_call(step, results),
        }
    }

    /// Sets the outputs of a step to these leaves and advances to the next step.
    #[expect(clippy::unnecessary_wraps, reason = "the last call of functions that can fail")]
    pub(super) fn end_call(&mut self, step: &Step, leaves: Vec<Value>) -> Result<()> {
        let frame = self.frame();
        debug_assert_eq!(leaves.len(), step.outputs.len());
        for (output, leaf) in step.outputs.iter().zip(leaves) {
            frame.slots[output.slot.index()] = Some(leaf);
        }
        self.end_step(step);
        Ok(())
    }

    /// Returns whether a loop may run on a block of memory: frames take less of it, and show each
    /// instruction.
    fn has_room(&self, step: &Step, program: &LoopProgram) -> bool {
        let bytes =
            program.bytes().zip(step.bytes).map(|(own, results)| own.saturating_add(results));
        let bytes = bytes.unwrap_or(usize::MAX);
        !self.is_observed() && self.context.budget().left().is_none_or(|left| bytes <= left)
    }

    /// Returns whether each instruction is observed, so that none may be skipped.
    fn is_observed(&self) -> bool {
        self.watch.is_some() || self.context.options().check_nan
    }
}
