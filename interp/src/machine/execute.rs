//! Execution of steps that call no computation: kernels and functions.
use super::Machine;
use crate::check_nan;
use crate::context::RunContext;
use crate::host::in_group;
use crate::memory::Reservation;
use crate::plan::{Action, LiteralFn, Output, Step};
use crate::value::{Value, not_done};
use crate::{Error, Result};
use hlo::{Array, Literal, Op, Shape};
use kernels::Reuse;
use num::array::too_large;
use num::error::Code;
use num::parallel;
use smallvec::SmallVec;
use std::sync::Arc;

impl Machine {
    /// Executes a step on this device, or starts the computation that it calls.
    pub(super) fn execute(&mut self, step: &Step) -> Result<()> {
        let entered = self.context.stop().enter();
        let begin = self.moved_at.take();
        match &step.action {
            Action::Kernel(kernel) => self.with_check(step, |machine| {
                machine.kernel(step, kernel.reuse(), |scope, inputs, outputs| {
                    let run = || kernel.run(scope, inputs, outputs);
                    step.sharing.run(begin, run)
                })
            })?,
            Action::Steps(program) => {
                self.kernel(step, Reuse::None, |context, inputs, outputs| {
                    program.apply(context, inputs, outputs)
                })?;
            }
            Action::Function(function) | Action::Communicate(function) => {
                self.with_check(step, |machine| {
                    let value = machine.call_function(step, function)?;
                    let instruction = step.site.of(machine.program.module());
                    let is_awaited = matches!(instruction.op, Op::Recv(_))
                        && !in_group(machine.program.module(), step.site);
                    let value = match is_awaited {
                        true => Value::receiving(&instruction.shape),
                        false => value.into(),
                    };
                    machine.store(step, value);
                    Ok(())
                })?;
            }
            Action::Bitcast => self.with_check(step, |machine| machine.bitcast(step))?,
            Action::Start(function) => {
                let result = self.call_function(step, function)?;
                let id = self.started.begin_done(result.into());
                self.store(step, Value::Async(id));
            }
            Action::Done => {
                let value = self.frame().take(step.inputs[0]);
                let result = self.started.end(value.async_id().ok_or_else(not_started)?)?;
                self.store(step, result);
            }
            Action::Call(_)
            | Action::While { .. }
            | Action::Branch(_)
            | Action::Scan(_)
            | Action::AsyncStart { .. }
            | Action::AsyncUpdate
            | Action::AsyncDone => return self.call(step),
        }
        drop(entered);
        // Kernels stop without an error when the time is over.
        self.context.check_time()?;
        self.end_step(step);
        Ok(())
    }

    /// Runs `execute`, and checks its outputs for NaN if the options of the run say so.
    fn with_check(
        &mut self,
        step: &Step,
        execute: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        if !self.context.options().check_nan {
            return execute(self);
        }
        let array = |value: Option<&Value>| match value {
            Some(Value::Array(array)) => Some(array.clone()),
            Some(Value::Tuple(_) | Value::Token | Value::Async(_)) | None => None,
        };
        let frame = self.frame();
        let inputs = step.inputs.iter();
        let inputs: Vec<Array> =
            inputs.filter_map(|input| array(frame.slots[input.slot.index()].as_ref())).collect();
        execute(self)?;
        let frame = self.frames.last().expect("a step has a frame");
        let outputs = step.outputs.iter();
        let outputs: Vec<Array> =
            outputs.filter_map(|output| array(frame.slots[output.slot.index()].as_ref())).collect();
        let module = self.program.module();
        let checked = check_nan::check(step.site.of(module), &inputs, &outputs, step.part.as_ref());
        match (checked, &self.context.hooks().not_finite) {
            (Err(error), Some(found)) => {
                let position = self.position_of(frame, self.depth());
                found.report(position.locate(error, module));
                Ok(())
            }
            (checked, _) => checked,
        }
    }

