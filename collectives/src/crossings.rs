//! Values that cross ranks at the end of a round.
//!
//! A value stays on the rank of its sender until the receiver is known. Then the two ranks transfer
//! it, after all ranks have agreed that none failed in this round: a rank that failed would not
//! take part in the transfer.
use crate::rendezvous::Participant;
use crate::transfers::Transfers;
use crate::values::{RemoteValue, Values};
use hlo::Literal;
use interp::Position;

/// The values that cross ranks in a round.
#[derive(Debug, Default)]
pub(crate) struct Crossings {
    /// The number of values that cross, the same on all ranks.
    pub(crate) count: usize,
    pub(crate) transfers: Transfers,
    pub(crate) arrivals: Vec<(Arrival, Vec<RemoteValue>)>,
    /// The index of the step that is handled.
    pub(crate) step: usize,
    pub(crate) steps: Vec<usize>,
}

/// An op that is completed when its values have arrived.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// The `collective-permute` of a device.
    Permute(usize, Participant),
    /// The `recv-done` of a task.
    Receive(usize, Position),
}

/// How a value gets from its sender to its receiver.
pub(crate) enum Crossing {
    /// Both are on this rank.
    Local(Vec<Literal>),
    /// It comes from another rank.
    Arrives,
    /// The receiver is on another rank.
    Elsewhere,
}

impl Crossings {
    /// Completes an op at the end of the round, with values of another rank.
    pub(crate) fn arrive(&mut self, arrival: Arrival, values: &Values) {
        self.arrivals.push((arrival, values.remote().to_vec()));
        self.steps.push(self.step);
    }
}
