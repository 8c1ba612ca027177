//! The reports of ranks after each round of steps.
//!
//! Every rank tracks all tasks, and handles all steps in one order. From the other ranks it needs
//! the positions of their tasks, and the shapes of the values that they send across ranks. An error
//! that only one rank can detect, such as an invalid operand or insufficient memory, it sends with
//! the next report, and all ranks end with the error that occurred first.
use crate::device_state::{DeviceState, RemoteState};
use crate::run::{Ready, Run};
use crate::transport::{connection_lost, malformed_message};
use crate::values::{DecodeError, RemoteValue, ValueHeader};
use crate::wire::{Stage, StepReport, SuspensionReport};
use crate::{Code, Error, Result};
use hlo::ir::{ComputationId, InstructionId};
use hlo::{ArrayShape, Literal, Op, Shape};
use interp::{AsyncId, Outcome, Position, Suspension, Value, collective};
use std::ops::Range;

impl Run {
    /// Returns the devices that this rank steps.
    pub(crate) fn local_devices(&self) -> Range<usize> {
        let count = self.results.len();
        self.rank_exchange.as_ref().map_or(0..count, |shared| shared.ranks.block(count))
    }
    pub(crate) fn is_local(&self, device: usize) -> bool {
        self.local_devices().contains(&device)
    }
    /// Ends the run with an error that other ranks may not detect.
    pub(crate) fn report_failure(&mut self, stage: Stage, error: Error) -> Result<()> {
        let Some(shared) = &mut self.rank_exchange else { return Err(error) };
        match shared.report(Some((stage, error.clone()))) {
            Err(first) if !matches!(first.code(), Code::Lost { .. }) => Err(first),
            // The error of this rank is more specific than a lost connection.
            _ => Err(error),
        }
    }

    /// Publishes the steps of this rank's tasks, and receives those of the others.
    pub(crate) fn exchange_steps(
        &mut self,
        ready: &Ready,
        steps: &mut [Option<Result<Outcome>>],
    ) -> Result<()> {
        if self.rank_exchange.is_none() {
            return Ok(());
        }
        let mut published = Vec::new();
        for (i, step) in steps.iter().enumerate() {
            if let Some(step) = step {
                let step = step.as_ref().map_err(Clone::clone);
                published.push((i, step.and_then(|step| self.publish_step(i, step))));
            }
        }
        let Some(shared) = &mut self.rank_exchange else { return Ok(()) };
        let own = shared.ranks.rank();
        let messages = shared.gather(None, published)?;
        for (rank, message) in messages.into_iter().enumerate().filter(|(rank, _)| *rank != own) {
            for (i, step) in message.steps {
                let is_free = steps.get(i).is_some_and(Option::is_none) && ready.contains(i);
                if !is_free || self.rank_of(self.tasks[i].device) != rank {
                    return Err(connection_lost(&format!(
                        "rank {rank} stepped a task of another rank"
                    )));
                }
                let received = step.and_then(|report| {
                    self.receive_step(i, report).map_err(|error| malformed_message(rank, &error))
                });
                steps[i] = Some(received);
            }
        }
        match ready.order().iter().find(|&&i| steps[i].is_none()) {
            None => Ok(()),
            Some(&i) => {
                let device = self.tasks[i].device;
                Err(connection_lost(&format!("no rank published the next step of device {device}")))
            }
        }
    }
    pub(crate) fn rank_of(&self, device: usize) -> usize {
        let count = self.results.len();
        self.rank_exchange.as_ref().map_or(0, |shared| shared.ranks.rank_of(device, count))
    }

