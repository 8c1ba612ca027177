//! Etalon's engines as backends.
use super::{Backend, BackendError, Capabilities, Code, LoadedModule, Result};
use collectives::{RunError, Session};
use hlo::{Literal, Verified};
use interp::{CompileOptions, DeviceGrid, Engine, RunOptions};
use std::sync::Arc;
use std::time::Duration;

/// An engine of this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineBackend(pub Engine);

/// An engine of this crate whose executions end after a number of steps or a time, for modules that
/// may not terminate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitedEngine {
    /// The engine.
    pub engine: Engine,
    /// The most steps of a device.
    pub fuel: u64,
    /// The most bytes of arguments, values, and what ops work in.
    pub max_memory: usize,
    /// The most time for one execution.
    pub time_limit: Option<Duration>,
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
        let Self { engine, fuel, max_memory, time_limit } = *self;
        let options = move || {
            let mut options = RunOptions::default().fuel(fuel).max_memory(max_memory);
            options.time_limit = time_limit;
            options
        };
        compile(engine, module, grid, options)
    }
}

fn compile(
    engine: Engine,
    module: &Arc<Verified>,
    grid: DeviceGrid,
    options: impl Fn() -> RunOptions + Send + 'static,
) -> Result<Box<dyn LoadedModule>> {
    let compile_options = CompileOptions::default().engine(engine).limits_of(&options());
    let session = Session::compile_for(Arc::clone(module), grid, &compile_options);
    let rejected = |message| Code::Rejected { message };
    let session = session.map_err(|error| converted(&error, rejected))?;
    let parameters = module.module().entry().program_shape().parameters.len();
    let donates = (0..).take(parameters).any(|number| module.module().config.is_donated(number));
    Ok(Box::new(LoadedEngine { session, options, donates }))
}

/// A compiled module, and the options of each run.
struct LoadedEngine<F> {
    session: Session,
    options: F,
    /// Whether the module takes the memory of arguments.
    donates: bool,
}

/// Returns an array in memory of its own.
fn unshared(argument: &Literal) -> Literal {
    let mut argument = argument.clone();
    argument.bytes_mut();
    argument
}

impl<F: Fn() -> RunOptions + Send> LoadedModule for LoadedEngine<F> {
    fn execute(&mut self, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>> {
        let options = (self.options)();
        let output = match self.donates {
            true => {
                let own = arguments.iter().map(|all| all.iter().map(unshared).collect());
                let hooks = options.hooks.clone();
                self.session.run_donated(own.collect(), &options, move |_| hooks.clone())
            }
            false => self.session.run(arguments, &options),
        };
        let failed = |error: RunError| match options.time_limit {
            Some(limit) if error.number() == "E0412" => {
                let (seconds, stderr) = (limit.as_secs_f64(), format!(": {error}"));
                Code::TimedOut { seconds, stderr }.into()
            }
            _ => converted(&error, |message| Code::Failed { message }),
        };
        Ok(output.map_err(failed)?.results)
    }
}

fn converted(error: &RunError, other: impl FnOnce(String) -> Code) -> BackendError {
    let message = error.to_string();
    let code = if error.is_unsupported() { Code::Unsupported { message } } else { other(message) };
    code.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo::Module;

    #[test]
    fn executions_end_in_time() {
        let text = "t { p = s32[] parameter(0) ROOT t = pred[] constant(true) }
          b { ROOT p = s32[] parameter(0) }
          ENTRY e { z = s32[] constant(0) ROOT r = s32[] while(z), condition=t, body=b }";
        let module = Arc::new(Module::parse(text).unwrap().verify().unwrap());
        let time_limit = Some(Duration::from_millis(50));
        let mut engine = LimitedEngine {
            engine: Engine::Exact,
            fuel: u64::MAX,
            max_memory: usize::MAX,
            time_limit,
        };
        let grid = DeviceGrid { replicas: 1, partitions: 1 };
        let mut loaded = engine.compile(&module, grid).unwrap();
        let error = loaded.execute(&[Vec::new()]).unwrap_err();
        assert!(matches!(error.code(), Code::TimedOut { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("no answer within 0.05 seconds: error[E0412]"), "{text}");
    }
}