    /// Runs a kernel on slots.
    fn kernel(
        &mut self,
        step: &Step,
        reuse: Reuse,
        run: impl FnOnce(&RunContext, &[Option<&Array>], &mut [Array]) -> Result<()>,
    ) -> Result<()> {
        let context = &self.context;
        let frame = self.frames.last_mut().expect("a step has a frame");
        let slots = &mut frame.slots;
        let mut outputs: SmallVec<[Array; 2]> = SmallVec::new();
        let mut in_place = None;
        for (k, output) in step.outputs.iter().enumerate() {
            outputs.push(match (k, reuse) {
                (0, Reuse::Update) => {
                    in_place = Some(0);
                    operand_to_update(context, step, slots)?
                }
                (0, Reuse::SameIndex(_)) if step.in_place.is_some() => {
                    let (result, operand) = over_operand(context, step, slots)?;
                    in_place = operand;
                    result
                }
                _ => memory_for(context, output, slots)?,
            });
        }
        let inputs =
            step.inputs.iter().enumerate().map(|(k, input)| match &slots[input.slot.index()] {
                _ if in_place == Some(k) => Ok(None),
                Some(Value::Array(array)) => Ok(Some(array)),
                Some(Value::Tuple(_) | Value::Token | Value::Async(_)) | None => Err(not_done()),
            });
        let inputs: SmallVec<[Option<&Array>; 4]> = inputs.collect::<Result<_>>()?;
        let _scratch = context.reserve_scratch(step.scratch)?;
        run(context, &inputs, &mut outputs)?;
        drop(inputs);
        for (output, value) in step.outputs.iter().zip(outputs) {
            slots[output.slot.index()] = Some(Value::Array(value));
        }
        Ok(())
    }

    /// Calls a function on whole operands, whose memory is freed if this is their last use.
    fn call_function(&mut self, step: &Step, function: &LiteralFn) -> Result<Literal> {
        let bytes = step.bytes.ok_or_else(|| too_large(self.shape_of(step)))?;
        let mut reservation = self.context.reserve(bytes)?;
        let _scratch = self.context.reserve_scratch(step.scratch)?;
        let operands = self.operands(step)?;
        let operands: SmallVec<[&Literal; 4]> = operands.iter().collect();
        let result = function(&self.context, &operands)?;
        with_charges(&mut reservation, result)
    }
    /// Returns the operands of a step as literals.
    pub(super) fn operands(&mut self, step: &Step) -> Result<SmallVec<[Literal; 4]>> {
        let frame = self.frames.last_mut().expect("a step has a frame");
        let module = self.program.module();
        let computation = &module.computations[step.site.computation];
        let instruction = step.site.of(module);
        let mut leaves = step.inputs.iter().map(|&input| frame.take(input));
        // The value comes from the channel.
        if let Op::RecvDone(_) = instruction.op {
            leaves.for_each(drop);
            return Ok(SmallVec::new());
        }
        let operands = instruction.operands.iter().map(|&operand| {
            match &computation.instructions[operand].shape {
                Shape::Array(_) => array(leaves.next()).map(Literal::from),
                shape @ (Shape::Tuple(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_)) => {
                    Value::unflatten(shape, &mut leaves).into_literal()
                }
            }
        });
        operands.collect()
    }

    fn bitcast(&mut self, step: &Step) -> Result<()> {
        let operand = array(Some(self.frame().take(step.inputs[0])))?;
        let shape = step.outputs[0].shape.as_ref().expect("verified: an array");
        let value = operand.with_shape(Arc::clone(shape));
        drop(operand);
        self.store(step, Value::Array(value));
        Ok(())
    }

    /// Sets the outputs of a step. Each leaf of an asynchronous operation is its id.
    pub(super) fn store(&mut self, step: &Step, value: Value) {
        let frame = self.frame();
        if let Value::Async(_) = value {
            for output in &step.outputs {
                frame.slots[output.slot.index()] = Some(value.clone());
            }
            return;
        }
        let mut leaves = Vec::with_capacity(step.outputs.len());
        value.flatten(&mut leaves);
        for (output, leaf) in step.outputs.iter().zip(leaves) {
            frame.slots[output.slot.index()] = Some(leaf);
        }
    }
    /// Sets the outputs of a step to a value from outside the machine and advances to the next
    /// step.
    pub(super) fn set_outputs(&mut self, step: &Step, value: Value) -> Result<()> {
        let shape = self.shape_of(step);
        if !value.fits(shape) {
            let message = format!("the machine waits for {shape:#}, but is resumed with {value:?}");
            return Err(Code::Invalid { message }.into());
        }
        let mut reservation = match (&value, self.reserved.take()) {
            (Value::Async(_), _) => self.context.reserve(0)?,
            (Value::Array(_) | Value::Tuple(_) | Value::Token, Some(reserved)) => reserved,
            (Value::Array(_) | Value::Tuple(_) | Value::Token, None) => {
                self.reserve_result(step)?
            }
        };
        // Devices share no memory; each is charged for its own.
        let value = owned(&mut reservation, value)?;
        self.store(step, value);
        self.end_step(step);
        Ok(())
    }

