//! Sites: what matching instructions of different devices have in common.
use hlo::ir::{ComputationId, InstructionId};
use interp::Position;
use std::fmt;

/// The common property of matching instructions of different devices: the channel, or the
/// instruction itself and the path of the task that executes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Site {
    Channel(i64),
    Instruction(ComputationId, InstructionId, SpawnPath),
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channel(id) => write!(f, "channel {id}"),
            Self::Instruction(..) => f.write_str("one instruction"),
        }
    }
}

impl Site {
    pub(crate) fn of(position: Position, channel: Option<i64>, path: SpawnPath) -> Self {
        channel.map_or(
            Self::Instruction(position.computation, position.instruction, path),
            Self::Channel,
        )
    }
}

/// Identifies a rendezvous: the site, the number of the group, and how often the group met there
/// before.
pub(crate) type Key = (Site, usize, u64);

/// The chain of starts that spawned a task, in program order: the same on all devices that run the
/// same program, in whatever order they are stepped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct SpawnPath {
    /// Hash of the chain of starts and of the execution count of each; 0 for the entry.
    pub(crate) run: u64,
    /// Hash of the chain of starts alone.
    pub(crate) chain: u64,
}
