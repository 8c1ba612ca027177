//! The messages between ranks after each round of steps.
//!
//! Every rank tracks all tasks, and handles all steps in one order. From the other ranks it needs the positions of their tasks,
//! and the operands of groups and messages that cross ranks. An error that only one rank can detect, such as an invalid operand
//! or insufficient memory, it reports in the next round, and all ranks end with the error that occurred first.
use crate::device_state::DeviceState;
use crate::run::{Ready, Run};
use crate::transport::{connection_lost, malformed_message};
use crate::wire::{self, DecodeError, RankReport, StepReport, SuspensionReport};
use crate::{Code, Error, Ranks, Result};
use hlo::ir::{ComputationId, InstructionId};
use hlo::{Literal, Op, Shape};
use interp::{AsyncId, Outcome, Position, Suspension, Value};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The stage at which the handling of a round stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// The steps of tasks are handled in order; this is an index into it.
    Task(usize),
    /// Then the complete groups are exchanged.
    Group(usize),
}

/// The connection of a run to the other ranks.
#[derive(Debug)]
pub(crate) struct RankExchange {
    ranks: Ranks,
    /// The number of messages sent.
    round: u64,
}

impl RankExchange {
    pub(crate) fn new(ranks: Ranks) -> Self {
        Self { ranks, round: 0 }
    }
    /// Sends a message, and returns those of all ranks.
    fn gather(
        &mut self,
        failure: Option<(Stage, Error)>,
        steps: Vec<(usize, Result<StepReport<Literal>, Error>)>,
    ) -> Result<Vec<RankReport<Literal>>> {
        let round = self.round;
        self.round += 1;
        let bytes =
            wire::encode(RankReport { round, failure, steps }).map_err(|e| connection_lost(&e))?;
        let read = |(rank, bytes): (usize, Vec<u8>)| match wire::decode(&bytes) {
            Ok(message) if message.round == round => Ok(message),
            Ok(RankReport { round: theirs, .. }) => Err(connection_lost(&format!(
                "rank {rank} is in round {theirs}, another rank in {round}"
            ))),
            Err(error) => Err(malformed_message(rank, &error)),
        };
        let messages: Result<Vec<_>> =
            self.ranks.gather(bytes)?.into_iter().enumerate().map(read).collect();
        let mut messages = messages?;
        // One process would have stopped at the first error.
        let failed = messages.iter_mut().filter_map(|message| message.failure.take());
        match failed.min_by_key(|(stage, _)| *stage) {
            None => Ok(messages),
            Some((_, error)) => Err(error),
        }
    }
}

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
        match shared.gather(Some((stage, error.clone())), Vec::new()) {
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
    fn rank_of(&self, device: usize) -> usize {
        let count = self.results.len();
        self.rank_exchange.as_ref().map_or(0, |shared| shared.ranks.rank_of(device, count))
    }

    /// Returns what other ranks need to know about a step.
    fn publish_step(&mut self, i: usize, step: &Outcome) -> Result<StepReport<Literal>> {
        match step {
            Outcome::Done(result) => {
                let is_entry = self.tasks[i].async_id.is_none();
                Ok(StepReport::Finished(is_entry.then(|| result.clone())))
            }
            Outcome::Suspended(suspension) => {
                let numbers = |position: &Position| {
                    (position.computation.index(), position.instruction.index())
                };
                let (computation, instruction) = numbers(&suspension.position);
                let trail = self.tasks[i].device_state.trail();
                let trail = trail.iter().map(|(position, rounds)| {
                    let (computation, instruction) = numbers(position);
                    (computation, instruction, *rounds)
                });
                let trail = trail.collect();
                let operands = match self.operands_cross_ranks(i, suspension.position) {
                    true => Some(self.published_operands(i, suspension)?),
                    false => None,
                };
                let async_id = suspension.operands.first().and_then(Value::async_id);
                let depth = suspension.position.depth;
                Ok(StepReport::Suspended(SuspensionReport {
                    computation,
                    instruction,
                    depth,
                    trail,
                    async_id: async_id.map(AsyncId::number),
                    operands,
                }))
            }
            _ => Err(Code::Unsupported {
                message: "a machine stopped for a reason that ranks cannot exchange".to_owned(),
            }
            .into()),
        }
    }
    /// Returns the step of a remote task from its report.
    fn receive_step(
        &mut self,
        i: usize,
        report: StepReport<Literal>,
    ) -> Result<Outcome, DecodeError> {
        let suspended = match report {
            StepReport::Finished(None) if self.tasks[i].async_id.is_none() => {
                return Err("the result is missing".to_owned());
            }
            StepReport::Finished(result) => {
                return Ok(Outcome::Done(result.unwrap_or_else(Literal::token)));
            }
            StepReport::Suspended(suspended) => suspended,
        };
        let position =
            self.position(suspended.computation, suspended.instruction, suspended.depth)?;
        let trail = (suspended.trail.into_iter().zip(1..))
            .map(|((computation, instruction, rounds), depth)| {
                Ok((self.position(computation, instruction, depth)?, rounds))
            })
            .collect::<Result<Vec<_>, DecodeError>>()?;
        self.tasks[i].device_state = DeviceState::Remote(trail);
        let operands = match suspended.operands {
            None if self.operands_cross_ranks(i, position) => {
                return Err("operands are missing".to_owned());
            }
            None => self.placeholders(position, suspended.async_id.map(AsyncId::new)),
            Some(operands) => self.check_operands(position, operands)?,
        };
        Ok(Outcome::Suspended(Suspension { position, operands }))
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
    /// Returns the operands of a remote task: tokens, and an async operation as the first one if there is one.
    fn placeholders(&self, position: Position, started: Option<AsyncId>) -> Vec<Value> {
        let mut operands = vec![Value::Token; self.operand_shapes(position).len()];
        if let (Some(first), Some(id)) = (operands.first_mut(), started) {
            *first = Value::Async(id);
        }
        operands
    }
    /// Checks the operands that another rank published.
    fn check_operands(
        &self,
        position: Position,
        operands: Vec<Literal>,
    ) -> Result<Vec<Value>, DecodeError> {
        let shapes = self.operand_shapes(position);
        let fit = |(value, shape): (&Literal, &Shape)| value.shape().compatible(shape);
        if operands.len() != shapes.len() || !operands.iter().zip(shapes).all(fit) {
            let name = position.name(self.module());
            return Err(format!("the operands of `{name}` have other shapes"));
        }
        Ok(operands.into_iter().map(Value::from).collect())
    }
    /// Returns the operands of an instruction for other ranks.
    ///
    /// # Errors
    /// `E0408` if part of them is an async operation that is not done.
    fn published_operands(&self, i: usize, suspension: &Suspension) -> Result<Vec<Literal>> {
        let operands = suspension.operands.iter().cloned().map(Value::into_literal);
        let position = suspension.position;
        operands.collect::<interp::Result<_>>().map_err(|error| {
            let error = self.device_error(self.tasks[i].device, position, error);
            error.at(position.site(self.module()))
        })
    }

    /// Returns whether other ranks need the operands of the instruction at which a task is suspended.
    fn operands_cross_ranks(&mut self, i: usize, position: Position) -> bool {
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
