//! What all parts of one run share: the module, its limits, what was laid out once, what it may reach outside.
use crate::applied::Applied;
use crate::error::Code;
use crate::hooks::Hooks;
use crate::interpreter::Options;
use crate::reference::Channels;
use crate::table::Table;
use crate::{Error, Result};
use hlo::Module;
use hlo::ir::ComputationId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Machines inside machines: each takes part of the thread's stack.
const NESTING_LIMIT: usize = 64;

/// Bytes an allocator may not have.
const LARGE: usize = 1 << 26;

/// What ops need besides their operands. Clones belong to the same run.
#[derive(Debug, Clone)]
pub(crate) struct Context<'m>(Arc<Shared<'m>>);

#[derive(Debug)]
struct Shared<'m> {
    module: &'m Module,
    options: Options,
    hooks: Hooks,
    spent: AtomicU64,
    live: AtomicUsize,
    peak: AtomicUsize,
    nesting: AtomicUsize,
    applied: Mutex<HashMap<ComputationId, Arc<Applied>>>,
    tables: Mutex<HashMap<ComputationId, Arc<Table>>>,
    channels: Mutex<Channels>,
}

impl<'m> Context<'m> {
    pub(crate) fn new(module: &'m Module, options: Options, hooks: Hooks) -> Self {
        Self(Arc::new(Shared {
            module,
            options,
            hooks,
            spent: AtomicU64::new(0),
            live: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            nesting: AtomicUsize::new(0),
            applied: Mutex::default(),
            tables: Mutex::default(),
            channels: Mutex::default(),
        }))
    }
    pub(crate) fn module(&self) -> &'m Module {
        self.0.module
    }
    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }
    /// What the program may reach outside of itself.
    pub(crate) fn hooks(&self) -> &Hooks {
        &self.0.hooks
    }

    /// Pays for `steps` steps.
    pub(crate) fn spend(&self, steps: u64) -> Result<()> {
        let before = self.0.spent.fetch_add(steps, Ordering::Relaxed);
        match self.0.options.fuel {
            Some(fuel) if before.saturating_add(steps) > fuel => {
                Err(Code::OutOfFuel { steps: fuel }.into())
            }
            _ => Ok(()),
        }
    }
    pub(crate) fn steps(&self) -> u64 {
        self.0.spent.load(Ordering::Relaxed)
    }

    /// Takes `bytes` bytes of memory, before they are allocated.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<()> {
        let live = self.0.live.load(Ordering::Relaxed).saturating_add(bytes);
        if let Some(limit) = self.0.options.max_memory
            && live > limit
        {
            let message = format!("{live} bytes of values would be live; {limit} are allowed");
            return Err(Code::OutOfMemory { message }.into());
        }
        // The allocator is asked before it is used: its refusal would end the process.
        if bytes >= LARGE && Vec::<u8>::new().try_reserve_exact(bytes).is_err() {
            let message = format!("the system has no {bytes} bytes for the result");
            return Err(Code::OutOfMemory { message }.into());
        }
        self.0.live.store(live, Ordering::Relaxed);
        self.0.peak.fetch_max(live, Ordering::Relaxed);
        Ok(())
    }
    /// Gives memory back.
    pub(crate) fn release(&self, bytes: usize) {
        let live = self.0.live.load(Ordering::Relaxed).saturating_sub(bytes);
        self.0.live.store(live, Ordering::Relaxed);
    }
    /// The most bytes of values that were live at once.
    pub(crate) fn peak(&self) -> usize {
        self.0.peak.load(Ordering::Relaxed)
    }

    /// A scalar computation, ready to be called for each element.
    pub(crate) fn applied(&self, id: ComputationId) -> Result<Arc<Applied>> {
        let mut applied = self.0.applied.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(applied) = applied.get(&id) {
            return Ok(Arc::clone(applied));
        }
        let new = Arc::new(Applied::new(self.0.module, id)?);
        applied.insert(id, Arc::clone(&new));
        Ok(new)
    }
    /// What is known of a computation before it runs.
    pub(crate) fn table(&self, id: ComputationId) -> Arc<Table> {
        let mut tables = self.0.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let table = tables
            .entry(id)
            .or_insert_with(|| Arc::new(Table::of(&self.0.module.computations[id])));
        Arc::clone(table)
    }

    /// What `send` has put into each channel and no `recv-done` has taken.
    pub(crate) fn channels(&self) -> MutexGuard<'_, Channels> {
        self.0.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `inside`, which starts a machine inside this one.
    pub(crate) fn nested<T>(&self, inside: impl FnOnce() -> Result<T>) -> Result<T> {
        let depth = self.0.nesting.fetch_add(1, Ordering::Relaxed);
        let result = if depth < NESTING_LIMIT {
            inside()
        } else {
            Err(Error::from(Code::TooDeep { limit: NESTING_LIMIT })
                .with_help("computations of `reduce` and its like call each other this deep"))
        };
        self.0.nesting.fetch_sub(1, Ordering::Relaxed);
        result
    }
}
