//! The state of a task on its device: a machine of this rank, or what another rank published.
use hlo::Literal;
use hlo::ir::ComputationId;
use interp::{Machine, Position, Result, Step};

/// A task's machine, or the published state of one that another rank steps.
///
/// Every rank keeps track of all tasks. Values of a remote task are not kept: those that it is resumed with are dropped, since
/// its own rank resumes it too.
#[derive(Debug)]
pub(crate) enum DeviceState<'m> {
    Local(Box<Machine<'m>>),
    /// Its trail, as its rank published it.
    Remote(Vec<(Position<'m>, u64)>),
}

impl<'m> DeviceState<'m> {
    pub(crate) fn is_local(&self) -> bool {
        matches!(self, Self::Local(_))
    }
    /// Steps a local machine; returns nothing for a remote one.
    pub(crate) fn resume(&mut self) -> Option<Result<Step<'m>>> {
        match self {
            Self::Local(machine) => Some(machine.resume()),
            Self::Remote(_) => None,
        }
    }
    pub(crate) fn resume_with(&mut self, value: Literal) -> Result<()> {
        match self {
            Self::Local(machine) => machine.answer(value),
            Self::Remote(_) => Ok(()),
        }
    }
    /// Starts another computation on the same device.
    pub(crate) fn spawn(&self, id: ComputationId, arguments: Vec<Literal>) -> Result<Self> {
        match self {
            Self::Local(machine) => machine.beside(id, arguments).map(Box::new).map(Self::Local),
            Self::Remote(_) => Ok(Self::Remote(Vec::new())),
        }
    }
    /// Returns the position in each active computation, the outermost first, and for a loop the number of started iterations.
    pub(crate) fn trail(&self) -> Vec<(Position<'m>, u64)> {
        match self {
            Self::Local(machine) => machine.trail(),
            Self::Remote(trail) => trail.clone(),
        }
    }
}
