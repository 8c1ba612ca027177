//! What runs a strand: a machine, or another rank.
use hlo::Literal;
use hlo::ir::ComputationId;
use interp::{Machine, Position, Result, Step};

/// A strand's machine, or what is known of one that another rank steps.
///
/// Whoever keeps the books treats both alike. Values of a strand of another rank are not kept here: what it is answered is
/// dropped, since its own rank answers it too.
#[derive(Debug)]
pub(crate) enum Body<'m> {
    Here(Box<Machine<'m>>),
    /// Its trail, as its rank has told it.
    There(Vec<(Position<'m>, u64)>),
}

impl<'m> Body<'m> {
    pub(crate) fn is_here(&self) -> bool {
        matches!(self, Self::Here(_))
    }
    /// Steps a machine; nothing of another rank's.
    pub(crate) fn resume(&mut self) -> Option<Result<Step<'m>>> {
        match self {
            Self::Here(machine) => Some(machine.resume()),
            Self::There(_) => None,
        }
    }
    pub(crate) fn answer(&mut self, value: Literal) -> Result<()> {
        match self {
            Self::Here(machine) => machine.answer(value),
            Self::There(_) => Ok(()),
        }
    }
    /// What runs another computation of the same device.
    pub(crate) fn beside(&self, id: ComputationId, arguments: Vec<Literal>) -> Result<Self> {
        match self {
            Self::Here(machine) => machine.beside(id, arguments).map(Box::new).map(Self::Here),
            Self::There(_) => Ok(Self::There(Vec::new())),
        }
    }
    /// Where each open computation stands, the outermost first, and of a loop how many rounds it has begun.
    pub(crate) fn trail(&self) -> Vec<(Position<'m>, u64)> {
        match self {
            Self::Here(machine) => machine.trail(),
            Self::There(trail) => trail.clone(),
        }
    }
}
