//! PJRT plugins, in this process or in one that is restarted after a death.
//!
//! ```text
//! Plugin ── in process ──> pjrt::Client
//!    └───── isolated ────> Parent ── messages through pipes ──> serve() in a child ──> pjrt::Client
//! ```
mod boundary;
mod connection;
mod hello;
mod host;
mod module;
mod protocol;
#[cfg(test)]
mod tests;

pub use host::serve;

use super::parent::{IsolatedModule, Parent, ProcessLimits, lock};
use super::{
    About, Backend, BackendError, Capabilities, Code, LoadedModule, Result, check_devices,
};
use connection::{Connection, HostStart};
use hello::PluginHello;
use hlo::{Literal, Module, Verified};
use interp::DeviceGrid;
use module::{Prepared, ProgramForm};
use pjrt::{Client, Executable, OptionValue, Status};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The format in which a plugin gets programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PluginFormat {
    /// `Hlo` if the plugin compiles a module of one op in that format, `Mlir` if in that one only.
    #[default]
    Auto,
    /// `HloModuleProto`.
    Hlo,
    /// Portable bytecode of StableHLO, of the version that the plugin states.
    Mlir,
}

/// The options of a plugin.
#[derive(Debug, Clone)]
pub struct PluginOptions {
    /// Options of the client, such as `cpu_device_count`.
    pub client: Vec<(String, OptionValue)>,
    /// Options of the compiler, such as `xla_backend_optimization_level`.
    pub xla: Vec<(String, OptionValue)>,
    /// The format of programs.
    pub format: PluginFormat,
    /// The most time for one compilation or one execution, in a process of its own.
    pub time_limit: Duration,
    /// The most time to load and to create a client, in a process of its own.
    pub start_limit: Duration,
    /// The number of modules after which a process of its own is replaced by a new one, which
    /// bounds leaks.
    pub modules_per_process: usize,
    /// The resident memory from which a process of its own is replaced by a new one before the next
    /// module.
    pub bytes_per_process: usize,
}

impl Default for PluginOptions {
    fn default() -> Self {
        Self {
            client: Vec::new(),
            xla: Vec::new(),
            format: PluginFormat::Auto,
            time_limit: Duration::from_secs(60),
            start_limit: Duration::from_secs(60),
            modules_per_process: 500,
            bytes_per_process: 4 << 30,
        }
    }
}

impl PluginOptions {
    fn parent(&self, path: &Path, host: Command) -> Parent<Connection> {
        let limits = ProcessLimits {
            time: self.time_limit,
            start: self.start_limit,
            modules: self.modules_per_process,
            bytes: self.bytes_per_process,
        };
        let path = path.display().to_string();
        Parent::new(HostStart { path, host, options: self.client.clone() }, limits)
    }
}

/// A plugin with the PJRT C API.
#[derive(Debug)]
pub struct Plugin {
    path: String,
    hello: PluginHello,
    options: PluginOptions,
    form: ProgramForm,
    runner: PluginRunner,
}

/// Where the plugin runs.
#[derive(Debug)]
enum PluginRunner {
    InProcess(Client),
    Isolated(Arc<Mutex<Parent<Connection>>>),
}

