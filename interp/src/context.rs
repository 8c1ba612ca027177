//! What all parts of one run share: the module, its limits, what was laid out once, what it may reach outside.
use crate::device::{Device, Grid};
use crate::error::Code;
use crate::hooks::Hooks;
use crate::interpreter::Options;
use crate::kernel::{Channels, Streams};
use crate::scalar_program::ScalarProgram;
use crate::table::Table;
use crate::{Error, Result};
use hlo::ir::ComputationId;
use hlo::{Literal, Module};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Machines inside machines: each takes part of the thread's stack.
const NESTING_LIMIT: usize = 64;

/// Bytes an allocator may not have.
const LARGE: usize = 1 << 26;

/// What ops need besides their operands. Clones belong to the same run.
#[derive(Debug, Clone)]
pub(crate) struct Context<'m> {
    shared: Arc<Shared<'m>>,
    /// Machines around the one this belongs to. Not shared: machines beside each other are not inside each other.
    depth: usize,
}

/// What is known of a module before it runs, found once for all devices.
#[derive(Debug)]
pub(crate) struct Prepared<'m> {
    module: &'m Module,
    applied: Mutex<HashMap<ComputationId, Arc<ScalarProgram>>>,
    tables: Mutex<HashMap<ComputationId, Arc<Table>>>,
}

impl<'m> Prepared<'m> {
    pub(crate) fn new(module: &'m Module) -> Arc<Self> {
        Arc::new(Self { module, applied: Mutex::default(), tables: Mutex::default() })
    }
    pub(crate) fn module(&self) -> &'m Module {
        self.module
    }
}

#[derive(Debug)]
struct Shared<'m> {
    prepared: Arc<Prepared<'m>>,
    /// Which device it is, and of how many; nothing if it is the only one.
    device: Option<(Device, Grid)>,
    options: Options,
    hooks: Hooks,
    spent: AtomicU64,
    live: AtomicUsize,
    peak: AtomicUsize,
    channels: Mutex<Channels>,
    streams: Mutex<Streams>,
}

impl<'m> Context<'m> {
    pub(crate) fn new(module: &'m Module, options: Options, hooks: Hooks) -> Self {
        Self::of(Prepared::new(module), options, hooks, None)
    }
    pub(crate) fn of(
        prepared: Arc<Prepared<'m>>,
        options: Options,
        hooks: Hooks,
        device: Option<(Device, Grid)>,
    ) -> Self {
        let shared = Arc::new(Shared {
            prepared,
            device,
            options,
            hooks,
            spent: AtomicU64::new(0),
            live: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            channels: Mutex::default(),
            streams: Mutex::default(),
        });
        Self { shared, depth: 0 }
    }
    pub(crate) fn module(&self) -> &'m Module {
        self.shared.prepared.module
    }
    /// Which device this is, if there are several.
    pub(crate) fn device(&self) -> Option<(Device, Grid)> {
        self.shared.device
    }
    pub(crate) fn options(&self) -> &Options {
        &self.shared.options
    }
    /// What the program may reach outside of itself.
    pub(crate) fn hooks(&self) -> &Hooks {
        &self.shared.hooks
    }

    /// Pays for `steps` steps.
    pub(crate) fn spend(&self, steps: u64) -> Result<()> {
        let before = self.shared.spent.fetch_add(steps, Ordering::Relaxed);
        match self.shared.options.fuel {
            Some(fuel) if before.saturating_add(steps) > fuel => {
                Err(Code::OutOfFuel { steps: fuel }.into())
            }
            _ => Ok(()),
        }
    }
    pub(crate) fn steps(&self) -> u64 {
        self.shared.spent.load(Ordering::Relaxed)
    }

    /// Takes `bytes` bytes of memory, before they are allocated.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<()> {
        // The allocator is asked before it is used: its refusal would end the process.
        if bytes >= LARGE && Vec::<u8>::new().try_reserve_exact(bytes).is_err() {
            let message = format!("the system has no {bytes} bytes for the result");
            return Err(Code::OutOfMemory { message }.into());
        }
        let live = self.shared.live.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if let Some(limit) = self.shared.options.max_memory
            && live > limit
        {
            let message = format!("{live} bytes of values would be live; {limit} are allowed");
            return Err(Code::OutOfMemory { message }.into());
        }
        self.shared.peak.fetch_max(live, Ordering::Relaxed);
        Ok(())
    }
    /// Gives memory back.
    pub(crate) fn release(&self, bytes: usize) {
        let less = |live: usize| Some(live.saturating_sub(bytes));
        // The function gives a value for every other, so this does not fail.
        let _ = self.shared.live.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
    /// Gives back the memory of values that nobody needs any more.
    pub(crate) fn discard(&self, values: impl IntoIterator<Item = Literal>) {
        for value in values {
            self.release(value.unshared_bytes());
        }
    }
    /// The most bytes of values that were live at once.
    pub(crate) fn peak(&self) -> usize {
        self.shared.peak.load(Ordering::Relaxed)
    }

    /// A scalar computation, ready to be called for each element.
    pub(crate) fn applied(&self, id: ComputationId) -> Result<Arc<ScalarProgram>> {
        let mut applied =
            self.shared.prepared.applied.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(applied) = applied.get(&id) {
            return Ok(Arc::clone(applied));
        }
        let new = Arc::new(ScalarProgram::new(self.module(), id)?);
        applied.insert(id, Arc::clone(&new));
        Ok(new)
    }
    /// What is known of a computation before it runs.
    pub(crate) fn table(&self, id: ComputationId) -> Arc<Table> {
        let mut tables = self.shared.prepared.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let table = tables
            .entry(id)
            .or_insert_with(|| Arc::new(Table::of(&self.module().computations[id])));
        Arc::clone(table)
    }

    /// What `send` has put into each channel and no `recv-done` has taken.
    pub(crate) fn channels(&self) -> MutexGuard<'_, Channels> {
        self.shared.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far each instruction that draws random numbers has come; `None` in a machine inside another one, which may
    /// run beside its like on several threads.
    pub(crate) fn streams(&self) -> Option<MutexGuard<'_, Streams>> {
        (!self.is_nested())
            .then(|| self.shared.streams.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether this belongs to a machine inside another one.
    pub(crate) fn is_nested(&self) -> bool {
        self.depth > 0
    }
    /// What a machine inside this one is given.
    pub(crate) fn nested(&self) -> Result<Self> {
        let depth = self.depth + 1;
        if depth > NESTING_LIMIT {
            return Err(Error::from(Code::TooDeep { limit: NESTING_LIMIT })
                .with_help("computations of `reduce` and its like call each other this deep"));
        }
        Ok(Self { shared: Arc::clone(&self.shared), depth })
    }
}
