//! The state of a task on its device: a machine of this rank, or what another rank published.
use hlo::ir::ComputationId;
use interp::{Machine, Outcome, Position, Result, Value};

/// A task's machine, or the published state of one that another rank steps.
///
/// Every rank keeps track of all tasks. Values of a remote task are not kept: those that it is resumed with are dropped, since
/// its own rank resumes it too.
#[derive(Debug)]
pub(crate) enum DeviceState {
    Local(Box<Machine>),
    /// Its trail, as its rank published it.
    Remote(Vec<(Position, u64)>),
}

impl DeviceState {
    pub(crate) fn is_local(&self) -> bool {
        matches!(self, Self::Local(_))
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
            Self::Remote(_) => Ok(Self::Remote(Vec::new())),
        }
    }
    /// Returns the position in each active computation, the outermost first, and for a loop the number of started iterations.
    pub(crate) fn trail(&self) -> Vec<(Position, u64)> {
        match self {
            Self::Local(machine) => machine.trail(),
            Self::Remote(trail) => trail.clone(),
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
