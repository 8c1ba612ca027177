//! Tasks: the computations that devices run, and what they wait for.
use crate::device_state::DeviceState;
use crate::site::SpawnPath;
use crate::site::{Key, Site};
use crate::{Code, Result};
use hlo::ir::{ComputationId, InstructionId};
use interp::{AsyncId, Outcome, Position};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A computation that a device runs: the entry, or one that an `async-start` started.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) device: usize,
    pub(crate) device_state: DeviceState,
    pub(crate) state: TaskState,
    /// The async operation that gets its result; nothing for the entry.
    pub(crate) async_id: Option<AsyncId>,
    /// The async operation that it is a part of.
    pub(crate) origin: Option<AsyncId>,
    pub(crate) path: SpawnPath,
    /// Whether its computation is a group of transfers: a `recv` then is its own `recv-done`, and
    /// its order is that of no schedule.
    pub(crate) is_group: bool,
    counts: Arc<Mutex<Counts>>,
}

/// How often a computation and its parts executed instructions.
#[derive(Debug, Default)]
struct Counts {
    /// Ops as a member of a group; group 0 for an op without groups.
    rounds: FxHashMap<(Site, usize), u64>,
    /// `async-start`s.
    starts: FxHashMap<(ComputationId, InstructionId), u64>,
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
    /// The `recv` of this device on a channel, or of any.
    Receiver(Option<i64>, Option<usize>),
    /// The parts that it has run ahead of.
    Parts,
}

/// The receiver of a value: a suspended task, or an async operation whose done takes it later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiter {
    Task(usize),
    Async(AsyncId),
}

impl Task {
    pub(crate) fn new(device: usize, device_state: DeviceState, async_id: Option<AsyncId>) -> Self {
        let (path, state) = (SpawnPath::default(), TaskState::Ready);
        let counts = Arc::default();
        let is_group = false;
        Self { device, device_state, state, async_id, origin: async_id, path, is_group, counts }
    }
    /// Splits off the task that runs ahead of the instruction at which this one waits.
    pub(crate) fn split(&mut self) -> Option<Self> {
        let device_state = self.device_state.split()?;
        let rest = Self {
            device: self.device,
            device_state,
            state: TaskState::Ready,
            async_id: self.async_id.take(),
            origin: self.origin,
            path: self.path,
            is_group: self.is_group,
            counts: Arc::clone(&self.counts),
        };
        Some(rest)
    }
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Steps the task, if this rank runs it.
    pub(crate) fn resume(&mut self) -> Option<Result<Outcome>> {
        let on_device = |error| Code::Device { device: self.device, error }.into();
        self.device_state.resume().map(|step| step.map_err(on_device))
    }
    /// Returns how often the task executed an op before, and counts this execution.
    pub(crate) fn next_round(&mut self, site: Site, group: usize) -> u64 {
        let mut counts = self.counts();
        let round = counts.rounds.entry((site, group)).or_default();
        *round += 1;
        *round - 1
    }
    /// Returns the path of the task that this execution of a start spawns.
    pub(crate) fn next_spawn_path(&mut self, position: Position) -> SpawnPath {
        let at = (position.computation, position.instruction);
        let mut counts = self.counts();
        let count = counts.starts.entry(at).or_default();
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