impl Plugin {
    /// Loads a plugin into this process, where it stays. An abort of the plugin ends this process,
    /// and there is no time limit.
    ///
    /// # Errors
    /// `E0706` if the plugin cannot be loaded or does not create a client.
    pub fn in_process(path: &Path, options: PluginOptions) -> Result<Self> {
        let (client, hello) = PluginHello::load(path, &options.client)
            .map_err(|e| BackendError::from(Code::NotStarted { message: e.to_string() }))?;
        Self::new(path, hello, options, PluginRunner::InProcess(client))
    }
    /// Loads a plugin into a process of its own, which is restarted after a death. `host` is a
    /// command that calls [`serve`], such as `etalon pjrt-host`.
    ///
    /// ```no_run
    /// use conformance::backend::{Plugin, PluginOptions};
    /// let mut host = std::process::Command::new("etalon");
    /// host.arg("pjrt-host");
    /// let plugin = Plugin::isolated("xla_cpu_pjrt.so".as_ref(), host, PluginOptions::default())?;
    /// # Ok::<(), conformance::backend::BackendError>(())
    /// ```
    ///
    /// # Errors
    /// `E0706` if the process cannot be started, or the plugin cannot be loaded or does not create
    /// a client.
    pub fn isolated(path: &Path, host: Command, options: PluginOptions) -> Result<Self> {
        let mut parent = options.parent(path, host);
        let hello = parent.start()?;
        let runner = PluginRunner::Isolated(Arc::new(Mutex::new(parent)));
        Self::new(path, hello, options, runner)
    }
    fn new(
        path: &Path,
        hello: PluginHello,
        options: PluginOptions,
        runner: PluginRunner,
    ) -> Result<Self> {
        let (path, target) = (path.display().to_string(), hello.target());
        let mut plugin = Self { path, hello, options, form: ProgramForm::Hlo, runner };
        match (plugin.options.format, target) {
            (PluginFormat::Hlo, _) | (PluginFormat::Auto, Err(_)) => {}
            (PluginFormat::Mlir, Err(message)) => return Err(Code::NotStarted { message }.into()),
            (PluginFormat::Mlir, Ok(target)) => plugin.form = ProgramForm::Mlir(target),
            (PluginFormat::Auto, Ok(target)) => {
                let forms = [ProgramForm::Hlo, ProgramForm::Mlir(target)];
                let taken = forms.into_iter().find(|&form| plugin.takes(form));
                plugin.form = taken.unwrap_or(ProgramForm::Hlo);
                // Messages of a refused format belong to no module.
                plugin.take_warnings();
            }
        }
        Ok(plugin)
    }
    /// Returns whether the plugin compiles a module that every plugin compiles in a format that it
    /// knows. Errors tell less: some plugins take any bytes for text of MLIR.
    fn takes(&self, form: ProgramForm) -> bool {
        const PROBE: &str =
            "HloModule probe\nENTRY e { x = f32[8] parameter(0) ROOT r = f32[8] add(x, x) }";
        let module = Module::parse(PROBE).ok().and_then(|module| module.verify().ok());
        let grid = DeviceGrid { replicas: 1, partitions: 1 };
        module.is_some_and(|module| self.load(&module, grid, form).is_ok())
    }
    fn load(
        &self,
        module: &Verified,
        grid: DeviceGrid,
        form: ProgramForm,
    ) -> Result<Box<dyn LoadedModule>> {
        let prepared = Prepared::new(module, grid, form, &self.options.xla)?;
        match &self.runner {
            PluginRunner::InProcess(client) => {
                let executable = client.compile(&prepared.program);
                let rejected = |message| Code::Rejected { message };
                let executable = executable.map_err(|e| converted(&e, rejected))?;
                Ok(Box::new(InProcessModule { prepared, executable }))
            }
            PluginRunner::Isolated(parent) => {
                Ok(Box::new(IsolatedModule::compile(parent, prepared)?))
            }
        }
    }
}

impl Backend for Plugin {
    fn name(&self) -> String {
        let file = self.path.rsplit(['/', '\\']).next().unwrap_or(&self.path);
        format!("{} ({file})", self.hello.platform)
    }
    fn capabilities(&self) -> Capabilities {
        let isolated = matches!(self.runner, PluginRunner::Isolated(_));
        Capabilities { devices: Some(self.hello.devices), isolated }
    }
    fn about(&self) -> About {
        let mut about = self.hello.about();
        let mut add = |name: &str, value| about.0.insert(name.to_owned(), value);
        add("format", self.form.name().to_owned());
        let PluginOptions { client, xla, .. } = &self.options;
        for (name, options) in [("options", client), ("xla_options", xla)] {
            let texts: Vec<String> =
                options.iter().map(|(name, value)| value.named(name)).collect();
            if !texts.is_empty() {
                add(name, texts.join(" "));
            }
        }
        about
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>> {
        let help = "XLA:CPU has as many devices as its option `cpu_device_count` says";
        check_devices(&self.hello.platform, self.hello.devices, grid)
            .map_err(|e| e.with_help(help))?;
        self.load(module, grid, self.form)
    }
    fn take_warnings(&mut self) -> Vec<String> {
        match &self.runner {
            PluginRunner::InProcess(_) => Vec::new(),
            PluginRunner::Isolated(parent) => lock(parent).take_warnings(),
        }
    }
}

/// A module in this process.
struct InProcessModule {
    prepared: Prepared,
    executable: Executable,
}

impl LoadedModule for InProcessModule {
    fn execute(&mut self, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>> {
        let arguments = self.prepared.arguments(arguments)?;
        let results = self.executable.execute(&arguments);
        let failed = |message| Code::Failed { message };
        self.prepared.results(results.map_err(|e| converted(&e, failed))?)
    }
}

/// Returns whether the error says that something is not implemented. XLA does not find the
/// functions of custom calls that it lacks, and rejects some element types as invalid, with words
/// that say more than the status.
fn is_unsupported(error: &pjrt::Error) -> bool {
    let pjrt::Error::Plugin { status, message, .. } = error else {
        return matches!(error, pjrt::Error::Unsupported(_));
    };
    let message = message.to_ascii_lowercase();
    [Status::UNIMPLEMENTED, Status::NOT_FOUND].contains(status)
        || ["unsupported", "not supported", "does not support", "unknown opcode"]
            .iter()
            .any(|w| message.contains(w))
}

fn converted(error: &pjrt::Error, other: impl FnOnce(String) -> Code) -> BackendError {
    let message = error.to_string();
    let code = if is_unsupported(error) { Code::Unsupported { message } } else { other(message) };
    code.into()
}
