//! Async operations between their start and their done.
//!
//! Each execution of a start has an id, which is the value of the start. Every rank serves all
//! suspensions in one order, so that an operation has the same id on all ranks.
use crate::site::SpawnPath;
use crate::task::WaitReason;
use hlo::Literal;
use hlo::ir::ComputationId;
use interp::{AsyncId, Position, Value};
use rustc_hash::FxHashMap;

/// The state of an async operation.
#[derive(Debug)]
pub(crate) enum AsyncState {
    /// An `async-start` of a computation some of whose parameters are not bound yet.
    Binding {
        callee: ComputationId,
        /// The operands that are bound.
        operands: Vec<Value>,
        /// The path of the task that runs the computation.
        path: SpawnPath,
    },
    /// There is no result yet: its position and what it waits for, if that is known, and the task
    /// whose done waits for it.
    Pending { waits: Option<(Position, WaitReason)>, done: Option<usize> },
    /// There is a result.
    Done(Literal),
}

impl AsyncState {
    /// An operation without a result, for which no done waits.
    pub(crate) const PENDING: Self = Self::Pending { waits: None, done: None };
}

/// All async operations of a run that are not done.
#[derive(Debug, Default)]
pub(crate) struct AsyncOps {
    next: u64,
    open: FxHashMap<AsyncId, AsyncState>,
}

impl AsyncOps {
    /// Registers the execution of a start.
    pub(crate) fn start(&mut self, state: AsyncState) -> AsyncId {
        let id = AsyncId::new(self.next);
        self.next += 1;
        self.open.insert(id, state);
        id
    }
    /// Returns the state of an operation; nothing if it is done.
    pub(crate) fn get(&self, id: AsyncId) -> Option<&AsyncState> {
        self.open.get(&id)
    }
    pub(crate) fn get_mut(&mut self, id: AsyncId) -> Option<&mut AsyncState> {
        self.open.get_mut(&id)
    }
    /// Removes an operation that is done, and returns its last state.
    pub(crate) fn finish(&mut self, id: AsyncId) -> Option<AsyncState> {
        self.open.remove(&id)
    }
}
