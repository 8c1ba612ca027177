//! A backend that compiles a module once for several executions, if only to fail, and keeps the
//! last results.
use crate::backend::{Backend, BackendError, Capabilities, LoadedModule};
use hlo::{Literal, Verified};
use interp::DeviceGrid;
use std::sync::{Arc, Mutex, PoisonError};

type Shared<T> = Arc<Mutex<T>>;
type SharedModule = Shared<Box<dyn LoadedModule>>;

pub(super) struct Recorder<'a> {
    backend: &'a mut dyn Backend,
    compiled: Option<(Arc<Verified>, Result<SharedModule, BackendError>)>,
    results: Shared<Vec<Literal>>,
}

fn locked<T>(shared: &Shared<T>) -> std::sync::MutexGuard<'_, T> {
    // A panic of an engine is a finding, and its module is not executed again.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Recorder<'a> {
    pub(super) fn new(backend: &'a mut dyn Backend) -> Self {
        Self { backend, compiled: None, results: Shared::default() }
    }
    /// Returns the results of the last execution; none if it failed.
    pub(super) fn take_results(&mut self) -> Vec<Literal> {
        std::mem::take(&mut *locked(&self.results))
    }
}

impl Backend for Recorder<'_> {
    fn name(&self) -> String {
        self.backend.name()
    }
    fn capabilities(&self) -> Capabilities {
        self.backend.capabilities()
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>, BackendError> {
        let known = self.compiled.as_ref().filter(|(last, _)| Arc::ptr_eq(last, module));
        let loaded = match known {
            Some((_, compiled)) => compiled.clone(),
            None => {
                self.compiled = None;
                let compiled = self.backend.compile(module, grid);
                let compiled = compiled.map(|loaded| Arc::new(Mutex::new(loaded)));
                self.compiled = Some((Arc::clone(module), compiled.clone()));
                compiled
            }
        };
        let loaded = loaded?;
        Ok(Box::new(RecordedRun { loaded, results: Arc::clone(&self.results) }))
    }
    fn take_warnings(&mut self) -> Vec<String> {
        self.backend.take_warnings()
    }
}

struct RecordedRun {
    loaded: SharedModule,
    results: Shared<Vec<Literal>>,
}

impl LoadedModule for RecordedRun {
    fn execute(&mut self, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>, BackendError> {
        let results = locked(&self.loaded).execute(arguments)?;
        locked(&self.results).clone_from(&results);
        Ok(results)
    }
}
