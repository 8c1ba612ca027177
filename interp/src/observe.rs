//! Observation of a run: one event for each completed instruction.
use crate::Error;
use crate::state::Site;
use hlo::ir::{Computation, Instruction, InstructionId};
use hlo::{Array, Opcode};
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The execution of an instruction.
///
/// Instructions that call computations end after those they call; `own` excludes the time of the
/// latter.
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
    /// The arrays of its result, or those of the part that is computed. Empty for a token, and for
    /// an asynchronous operation.
    pub outputs: &'a [Array],
    /// Whether `outputs` are a part of the result.
    pub is_part: bool,
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

/// A function that is called with the error of each instruction that returns a NaN or an infinity
/// for finite operands.
#[derive(Clone)]
pub(crate) struct NotFinite(Arc<Mutex<dyn FnMut(Error) + Send>>);

impl NotFinite {
    pub(crate) fn new(report: impl FnMut(Error) + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(report)))
    }
    pub(crate) fn report(&self, error: Error) {
        let mut report = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        report(error);
    }
}

/// The position of a run, for another thread to read: the outermost loop, or else an instruction of
/// the entry computation. Of a run on several devices it is where the last of them was.
#[derive(Debug, Default)]
pub struct Progress {
    computation: AtomicUsize,
    /// The number of the instruction, plus one.
    instruction: AtomicUsize,
    iterations: AtomicU64,
}

impl Progress {
    pub(crate) fn set(&self, site: Site, iterations: u64) {
        self.computation.store(site.computation.index(), Ordering::Relaxed);
        self.instruction.store(site.instruction.index() + 1, Ordering::Relaxed);
        self.iterations.store(iterations, Ordering::Relaxed);
    }
    /// Returns the indices of the computation and of the instruction, and for a loop the number of
    /// iterations that it has begun; `None` before the first instruction.
    pub fn get(&self) -> Option<(usize, usize, u64)> {
        let instruction = self.instruction.load(Ordering::Relaxed).checked_sub(1)?;
        let computation = self.computation.load(Ordering::Relaxed);
        Some((computation, instruction, self.iterations.load(Ordering::Relaxed)))
    }
}

/// An observer and the start of the run.
#[derive(Clone)]
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
