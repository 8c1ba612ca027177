//! Looking on while a module runs: one event for each instruction that ends.
use hlo::Opcode;
use hlo::ir::{Computation, Instruction, InstructionId};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An instruction that has been run.
///
/// Instructions that call computations end after those they called; `own` leaves out what was measured in them.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// Where the instruction stands.
    pub computation: &'a Computation,
    /// Which one it is.
    pub id: InstructionId,
    /// How many calls are open around it.
    pub depth: usize,
    /// When it began, since the run began.
    pub start: Duration,
    /// How long it took.
    pub total: Duration,
    /// How long it took without the instructions it called.
    pub own: Duration,
    /// Bytes it allocated for its result.
    pub bytes: usize,
}

impl<'a> Event<'a> {
    /// The instruction.
    pub fn instruction(&self) -> &'a Instruction {
        &self.computation.instructions[self.id]
    }
    /// Its name.
    pub fn name(&self) -> &'a str {
        self.computation.name(self.id)
    }
    /// Its opcode.
    pub fn opcode(&self) -> Opcode {
        self.instruction().opcode()
    }
    /// The operation of the program it came from, if its metadata tells.
    pub fn op_name(&self) -> Option<&'a str> {
        op_name(self.instruction())
    }
}

/// `op_name` of an instruction's metadata.
pub(crate) fn op_name(instruction: &Instruction) -> Option<&str> {
    let name = instruction.common.as_ref()?.metadata.as_ref()?.op_name.as_str();
    (!name.is_empty()).then_some(name)
}

/// A function that is called with each event.
pub(crate) type Observer = Arc<Mutex<dyn FnMut(&Event<'_>) + Send>>;

/// An observer and when the run began.
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