    /// Reserves the memory of the result of a step of the innermost frame, and what it works in.
    pub(super) fn reserve_result(&self, step: &Step) -> Result<Reservation> {
        let bytes = step.bytes.ok_or_else(|| too_large(self.shape_of(step)))?;
        self.context.reserve(bytes.saturating_add(step.scratch))
    }
    /// Returns the shape of the result of a step of the innermost frame.
    fn shape_of(&self, step: &Step) -> &Shape {
        &step.site.of(self.program.module()).shape
    }
}

pub(super) fn not_started() -> Error {
    Error::unsupported("an asynchronous operation whose value has no leaves is not supported")
}

fn array(value: Option<Value>) -> Result<Array> {
    match value {
        Some(Value::Array(array)) => Ok(array),
        Some(Value::Async(_)) => Err(not_done()),
        Some(Value::Tuple(_) | Value::Token) | None => {
            Err(Error::internal("a slot has an array from its definition to its last use"))
        }
    }
}

/// Returns memory for an output: that of its slot, if it is not shared, or new memory.
fn memory_for(context: &RunContext, output: &Output, slots: &mut [Option<Value>]) -> Result<Array> {
    let shape = output.shape.as_ref().expect("a kernel computes arrays");
    if let Some(Value::Array(held)) = slots[output.slot.index()].take()
        && let Some(result) = held.recycled(shape)
    {
        return Ok(result);
    }
    context.budget().array(shape)
}

/// Returns the memory of an output that is computed in place of an operand, and that operand's
/// number; new memory if the operand is shared.
fn over_operand(
    context: &RunContext,
    step: &Step,
    slots: &mut [Option<Value>],
) -> Result<(Array, Option<usize>)> {
    let output = &step.outputs[0];
    let shape = output.shape.as_ref().expect("a kernel computes arrays");
    let mut operand = array(slots[output.slot.index()].take())?;
    if operand.is_unique() {
        let result = operand.recycled(shape).expect("the plan has compared the sizes");
        return Ok((result, step.in_place));
    }
    slots[output.slot.index()] = Some(Value::Array(operand));
    Ok((context.budget().array(shape)?, None))
}

/// Returns operand 0 in memory that may be written to: its own, if it dies here and is not shared.
fn operand_to_update(
    context: &RunContext,
    step: &Step,
    slots: &mut [Option<Value>],
) -> Result<Array> {
    let output = &step.outputs[0];
    if step.in_place.is_none() {
        let mut result = memory_for(context, output, slots)?;
        match &slots[step.inputs[0].slot.index()] {
            Some(Value::Array(operand)) => parallel::copy(operand.bytes(), result.bytes_mut()),
            Some(Value::Tuple(_) | Value::Token | Value::Async(_)) | None => return Err(not_done()),
        }
        return Ok(result);
    }
    let shape = output.shape.as_ref().expect("a kernel computes arrays");
    let mut operand = array(slots[output.slot.index()].take())?;
    if !operand.is_unique() {
        let mut copy = context.budget().array(shape)?;
        parallel::copy(operand.bytes(), copy.bytes_mut());
        return Ok(copy);
    }
    Ok(operand.recycled(shape).expect("the result has the size of the operand"))
}

/// Returns the value with new arrays charged.
fn with_charges(reservation: &mut Reservation, value: Literal) -> Result<Literal> {
    Ok(match value {
        Literal::Tuple(elements) => {
            let charge = |element| with_charges(reservation, element);
            Literal::Tuple(elements.into_iter().map(charge).collect::<Result<_>>()?)
        }
        Literal::Array(array) => Literal::Array(reservation.hold(array)?),
        Literal::Token => value,
    })
}
/// Returns the value in separate memory, charged.
fn owned(reservation: &mut Reservation, value: Value) -> Result<Value> {
    Ok(match value {
        Value::Array(mut array) => {
            if !array.is_unique() {
                array = array.copied();
            }
            Value::Array(reservation.hold(array)?)
        }
        Value::Tuple(elements) => {
            let elements = elements.into_iter().map(|element| owned(reservation, element));
            Value::Tuple(elements.collect::<Result<_>>()?)
        }
        Value::Token | Value::Async(_) => value,
    })
}
