//! The state of a task on its device: a machine of this rank, or what another rank published.
use crate::values::RemoteValue;
use hlo::ir::ComputationId;
use interp::{Machine, Outcome, Position, Result, Value};

/// A task's machine, or the published state of one that another rank steps.
///
/// Every rank keeps track of all tasks. Values of a remote task are not kept: those that it is
/// resumed with are dropped, since its own rank resumes it too.
#[derive(Debug)]
pub(crate) enum DeviceState {
    Local(Box<Machine>),
    /// The state that its rank published at its last step.
    Remote(RemoteState),
}

/// The published state of a task that another rank steps.
#[derive(Debug, Default)]
pub(crate) struct RemoteState {
    pub(crate) trail: Vec<(Position, u64)>,
    /// Whether the machine, which waits, may be split.
    pub(crate) can_split: bool,
    /// The values that it sends, if another rank may receive them.
    pub(crate) values: Vec<RemoteValue>,
}

impl DeviceState {
    /// Returns the values that a remote task sends at the instruction where it is suspended;
    /// nothing for a local one.
    pub(crate) fn take_values(&mut self) -> Option<Vec<RemoteValue>> {
        match self {
            Self::Local(_) => None,
            Self::Remote(state) => Some(std::mem::take(&mut state.values)),
        }
    }
    /// Steps a local machine; returns nothing for a remote one.
    pub(crate) fn resume(&mut self) -> Option<Result<Outcome>> {
        match self {
            Self::Local(machine) => Some(machine.resume()),
            Self::Remote(_) => None,
        }
    }
    pub(crate) fn resume_with(&mut self, value: Value) -> Result<()> {
        match self {
            Self::Local(machine) => machine.resume_with(value),
            Self::Remote(_) => Ok(()),
        }
    }
    /// Starts another computation on the same device.
    pub(crate) fn spawn(&self, id: ComputationId, arguments: Vec<Value>) -> Result<Self> {
        match self {
            Self::Local(machine) => machine.spawn(id, arguments).map(Box::new).map(Self::Local),
            Self::Remote(_) => Ok(Self::Remote(RemoteState::default())),
        }
    }
    /// Returns whether the machine, which waits, may be split.
    pub(crate) fn can_split(&self) -> bool {
        match self {
            Self::Local(machine) => machine.can_split(),
            Self::Remote(state) => state.can_split,
        }
    }
    /// Gives the value of a part to the task that runs ahead of it.
    pub(crate) fn end(&mut self) {
        match self {
            Self::Local(machine) => machine.end(),
            Self::Remote(_) => {}
        }
    }
    /// Splits off the state that runs ahead of the instruction at which this one waits.
    pub(crate) fn split(&mut self) -> Option<Self> {
        match self {
            Self::Local(machine) => machine.split().map(Box::new).map(Self::Local),
            Self::Remote(state) => {
                std::mem::take(&mut state.can_split).then(|| Self::Remote(RemoteState::default()))
            }
        }
    }
    /// Returns the position in each active computation, the outermost first, and for a loop the
    /// number of started iterations.
    pub(crate) fn trail(&self) -> Vec<(Position, u64)> {
        match self {
            Self::Local(machine) => machine.trail(),
            Self::Remote(state) => state.trail.clone(),
        }
    }
    /// Returns the most bytes of arrays that the device held at once; 0 for a remote one.
    pub(crate) fn peak_bytes(&self) -> usize {
        match self {
            Self::Local(machine) => machine.peak_bytes(),
            Self::Remote(_) => 0,
        }
    }
}
