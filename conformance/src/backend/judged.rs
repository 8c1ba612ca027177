//! A backend that is judged by options of its user.
use super::{About, Backend, Capabilities, LoadedModule, Result};
use crate::judge::JudgeOptions;
use hlo::Verified;
use interp::DeviceGrid;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A backend that is judged by options of its user, whatever it states itself.
///
/// ```
/// use conformance::Engine;
/// use conformance::backend::{Backend, EngineBackend, JudgedBackend};
/// use conformance::judge::{JudgeOptions, Mode};
/// let options = JudgeOptions::strict();
/// let backend = JudgedBackend::new(Box::new(EngineBackend(Engine::Fast)), options);
/// assert!(!backend.judging().modes.has(Mode::Tf32));
/// ```
pub struct JudgedBackend {
    inner: Box<dyn Backend>,
    options: JudgeOptions,
}

impl JudgedBackend {
    /// Returns the backend with these options.
    pub fn new(inner: Box<dyn Backend>, options: JudgeOptions) -> Self {
        Self { inner, options }
    }
}

impl Backend for JudgedBackend {
    fn name(&self) -> String {
        self.inner.name()
    }
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }
    fn about(&self) -> About {
        self.inner.about()
    }
    fn judging(&self) -> JudgeOptions {
        self.options.clone()
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>> {
        self.inner.compile(module, grid)
    }
    fn interrupt(&self) -> Option<Arc<AtomicBool>> {
        self.inner.interrupt()
    }
    fn take_warnings(&mut self) -> Vec<String> {
        self.inner.take_warnings()
    }
}
