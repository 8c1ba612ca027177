//! What ranks tell each other after each round of steps.
//!
//! Every rank keeps the books of all strands, and answers all in one order. What it needs of the others is where their strands
//! stand, and the operands of those whose group or receiver is not all on one rank. What only one rank can notice, an operand it
//! cannot use or memory that is not enough, it says in the next round, and all end with the error that came first.
use crate::body::Body;
use crate::run::{Ready, Run};
use crate::transport::{damaged, lost};
use crate::wire::{self, Came, Damage, Message, Stand};
use crate::{Code, Error, Ranks, Result};
use hlo::ir::{ComputationId, InstructionId};
use hlo::{Literal, Op, Shape};
use interp::{Position, Request, Step};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How far the answers of a round have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// The strands are answered in order; this is a place in it.
    Strand(usize),
    /// Then the groups that have come together.
    Group(usize),
}

/// The ranks of a run that has more than one.
#[derive(Debug)]
pub(crate) struct Shared {
    ranks: Ranks,
    /// Messages sent so far.
    round: u64,
}

impl Shared {
    pub(crate) fn new(ranks: Ranks) -> Self {
        Self { ranks, round: 0 }
    }
    /// Sends a message; gives those of all ranks.
    fn gather(
        &mut self,
        failure: Option<(Stage, Error)>,
        steps: Vec<(usize, Result<Came<Literal>, Error>)>,
    ) -> Result<Vec<Message<Literal>>> {
        let round = self.round;
        self.round += 1;
        let bytes = wire::encode(Message { round, failure, steps }).map_err(|e| lost(&e))?;
        let read = |(rank, bytes): (usize, Vec<u8>)| match wire::decode(&bytes) {
            Ok(message) if message.round == round => Ok(message),
            Ok(Message { round: theirs, .. }) => {
                Err(lost(&format!("rank {rank} is in round {theirs}, another one in {round}")))
            }
            Err(damage) => Err(damaged(rank, &damage)),
        };
        let messages: Result<Vec<_>> =
            self.ranks.gather(bytes)?.into_iter().enumerate().map(read).collect();
        let mut messages = messages?;
        // One process would have stopped at the first.
        let failed = messages.iter_mut().filter_map(|message| message.failure.take());
        match failed.min_by_key(|(stage, _)| *stage) {
            None => Ok(messages),
            Some((_, error)) => Err(error),
        }
    }
}

impl<'m> Run<'m> {
    /// The devices that are stepped here.
    pub(crate) fn own(&self) -> Range<usize> {
        let count = self.results.len();
        self.shared.as_ref().map_or(0..count, |shared| shared.ranks.block(count))
    }
    pub(crate) fn is_here(&self, device: usize) -> bool {
        self.own().contains(&device)
    }
    /// Ends the run with an error that others may not know of.
    pub(crate) fn failed(&mut self, stage: Stage, error: Error) -> Result<()> {
        let Some(shared) = &mut self.shared else { return Err(error) };
        match shared.gather(Some((stage, error.clone())), Vec::new()) {
            Err(first) if !matches!(first.code(), Code::Lost { .. }) => Err(first),
            // What this rank knows says more than that others are gone.
            _ => Err(error),
        }
    }

