//! Strands: the computations that devices run, and where they wait.
use crate::body::Body;
use crate::meeting::Key;
use crate::starts::Ticket;
use crate::{Code, Result};
use interp::{Position, Step};

/// A computation that a device runs: its entry, or one that an `async-start` has begun.
#[derive(Debug)]
pub(crate) struct Strand<'m> {
    pub(crate) device: usize,
    pub(crate) body: Body<'m>,
    pub(crate) state: State<'m>,
    /// Who gets its result; nobody, if it is the device's entry.
    pub(crate) claim: Option<Ticket>,
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
        Self { device, body, state: State::Ready, claim }
    }
    /// Steps it, if it is this rank's.
    pub(crate) fn resume(&mut self) -> Option<Result<Step<'m>>> {
        let failed = |error| Code::Device { device: self.device, error }.into();
        self.body.resume().map(|step| step.map_err(failed))
    }
    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready)
    }
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended)
    }
}
