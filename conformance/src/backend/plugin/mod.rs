//! PJRT plugins, in this process or in one that is restarted after a death.
//!
//! ```text
//! Plugin ── in process ──> pjrt::Client
//!    └───── isolated ────> Parent ── messages through pipes ──> serve() in a child ──> pjrt::Client
//! ```
mod boundary;
mod connection;
mod host;
mod module;
mod protocol;
#[cfg(test)]
mod tests;

pub use host::serve;

use super::parent::{IsolatedModule, Parent, ProcessLimits, lock};
use super::{Backend, BackendError, Capabilities, Code, LoadedModule, Result, check_devices};
use connection::{Connection, HostStart};
use hlo::{Literal, Verified};
use interp::DeviceGrid;
use module::Prepared;
use pjrt::{Client, Executable, OptionValue, Status};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The options of a plugin.
#[derive(Debug, Clone)]
pub struct PluginOptions {
    /// Options of the client, such as `cpu_device_count`.
    pub client: Vec<(String, OptionValue)>,
    /// Options of the compiler, such as `xla_backend_optimization_level`.
    pub xla: Vec<(String, OptionValue)>,
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
            time_limit: Duration::from_secs(60),
            start_limit: Duration::from_secs(60),
            modules_per_process: 500,
            bytes_per_process: 4 << 30,
        }
    }
}

impl PluginOptions {
    fn parent(self, path: &Path, host: Command) -> Parent<Connection> {
        let limits = ProcessLimits {
            time: self.time_limit,
            start: self.start_limit,
            modules: self.modules_per_process,
            bytes: self.bytes_per_process,
        };
        let path = path.display().to_string();
        Parent::new(HostStart { path, host, options: self.client }, limits)
    }
}

/// A plugin with the PJRT C API.
#[derive(Debug)]
pub struct Plugin {
    path: String,
    platform: String,
    devices: usize,
    xla: Vec<(String, OptionValue)>,
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
        let client = pjrt::Plugin::load(path).and_then(|plugin| plugin.create(&options.client));
        let client =
            client.map_err(|e| BackendError::from(Code::NotStarted { message: e.to_string() }))?;
        let (platform, devices) = (client.platform().to_owned(), client.devices());
        let path = path.display().to_string();
        Ok(Self {
            path,
            platform,
            devices,
            xla: options.xla,
            runner: PluginRunner::InProcess(client),
        })
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
        let xla = options.xla.clone();
        let mut parent = options.parent(path, host);
        let (platform, devices) = parent.start()?;
        let path = path.display().to_string();
        let runner = PluginRunner::Isolated(Arc::new(Mutex::new(parent)));
        Ok(Self { path, platform, devices, xla, runner })
    }
}

impl Backend for Plugin {
    fn name(&self) -> String {
        let file = self.path.rsplit(['/', '\\']).next().unwrap_or(&self.path);
        format!("{} ({file})", self.platform)
    }
    fn capabilities(&self) -> Capabilities {
        let isolated = matches!(self.runner, PluginRunner::Isolated(_));
        Capabilities { devices: Some(self.devices), isolated }
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>> {
        let help = "XLA:CPU has as many devices as its option `cpu_device_count` says";
        check_devices(&self.platform, self.devices, grid).map_err(|e| e.with_help(help))?;
        let prepared = Prepared::new(module, grid, &self.xla)?;
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