    /// Returns what other ranks need to know about a step.
    fn publish_step(&mut self, i: usize, step: &Outcome) -> Result<StepReport> {
        match step {
            Outcome::Done(_) => Ok(StepReport::Finished),
            Outcome::PartDone => Ok(StepReport::PartDone),
            Outcome::Waiting(position) => {
                Ok(StepReport::Waiting(self.suspension_report(i, *position)))
            }
            Outcome::Suspended(suspension) => {
                let values = match self.values_cross_ranks(i, suspension.position) {
                    true => Some(self.headers(i, suspension)?),
                    false => None,
                };
                let async_id = suspension.operands.first().and_then(Value::async_id);
                let report = self.suspension_report(i, suspension.position);
                let async_id = async_id.map(AsyncId::number);
                Ok(StepReport::Suspended(SuspensionReport { async_id, values, ..report }))
            }
            _ => Err(Code::Unsupported {
                message: "a machine stopped for a reason that ranks cannot exchange".to_owned(),
            }
            .into()),
        }
    }
    /// Returns the report of a task that is suspended at an instruction, without values.
    fn suspension_report(&self, i: usize, position: Position) -> SuspensionReport {
        let numbers =
            |position: &Position| (position.computation.index(), position.instruction.index());
        let (computation, instruction) = numbers(&position);
        let device_state = &self.tasks[i].device_state;
        let trail = device_state.trail();
        let trail = trail.iter().map(|(position, rounds)| {
            let (computation, instruction) = numbers(position);
            (computation, instruction, *rounds)
        });
        SuspensionReport {
            computation,
            instruction,
            depth: position.depth,
            trail: trail.collect(),
            can_split: device_state.can_split(),
            async_id: None,
            values: None,
        }
    }
    /// Returns the step of a remote task from its report.
    fn receive_step(&mut self, i: usize, report: StepReport) -> Result<Outcome, DecodeError> {
        let suspended = match report {
            StepReport::Finished => return Ok(Outcome::Done(Literal::token())),
            StepReport::PartDone => return Ok(Outcome::PartDone),
            StepReport::Waiting(waiting) => {
                let position = self.receive_position(i, &waiting, Vec::new())?;
                return Ok(Outcome::Waiting(position));
            }
            StepReport::Suspended(suspended) => suspended,
        };
        let position =
            self.position(suspended.computation, suspended.instruction, suspended.depth)?;
        let values = match &suspended.values {
            None if self.values_cross_ranks(i, position) => {
                return Err("operands are missing".to_owned());
            }
            None => Vec::new(),
            Some(headers) => self.check_headers(position, headers)?,
        };
        self.receive_position(i, &suspended, values)?;
        let operands = self.placeholders(position, suspended.async_id.map(AsyncId::new));
        Ok(Outcome::Suspended(Suspension { position, operands }))
    }
    /// Stores the position of a remote task, and the values that it sends.
    fn receive_position(
        &mut self,
        i: usize,
        report: &SuspensionReport,
        values: Vec<RemoteValue>,
    ) -> Result<Position, DecodeError> {
        let trail = (report.trail.iter().zip(1..))
            .map(|(&(computation, instruction, rounds), depth)| {
                Ok((self.position(computation, instruction, depth)?, rounds))
            })
            .collect::<Result<Vec<_>, DecodeError>>()?;
        let position = self.position(report.computation, report.instruction, report.depth)?;
        let can_split = report.can_split;
        self.tasks[i].device_state = DeviceState::Remote(RemoteState { trail, can_split, values });
        Ok(position)
    }
    fn position(
        &self,
        computation: usize,
        instruction: usize,
        depth: usize,
    ) -> Result<Position, DecodeError> {
        let (found, id) = (ComputationId::new(computation), InstructionId::new(instruction));
        let known = self.module().computations.get(found);
        match known.is_some_and(|computation| computation.instructions.get(id).is_some()) {
            true => Ok(Position { computation: found, instruction: id, depth }),
            false => Err(format!("computation {computation} has no instruction {instruction}")),
        }
    }
    /// Returns the shapes of the operands of an instruction.
    fn operand_shapes(&self, position: Position) -> impl ExactSizeIterator<Item = &Shape> {
        let instructions = &self.module().computations[position.computation].instructions;
        let operands = &instructions[position.instruction].operands;
        operands.iter().map(|&operand| &instructions[operand].shape)
    }
    /// Returns the operands of a remote task: tokens, and an async operation as the first one if
    /// there is one.
    fn placeholders(&self, position: Position, started: Option<AsyncId>) -> Vec<Value> {
        let mut operands = vec![Value::Token; self.operand_shapes(position).len()];
        if let (Some(first), Some(id)) = (operands.first_mut(), started) {
            *first = Value::Async(id);
        }
        operands
    }
    /// Checks the headers that another rank published: they determine how much memory is allocated.
    fn check_headers(
        &self,
        position: Position,
        headers: &[ValueHeader],
    ) -> Result<Vec<RemoteValue>, DecodeError> {
        let values: Vec<RemoteValue> =
            headers.iter().map(ValueHeader::parse).collect::<Result<_, _>>()?;
        let shapes = self.operand_shapes(position);
        let fits = if self.sends_slices(position) {
            let size = |shape: &ArrayShape| shape.byte_count();
            let operands = shapes.flat_map(Shape::leaves).filter_map(Shape::array);
            let largest = operands.filter_map(size).max();
            values.iter().flat_map(RemoteValue::arrays).all(|shape| size(shape) <= largest)
        } else {
            let fit = |(value, shape): (&RemoteValue, &Shape)| value.shape.compatible(shape);
            let is_send = matches!(position.instruction(self.module()).op, Op::Send(_));
            let expected = if is_send { 1 } else { shapes.len() };
            values.len() == expected && values.iter().zip(shapes).all(fit)
        };
        match fits {
            true => Ok(values),
            false => {
                let name = position.name(self.module());
                Err(format!("the operands of `{name}` have other shapes"))
            }
        }
    }
    /// Returns whether an instruction sends slices of its operands.
    fn sends_slices(&self, position: Position) -> bool {
        !position.instruction(self.module()).op.slice_sizes().is_empty()
    }
    /// Returns the headers of the values that a task sends.
    ///
    /// # Errors
    /// `E0408` if part of them is an async operation that is not done.
    fn headers(&self, i: usize, suspension: &Suspension) -> Result<Vec<ValueHeader>> {
        let position = suspension.position;
        let instruction = position.instruction(self.module());
        // The other operand of a `send` is a token.
        let is_send = matches!(instruction.op, Op::Send(_));
        let count = if is_send { 1 } else { suspension.operands.len() };
        let operands = suspension.operands.iter().take(count).cloned().map(Value::into_literal);
        let operands = operands.collect::<interp::Result<Vec<_>>>();
        let values = operands.and_then(|operands| match self.sends_slices(position) {
            true => collective::sent(instruction, &operands),
            false => Ok(operands),
        });
        let values = values.map_err(|error| {
            let error = self.device_error(self.tasks[i].device, position, error);
            error.at(position.site(self.module()))
        })?;
        Ok(values.iter().map(ValueHeader::of).collect())
    }

    /// Returns whether other ranks may receive the values that a task sends at the instruction
    /// where it is suspended.
    fn values_cross_ranks(&mut self, i: usize, position: Position) -> bool {
        let executable = self.executable.clone();
        let module = executable.module();
        let (device, grid) = (self.tasks[i].device, self.grid);
        let rank = self.rank_of(device);
        let op = &position.instruction(module).op;
        // All ranks detect invalid groups and pairs without the operands.
        let others = if op.pairs().is_some() {
            let all = self.messages.neighbors(position, (grid, module));
            all.map(|all| all[device].targets.clone())
        } else if let Op::Send(send) = op {
            match self.partners(i, position, send.channel_id) {
                Ok(None) => return true,
                partners => partners.map(|found| found.unwrap_or_default().targets),
            }
        } else if op.groups().is_some() {
            let groups = self.rendezvous.groups(position, grid, module);
            groups.map(|groups| groups.group_of(device).unwrap_or_default().to_vec())
        } else {
            return false;
        };
        others.unwrap_or_default().into_iter().any(|other| self.rank_of(other) != rank)
    }
}