    /// Tells the other ranks what the strands of this one came to, and adds what theirs did.
    pub(crate) fn share(
        &mut self,
        ready: &Ready,
        steps: &mut [Option<Result<Step<'m>>>],
    ) -> Result<()> {
        if self.shared.is_none() {
            return Ok(());
        }
        let mut told = Vec::new();
        for (i, step) in steps.iter().enumerate() {
            if let Some(step) = step {
                let came = step.as_ref().map_err(Clone::clone);
                told.push((i, came.and_then(|step| self.told(i, step))));
            }
        }
        let Some(shared) = &mut self.shared else { return Ok(()) };
        let own = shared.ranks.rank();
        let messages = shared.gather(None, told)?;
        for (rank, message) in messages.into_iter().enumerate().filter(|(rank, _)| *rank != own) {
            for (i, step) in message.steps {
                let is_free = steps.get(i).is_some_and(Option::is_none) && ready.contains(i);
                if !is_free || self.rank_of(self.strands[i].device) != rank {
                    return Err(lost(&format!("rank {rank} has stepped what is not its own")));
                }
                let heard = step
                    .and_then(|came| self.heard(i, came).map_err(|damage| damaged(rank, &damage)));
                steps[i] = Some(heard);
            }
        }
        match ready.order().iter().find(|&&i| steps[i].is_none()) {
            None => Ok(()),
            Some(&i) => {
                let device = self.strands[i].device;
                Err(lost(&format!("nothing is known of the next step of device {device}")))
            }
        }
    }
    fn rank_of(&self, device: usize) -> usize {
        let count = self.results.len();
        self.shared.as_ref().map_or(0, |shared| shared.ranks.rank_of(device, count))
    }

    /// What others are told of a step.
    fn told(&mut self, i: usize, step: &Step<'m>) -> Result<Came<Literal>> {
        match step {
            Step::Done(result) => {
                let is_entry = self.strands[i].claim.is_none();
                Ok(Came::Done(is_entry.then(|| result.clone())))
            }
            Step::Wait(request) => {
                let numbers =
                    |place: &Position<'m>| (place.computation_id.index(), place.id.index());
                let (computation, instruction) = numbers(&request.place);
                let trail = self.strands[i].body.trail();
                let trail = trail.iter().map(|(place, rounds)| {
                    let (computation, instruction) = numbers(place);
                    (computation, instruction, *rounds)
                });
                let trail = trail.collect();
                let operands = self.is_needed(i, request).then(|| request.operands.clone());
                let depth = request.place.depth;
                Ok(Came::Wait(Stand { computation, instruction, depth, trail, operands }))
            }
            _ => Err(Code::Unsupported {
                message: "a machine has stopped for a reason that ranks cannot share".to_owned(),
            }
            .into()),
        }
    }
    /// What another rank has told of a step.
    fn heard(&mut self, i: usize, came: Came<Literal>) -> Result<Step<'m>, Damage> {
        let stand = match came {
            Came::Done(None) if self.strands[i].claim.is_none() => {
                return Err("a result is missing".to_owned());
            }
            Came::Done(result) => return Ok(Step::Done(result.unwrap_or_else(Literal::token))),
            Came::Wait(stand) => stand,
        };
        let place = self.position(stand.computation, stand.instruction, stand.depth)?;
        let trail = (stand.trail.into_iter().zip(1..))
            .map(|((computation, instruction, rounds), depth)| {
                Ok((self.position(computation, instruction, depth)?, rounds))
            })
            .collect::<Result<Vec<_>, Damage>>()?;
        self.strands[i].body = Body::There(trail);
        let shapes = place.instruction().operands.iter();
        let shapes = shapes.map(|&operand| &place.computation.instructions[operand].shape);
        let mut request = Request { place, operands: shapes.clone().map(hollow).collect() };
        match stand.operands {
            None if self.is_needed(i, &request) => return Err("operands are missing".to_owned()),
            None => {}
            Some(operands) => {
                let fit = |(value, shape): (&Literal, &Shape)| value.shape().compatible(shape);
                if operands.len() != shapes.len() || !operands.iter().zip(shapes).all(fit) {
                    return Err(format!("the operands of `{}` do not fit", place.name()));
                }
                request.operands = operands;
            }
        }
        Ok(Step::Wait(request))
    }
    fn position(
        &self,
        computation: usize,
        instruction: usize,
        depth: usize,
    ) -> Result<Position<'m>, Damage> {
        let computations = &self.team.module().computations;
        let (computation_id, id) =
            (ComputationId::new(computation), InstructionId::new(instruction));
        let found = computations.get(computation_id).filter(|c| c.instructions.get(id).is_some());
        let unknown = || format!("there is no instruction {instruction} of {computation}");
        let computation = found.ok_or_else(unknown)?;
        Ok(Position { computation, computation_id, id, depth })
    }

    /// Whether ranks other than that of a strand need the operands of the op it stands at.
    fn is_needed(&mut self, i: usize, request: &Request<'m>) -> bool {
        let (device, grid) = (self.strands[i].device, self.grid());
        let rank = self.rank_of(device);
        let op = &request.instruction().op;
        // What is wrong with groups and pairs all ranks will find, without operands.
        let others = if op.pairs().is_some() {
            self.mail.neighbours(&request.place, grid).map(|all| all[device].targets.clone())
        } else if let Op::Send(_) = op {
            match self.partners(i, request) {
                Ok(None) => return true,
                partners => partners.map(|found| found.unwrap_or_default().targets),
            }
        } else if op.groups().is_some() {
            let groups = self.meetings.groups(&request.place, grid);
            groups.map(|groups| groups.group_of(device).unwrap_or_default().to_vec())
        } else {
            return false;
        };
        others.unwrap_or_default().into_iter().any(|other| self.rank_of(other) != rank)
    }
}

/// A value of which only the tuples are known: what strands of other ranks hold.
fn hollow(shape: &Shape) -> Literal {
    match shape {
        Shape::Tuple(elements) => Literal::tuple(elements.iter().map(hollow).collect()),
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => Literal::token(),
    }
}
