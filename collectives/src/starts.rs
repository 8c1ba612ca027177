//! What was started and is not yet done.
use crate::strand::{On, Origin};
use hlo::ir::{ComputationId, InstructionId};
use hlo::{Literal, Op};
use interp::Position;
use rustc_hash::FxHashMap;

/// The number of a start: each run of a start instruction has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ticket(u64);

/// What has become of a start.
#[derive(Debug)]
pub(crate) enum Started<'m> {
    /// Operands of its computation are still to be bound; where that will come from.
    Unbound(Origin),
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
    /// Starts by what they gave: where in memory its result is, which stays there until the done.
    given: FxHashMap<(usize, usize), Ticket>,
}

/// Where in memory the result is that a start gave and a done takes; nothing if it has no elements.
fn address(value: &Literal, is_all_reduce: bool) -> Option<usize> {
    let result = match (is_all_reduce, value.elements()) {
        (false, Some([_, result, ..])) => result,
        _ => value,
    };
    let leaf = result.leaves().into_iter().find(|leaf| !leaf.bytes().is_empty())?;
    Some(leaf.bytes().as_ptr().addr())
}

fn at(strand: usize, place: &Position<'_>, start: InstructionId) -> At {
    (strand, place.computation_id, start, place.depth)
}

impl<'m> Starts<'m> {
    /// A start begins.
    pub(crate) fn begin(
        &mut self,
        strand: usize,
        place: &Position<'_>,
        started: Started<'m>,
    ) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.current.insert(at(strand, place, place.id), ticket);
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
    /// Notes what a strand is given for a start, which it may carry through loops and calls.
    pub(crate) fn gave(&mut self, strand: usize, ticket: Ticket, value: &Literal, op: &Op) {
        if let Some(address) = address(value, matches!(op, Op::AllReduceStart(_))) {
            self.given.insert((strand, address), ticket);
        }
    }
    /// The start that gave the strand this value, if it is not done.
    pub(crate) fn giver(&self, strand: usize, value: &Literal, op: &Op) -> Option<Ticket> {
        let address = address(value, matches!(op, Op::AllReduceDone(_)))?;
        self.given.get(&(strand, address)).copied().filter(|ticket| self.open.contains_key(ticket))
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
