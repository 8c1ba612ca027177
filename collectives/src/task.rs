//! Tasks: the computations that devices run, and what they wait for.
use crate::device_state::DeviceState;
use crate::rendezvous::{Key, Site};
use crate::{Code, Result};
use hlo::ir::{ComputationId, InstructionId};
use interp::{AsyncId, Outcome, Position};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// A computation that a device runs: the entry, or one that an `async-start` started.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) device: usize,
    pub(crate) device_state: DeviceState,
    pub(crate) state: TaskState,
    /// The async operation that gets its result; nothing for the entry.
    pub(crate) async_id: Option<AsyncId>,
    pub(crate) path: SpawnPath,
    /// How often it executed an op as a member of a group; group 0 for an op without groups.
    rounds: FxHashMap<(Site, usize), u64>,
    /// How often it executed an `async-start`.
    starts: FxHashMap<(ComputationId, InstructionId), u64>,
}

/// The chain of starts that spawned a task, in program order: the same on all devices that run the same program, in whatever
/// order they are stepped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct SpawnPath {
    /// Hash of the chain of starts and of the execution count of each; 0 for the entry.
    pub(crate) run: u64,
    /// Hash of the chain of starts alone.
    pub(crate) chain: u64,
}

#[derive(Debug)]
pub(crate) enum TaskState {
    Ready,
    Waiting(Position, WaitReason),
    Finished,
}

/// The reason why a task waits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum WaitReason {
    /// The other members of its group.
    Rendezvous(Key),
    /// The end of the round of steps: its group is complete.
    Exchange,
    /// The result of an async operation.
    Async(AsyncId),
    /// A value from this device.
    Message(usize),
    /// A value on a channel: from this device, or from any.
    Channel(Option<i64>, Option<usize>),
}

/// The receiver of a value: a suspended task, or an async operation whose done takes it later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiter {
    Task(usize),
    Async(AsyncId),
}

impl Task {
    pub(crate) fn new(device: usize, device_state: DeviceState, async_id: Option<AsyncId>) -> Self {
        let (path, rounds) = (SpawnPath::default(), FxHashMap::default());
        let starts = FxHashMap::default();
        Self { device, device_state, state: TaskState::Ready, async_id, path, rounds, starts }
    }
    /// Steps the task, if this rank runs it.
    pub(crate) fn resume(&mut self) -> Option<Result<Outcome>> {
        let on_device = |error| Code::Device { device: self.device, error }.into();
        self.device_state.resume().map(|step| step.map_err(on_device))
    }
    /// Returns how often the task executed an op before, and counts this execution.
    pub(crate) fn next_round(&mut self, site: Site, group: usize) -> u64 {
        let round = self.rounds.entry((site, group)).or_default();
        *round += 1;
        *round - 1
    }
    /// Returns the path of the task that this execution of a start spawns.
    pub(crate) fn next_spawn_path(&mut self, position: Position) -> SpawnPath {
        let at = (position.computation, position.instruction);
        let count = self.starts.entry(at).or_default();
        *count += 1;
        let hashed = |parts: (u64, usize, usize, u64)| FxBuildHasher.hash_one(parts);
        let (computation, id) = (at.0.index(), at.1.index());
        SpawnPath {
            run: hashed((self.path.run, computation, id, *count)),
            chain: hashed((self.path.chain, computation, id, 0)),
        }
    }
    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.state, TaskState::Ready)
    }
    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.state, TaskState::Finished)
    }
}
