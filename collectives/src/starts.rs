//! What was started and is not yet done.
use crate::strand::On;
use hlo::Literal;
use hlo::ir::{ComputationId, InstructionId};
use interp::Position;
use rustc_hash::FxHashMap;

/// The number of a start: each run of a start instruction has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ticket(u64);

/// What has become of a start.
#[derive(Debug)]
pub(crate) enum Started<'m> {
    /// Operands of its computation are still to be bound.
    Unbound,
    /// There is no result yet: where it waits and for what, where that is known, and the strand whose done waits for it.
    Pending { on: Option<(Position<'m>, On)>, finishing: Option<usize> },
    /// There is a result.
    Done(Literal),
}

/// A strand's start instruction, and how deep it stands.
type At = (usize, ComputationId, InstructionId, usize);

/// All starts whose done is still to come.
#[derive(Debug, Default)]
pub(crate) struct Starts<'m> {
    next: u64,
    current: FxHashMap<At, Ticket>,
    open: FxHashMap<Ticket, Started<'m>>,
}

fn at(strand: usize, place: &Position<'_>, start: InstructionId) -> At {
    (strand, place.computation_id, start, place.depth)
}

impl<'m> Starts<'m> {
    /// A start begins. One that began here before and was never done is forgotten.
    pub(crate) fn begin(
        &mut self,
        strand: usize,
        place: &Position<'_>,
        started: Started<'m>,
    ) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        if let Some(before) = self.current.insert(at(strand, place, place.id), ticket) {
            self.open.remove(&before);
        }
        self.open.insert(ticket, started);
        ticket
    }
    /// The last start of this instruction by the strand that stands at `place`, if it is not done.
    pub(crate) fn find(
        &self,
        strand: usize,
        place: &Position<'_>,
        start: InstructionId,
    ) -> Option<Ticket> {
        self.current.get(&at(strand, place, start)).copied()
    }
    /// What has become of a start; nothing if it is done or forgotten.
    pub(crate) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut Started<'m>> {
        self.open.get_mut(&ticket)
    }
    pub(crate) fn get(&self, ticket: Ticket) -> Option<&Started<'m>> {
        self.open.get(&ticket)
    }
    /// It is done.
    pub(crate) fn end(&mut self, ticket: Ticket) -> Option<Started<'m>> {
        self.open.remove(&ticket)
    }
}
