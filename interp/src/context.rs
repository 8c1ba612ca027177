//! The state shared by all parts of one run: the program, the limits, and its hooks.
use crate::device::{Device, DeviceGrid};
use crate::hooks::Hooks;
use crate::memory::{Budget, Reservation};
use crate::options::RunOptions;
use crate::program::Program;
use crate::state::{Channels, Streams};
use crate::value::Value;
use crate::{Error, Result};
use hlo::ir::ComputationId;
use hlo::{Literal, Module};
use num::clock::{Clock, Stop};
use num::error::Code;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The limit of machines inside machines: each takes part of the thread's stack.
const NESTING_LIMIT: usize = 64;

/// The context in which ops are executed. Clones belong to the same run.
#[derive(Debug, Clone)]
pub(crate) struct RunContext {
    shared: Arc<Shared>,
    budget: Arc<Budget>,
    /// The number of machines that enclose the one this belongs to. Concurrent machines do not
    /// share it.
    depth: usize,
}

/// Runs a computation on arguments, within the limits of a run.
pub(crate) type RunComputation = fn(RunContext, ComputationId, Vec<Value>) -> Result<Literal>;

#[derive(Debug)]
struct Shared {
    program: Arc<Program>,
    /// Runs a computation of scalars that is not compiled.
    call: RunComputation,
    /// The device and its grid; `None` if it is the only device.
    place: Option<(Device, DeviceGrid)>,
    options: RunOptions,
    spent: AtomicU64,
    clock: Option<Clock>,
    channels: Mutex<Channels>,
    streams: Mutex<Streams>,
}

impl RunContext {
    pub(crate) fn new(
        program: Arc<Program>,
        call: RunComputation,
        options: RunOptions,
        place: Option<(Device, DeviceGrid)>,
    ) -> Self {
        let budget =
            Budget::new(options.max_memory, Arc::clone(&program.pool), options.spill.clone());
        let shared = Shared {
            program,
            call,
            place,
            spent: AtomicU64::new(0),
            clock: options.clock(),
            options,
            channels: Mutex::default(),
            streams: Mutex::default(),
        };
        Self { shared: Arc::new(shared), budget, depth: 0 }
    }
    pub(crate) fn program(&self) -> &Arc<Program> {
        &self.shared.program
    }
    pub(crate) fn module(&self) -> &Module {
        self.shared.program.module()
    }
    /// Returns the device and its grid, if there are several devices.
    pub(crate) fn place(&self) -> Option<(Device, DeviceGrid)> {
        self.shared.place
    }
    pub(crate) fn options(&self) -> &RunOptions {
        &self.shared.options
    }
    /// Returns the hooks of the run.
    pub(crate) fn hooks(&self) -> &Hooks {
        &self.shared.options.hooks
    }

    /// Fails if the time is over, or the caller stops the run.
    #[inline]
    pub(crate) fn check_time(&self) -> Result<()> {
        self.shared.clock.as_ref().map_or(Ok(()), Clock::check)
    }
    /// Returns the time limit for loops.
    pub(crate) fn stop(&self) -> Stop {
        Stop::of(self.shared.clock.as_ref())
    }

    /// Charges `steps` steps. Fails if that is more than the run may take, or if the time is over.
    #[inline]
    pub(crate) fn spend(&self, steps: u64) -> Result<()> {
        self.check_time()?;
        let before = self.shared.spent.fetch_add(steps, Ordering::Relaxed);
        match self.shared.options.fuel {
            Some(fuel) if before.saturating_add(steps) > fuel => Err(num::error::out_of_fuel(fuel)),
            _ => Ok(()),
        }
    }
    /// Takes back steps that were charged and are taken again.
    pub(crate) fn refund(&self, steps: u64) {
        self.shared.spent.fetch_sub(steps, Ordering::Relaxed);
    }
    pub(crate) fn steps(&self) -> u64 {
        self.shared.spent.load(Ordering::Relaxed)
    }

    /// Charges `bytes` of memory before they are allocated.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<Reservation> {
        self.budget.reserve(bytes)
    }
    /// Charges the memory that a kernel takes beside its arrays, if it takes any.
    pub(crate) fn reserve_scratch(&self, bytes: usize) -> Result<Option<Reservation>> {
        (bytes > 0).then(|| self.reserve(bytes)).transpose()
    }
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Returns the values that `send` has put into each channel and no `recv-done` has taken.
    pub(crate) fn channels(&self) -> MutexGuard<'_, Channels> {
        self.shared.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Returns the states of the instructions that draw random numbers; `None` in a machine inside
    /// another one, of which several may run concurrently.
    pub(crate) fn streams(&self) -> Option<MutexGuard<'_, Streams>> {
        (!self.is_nested())
            .then(|| self.shared.streams.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns whether this belongs to a machine inside another one.
    pub(crate) fn is_nested(&self) -> bool {
        self.depth > 0
    }
    /// Runs a computation of scalars on a machine inside this one.
    pub(crate) fn call(
        &self,
        computation: ComputationId,
        arguments: Vec<Value>,
    ) -> Result<Literal> {
        (self.shared.call)(self.nested()?, computation, arguments)
    }
    /// Returns the context of a machine inside this one. The step that it is part of has reserved
    /// its memory.
    pub(crate) fn nested(&self) -> Result<Self> {
        let depth = self.depth + 1;
        if depth > NESTING_LIMIT {
            return Err(Error::from(Code::TooDeep { limit: NESTING_LIMIT }).with_help(
                "computations that `reduce` and similar ops apply are nested this deep",
            ));
        }
        let budget = Budget::new(None, Arc::default(), None);
        Ok(Self { shared: Arc::clone(&self.shared), budget, depth })
    }
}
