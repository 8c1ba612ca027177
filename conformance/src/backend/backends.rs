//! Backends of one kind that work side by side.
use super::{About, Backend, Capabilities};
use crate::judge::JudgeOptions;
use crate::pool::{Pool, Queue, Worker};
use std::fmt;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

impl Worker for Box<dyn Backend> {
    fn take_warnings(&mut self) -> Vec<String> {
        Backend::take_warnings(&mut **self)
    }
}

/// Backends of one kind that work side by side, each in its own process if it has one.
///
/// ```
/// use conformance::Engine;
/// use conformance::backend::{Backend, Backends, EngineBackend};
/// use std::num::NonZero;
/// let make = || -> Box<dyn Backend> { Box::new(EngineBackend(Engine::Fast)) };
/// let backends = Backends::new(make(), NonZero::new(2).unwrap(), move || Ok(make()));
/// assert_eq!(backends.name(), "fast");
/// assert_eq!(backends.run(|backend| backend.name()), "fast");
/// ```
pub struct Backends {
    pool: Pool<Box<dyn Backend>>,
    name: String,
    about: About,
    capabilities: Capabilities,
    judging: JudgeOptions,
    interrupt: Option<Arc<AtomicBool>>,
}

impl Backends {
    /// Returns a single backend.
    pub fn one(backend: Box<dyn Backend>) -> Self {
        Self::with(backend, Pool::one)
    }
    /// Returns up to `count` backends: the first, and those that `make` starts when there is work
    /// for them. If it fails, the others do the work.
    pub fn new(
        first: Box<dyn Backend>,
        count: NonZero<usize>,
        make: impl Fn() -> Result<Box<dyn Backend>, String> + Send + Sync + 'static,
    ) -> Self {
        Self::with(first, |first| Pool::new(first, count, make))
    }
    fn with(
        first: Box<dyn Backend>,
        pool: impl FnOnce(Box<dyn Backend>) -> Pool<Box<dyn Backend>>,
    ) -> Self {
        Self {
            name: first.name(),
            about: first.about(),
            capabilities: first.capabilities(),
            judging: first.judging(),
            interrupt: first.interrupt(),
            pool: pool(first),
        }
    }
    /// Returns the name that reports show.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Returns what else reports show.
    pub fn about(&self) -> &About {
        &self.about
    }
    /// Returns what each of them can do.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }
    /// Returns what a judge knows of them.
    pub fn judging(&self) -> &JudgeOptions {
        &self.judging
    }
    /// Lets a flag end what is searched with them: `blame`, `reduce`, a round of a campaign.
    #[must_use]
    pub fn interrupted_by(self, flag: Arc<AtomicBool>) -> Self {
        Self { interrupt: Some(flag), ..self }
    }
    /// Returns that flag, if there is one.
    pub fn interrupt(&self) -> Option<&Arc<AtomicBool>> {
        self.interrupt.as_ref()
    }
    /// Returns whether the flag is set.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
    /// Returns a queue of work of one kind. Each backend may have `ahead` items.
    pub fn queue<I: Send + 'static, R: Send + 'static>(
        &self,
        ahead: usize,
        work: impl Fn(&mut dyn Backend, I) -> R + Send + Sync + 'static,
    ) -> Queue<'_, I, R> {
        self.pool.queue(ahead, move |backend, item| work(&mut **backend, item))
    }
    /// Does work that nothing else is done beside.
    pub fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Backend) -> R + Send + 'static,
    ) -> R {
        self.pool.run(move |backend| work(&mut **backend))
    }
    /// Returns the warnings of the work that was handed back since the last call.
    pub fn take_warnings(&self) -> Vec<String> {
        self.pool.take_warnings()
    }
}

impl fmt::Debug for Backends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backends").field("name", &self.name).finish_non_exhaustive()
    }
}
