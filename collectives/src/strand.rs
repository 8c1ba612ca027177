//! Strands: the computations that devices run, and where they wait.
use crate::body::Body;
use crate::meeting::{Key, Site};
use crate::starts::Ticket;
use crate::{Code, Result};
use hlo::ir::{ComputationId, InstructionId};
use interp::{Position, Step};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// A computation that a device runs: its entry, or one that an `async-start` has begun.
#[derive(Debug)]
pub(crate) struct Strand<'m> {
    pub(crate) device: usize,
    pub(crate) body: Body<'m>,
    pub(crate) state: State<'m>,
    /// Who gets its result; nobody, if it is the device's entry.
    pub(crate) claim: Option<Ticket>,
    pub(crate) origin: Origin,
    /// How often it has come to an op as a member of a group; of an op without groups the group is 0.
    rounds: FxHashMap<(Site, usize), u64>,
    /// How often it has come to an `async-start`.
    starts: FxHashMap<(ComputationId, InstructionId), u64>,
}

/// Which start a strand comes from, by the starts in program order: the same on all devices that run the same program, whoever is
/// stepped first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Origin {
    /// The chain of starts, and which run of each; 0 for the entry of a device.
    pub(crate) run: u64,
    /// The chain of starts alone.
    pub(crate) chain: u64,
}

#[derive(Debug)]
pub(crate) enum State<'m> {
    Ready,
    Waits(Position<'m>, On),
    Ended,
}

/// What a strand waits for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum On {
    /// The members of a group that have not come.
    Meeting(Key),
    /// That all who are stepped with it have been served: its group is complete.
    Exchange,
    /// What it has started.
    Ticket(Ticket),
    /// A value of this device.
    Letter(usize),
    /// A value on a channel: of this device, or of any.
    Channel(Option<i64>, Option<usize>),
}

/// Who gets a value: a strand that waits, or a done that will ask for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    Strand(usize),
    Ticket(Ticket),
}

impl<'m> Strand<'m> {
    pub(crate) fn new(device: usize, body: Body<'m>, claim: Option<Ticket>) -> Self {
        let (origin, rounds) = (Origin::default(), FxHashMap::default());
        let starts = FxHashMap::default();
        Self { device, body, state: State::Ready, claim, origin, rounds, starts }
    }
    /// Steps it, if it is this rank's.
    pub(crate) fn resume(&mut self) -> Option<Result<Step<'m>>> {
        let failed = |error| Code::Device { device: self.device, error }.into();
        self.body.resume().map(|step| step.map_err(failed))
    }
    /// How often it has come there before.
    pub(crate) fn round(&mut self, site: Site, group: usize) -> u64 {
        let round = self.rounds.entry((site, group)).or_default();
        *round += 1;
        *round - 1
    }
    /// The origin of what its next run of a start begins.
    pub(crate) fn begins(&mut self, place: &Position<'_>) -> Origin {
        let at = (place.computation_id, place.id);
        let count = self.starts.entry(at).or_default();
        *count += 1;
        let hashed = |parts: (u64, usize, usize, u64)| FxBuildHasher.hash_one(parts);
        let (computation, id) = (at.0.index(), at.1.index());
        Origin {
            run: hashed((self.origin.run, computation, id, *count)),
            chain: hashed((self.origin.chain, computation, id, 0)),
        }
    }
    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready)
    }
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended)
    }
}
