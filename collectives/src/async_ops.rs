//! Async operations between their start and their done.
use crate::task::{SpawnPath, WaitReason};
use hlo::ir::{ComputationId, InstructionId};
use hlo::{Literal, Op};
use interp::Position;
use rustc_hash::FxHashMap;

/// The identity of an async operation: each execution of a start instruction has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AsyncId(u64);

/// The state of an async operation.
#[derive(Debug)]
pub(crate) enum AsyncState<'m> {
    /// Some operands of its computation are not bound yet; the path of the task that it will spawn.
    Unbound(SpawnPath),
    /// There is no result yet: its position and what it waits for, if that is known, and the task whose done waits for it.
    Pending { waits: Option<(Position<'m>, WaitReason)>, done: Option<usize> },
    /// There is a result.
    Done(Literal),
}

/// A task's start instruction, and its call depth.
type At = (usize, ComputationId, InstructionId, usize);

/// All async operations that are not done.
#[derive(Debug, Default)]
pub(crate) struct AsyncOps<'m> {
    next: u64,
    current: FxHashMap<At, AsyncId>,
    open: FxHashMap<AsyncId, AsyncState<'m>>,
    /// Operations by the address of their result, which stays valid until the done.
    by_result: FxHashMap<(usize, usize), AsyncId>,
}

/// Returns the address of the result that a start returned and a done takes; nothing if it has no elements.
fn address(value: &Literal, is_all_reduce: bool) -> Option<usize> {
    let result = match (is_all_reduce, value.elements()) {
        (false, Some([_, result, ..])) => result,
        _ => value,
    };
    let leaf = result.leaves().into_iter().find(|leaf| !leaf.bytes().is_empty())?;
    Some(leaf.bytes().as_ptr().addr())
}

fn at(task: usize, place: &Position<'_>, start: InstructionId) -> At {
    (task, place.computation_id, start, place.depth)
}

impl<'m> AsyncOps<'m> {
    /// Registers the execution of a start.
    pub(crate) fn start(
        &mut self,
        task: usize,
        place: &Position<'_>,
        started: AsyncState<'m>,
    ) -> AsyncId {
        let async_id = AsyncId(self.next);
        self.next += 1;
        self.current.insert(at(task, place, place.id), async_id);
        self.open.insert(async_id, started);
        async_id
    }
    /// Returns the last operation that this start instruction began in the task suspended at `place`.
    pub(crate) fn find(
        &self,
        task: usize,
        place: &Position<'_>,
        start: InstructionId,
    ) -> Option<AsyncId> {
        self.current.get(&at(task, place, start)).copied()
    }
    /// Records the value that a start returned to its task, which may pass it through loops and calls.
    pub(crate) fn record_result(
        &mut self,
        task: usize,
        async_id: AsyncId,
        value: &Literal,
        op: &Op,
    ) {
        if let Some(address) = address(value, matches!(op, Op::AllReduceStart(_))) {
            self.by_result.insert((task, address), async_id);
        }
    }
    /// Returns the operation whose start returned this value to the task, if it is not done.
    pub(crate) fn find_by_result(&self, task: usize, value: &Literal, op: &Op) -> Option<AsyncId> {
        let address = address(value, matches!(op, Op::AllReduceDone(_)))?;
        self.by_result
            .get(&(task, address))
            .copied()
            .filter(|async_id| self.open.contains_key(async_id))
    }
    /// Returns the state of an operation; nothing if it is done.
    pub(crate) fn get_mut(&mut self, async_id: AsyncId) -> Option<&mut AsyncState<'m>> {
        self.open.get_mut(&async_id)
    }
    pub(crate) fn get(&self, async_id: AsyncId) -> Option<&AsyncState<'m>> {
        self.open.get(&async_id)
    }
    /// Removes an operation that is done, and returns its last state.
    pub(crate) fn finish(&mut self, async_id: AsyncId) -> Option<AsyncState<'m>> {
        self.open.remove(&async_id)
    }
}
