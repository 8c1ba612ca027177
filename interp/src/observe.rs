//! Observation of a run: one event for each completed instruction.
use hlo::Opcode;
use hlo::ir::{Computation, Instruction, InstructionId};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The execution of an instruction.
///
/// Instructions that call computations end after those they call; `own` excludes the time of the latter.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// The computation that contains the instruction.
    pub computation: &'a Computation,
    /// The id of the instruction.
    pub id: InstructionId,
    /// The number of enclosing calls.
    pub depth: usize,
    /// The start time, measured from the start of the run.
    pub start: Duration,
    /// The duration.
    pub total: Duration,
    /// The duration without the instructions it called.
    pub own: Duration,
    /// The bytes allocated for its result.
    pub bytes: usize,
}

impl<'a> Event<'a> {
    /// Returns the instruction.
    pub fn instruction(&self) -> &'a Instruction {
        &self.computation.instructions[self.id]
    }
    /// Returns its name.
    pub fn name(&self) -> &'a str {
        self.computation.name(self.id)
    }
    /// Returns its opcode.
    pub fn opcode(&self) -> Opcode {
        self.instruction().opcode()
    }
    /// Returns the operation of the program it came from, if its metadata has it.
    pub fn op_name(&self) -> Option<&'a str> {
        op_name(self.instruction())
    }
}

/// Returns `op_name` of an instruction's metadata.
pub(crate) fn op_name(instruction: &Instruction) -> Option<&str> {
    let name = instruction.common.as_ref()?.metadata.as_ref()?.op_name.as_str();
    (!name.is_empty()).then_some(name)
}

/// A function that is called with each event.
pub(crate) type Observer = Arc<Mutex<dyn FnMut(&Event<'_>) + Send>>;

/// An observer and the start of the run.
pub(crate) struct Watch {
    pub(crate) start: Instant,
    observer: Observer,
}

impl Watch {
    pub(crate) fn new(observer: Observer) -> Self {
        Self { start: Instant::now(), observer }
    }
    pub(crate) fn report(&self, event: &Event<'_>) {
        let mut observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner);
        observer(event);
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("start", &self.start).finish_non_exhaustive()
    }
}
