//! Etalon's engines as backends.
use super::{Backend, BackendError, Capabilities, Code, LoadedModule, Result};
use collectives::{RunError, Session};
use hlo::{Literal, Verified};
use interp::{CompileOptions, DeviceGrid, Engine, RunOptions};
use std::sync::Arc;

/// An engine of this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineBackend(pub Engine);

/// An engine of this crate whose executions end after a number of steps, for modules that may not terminate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitedEngine {
    /// The engine.
    pub engine: Engine,
    /// The most steps of a device.
    pub fuel: u64,
    /// The most bytes of values on a device.
    pub max_memory: usize,
}

impl Backend for EngineBackend {
    fn name(&self) -> String {
        self.0.name().to_owned()
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { devices: None, isolated: false }
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>> {
        compile(self.0, module, grid, RunOptions::default)
    }
}

impl Backend for LimitedEngine {
    fn name(&self) -> String {
        self.engine.name().to_owned()
    }
    fn capabilities(&self) -> Capabilities {
        EngineBackend(self.engine).capabilities()
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>> {
        let Self { engine, fuel, max_memory } = *self;
        let options = move || RunOptions::default().fuel(fuel).max_memory(max_memory);
        compile(engine, module, grid, options)
    }
}

fn compile(
    engine: Engine,
    module: &Arc<Verified>,
    grid: DeviceGrid,
    options: impl Fn() -> RunOptions + Send + 'static,
) -> Result<Box<dyn LoadedModule>> {
    let compile_options = CompileOptions::default().engine(engine);
    let session = Session::compile_for(Arc::clone(module), grid, &compile_options);
    let rejected = |message| Code::Rejected { message };
    let session = session.map_err(|error| converted(&error, rejected))?;
    Ok(Box::new(LoadedEngine { session, options }))
}

/// A compiled module, and the options of each run.
struct LoadedEngine<F> {
    session: Session,
    options: F,
}

impl<F: Fn() -> RunOptions + Send> LoadedModule for LoadedEngine<F> {
    fn execute(&mut self, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>> {
        let output = self.session.run(arguments, &(self.options)());
        let failed = |message| Code::Failed { message };
        Ok(output.map_err(|error| converted(&error, failed))?.results)
    }
}

fn converted(error: &RunError, other: impl FnOnce(String) -> Code) -> BackendError {
    let message = error.to_string();
    let code = if error.is_unsupported() { Code::Unsupported { message } } else { other(message) };
    code.into()
}
