//! Backends: whatever compiles and executes modules.
//!
//! ```text
//!                       ┌─ EngineBackend    Etalon's engines
//!                       ├─ PlantedBackend   another backend, with wrong results of one op
//!                       ├─ VariantBackend   another backend, with other legal results
//!                       ├─ JudgedBackend    another backend, judged by other options
//! Backend ─ compile ─> ─┼─ Plugin           a PJRT plugin, in a process of its own or in this one
//!    │                  ├─ ServerBackend    a command that answers requests
//!    │                  └─ CommandBackend   a command that reads and writes files
//!    └── LoadedModule ─ execute ─> the result of each device
//! ```
//!
//! ```
//! use conformance::Engine;
//! use conformance::backend::{Backend, EngineBackend};
//! use interp::DeviceGrid;
//! use std::sync::Arc;
//!
//! let text = "HloModule twice\nENTRY e { x = s8[2] parameter(0) ROOT r = s8[2] add(x, x) }";
//! let module = Arc::new(hlo::Module::parse(text)?.verify()?);
//! let mut backend: Box<dyn Backend> = Box::new(EngineBackend(Engine::Exact));
//! let grid = DeviceGrid { replicas: 1, partitions: 1 };
//! let mut loaded = backend.compile(&module, grid)?;
//! let results = loaded.execute(&[vec!["s8[2] {1, 127}".parse()?]])?;
//! assert_eq!(results[0].to_string(), "s8[2]{0} {2, -2}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod about;
mod backends;
mod channel;
mod child;
mod command;
mod custom_calls;
mod death;
mod engine;
mod error;
mod format;
mod judged;
mod message;
mod parent;
mod planted;
mod plugin;
mod process;
mod server;
mod system;
mod variant;

pub use about::About;
pub use backends::Backends;
pub use command::CommandBackend;
pub(crate) use command::{shell, write_arguments};
pub use custom_calls::{IsolatedLibrary, serve_custom_calls};
pub use death::Death;
pub use engine::{EngineBackend, LimitedEngine};
pub use error::{BackendError, Code};
pub use judged::JudgedBackend;
pub use planted::PlantedBackend;
pub use plugin::{Plugin, PluginFormat, PluginOptions, serve};
pub use server::{ServerBackend, ServerOptions};
pub use variant::VariantBackend;
pub(crate) use variant::{Edit, reducers};

pub use pjrt::OptionValue;

use crate::judge::JudgeOptions;
use hlo::diag::quantity;
use hlo::{Literal, Module, Verified};
use interp::DeviceGrid;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

type Result<T, E = BackendError> = std::result::Result<T, E>;

/// A compiler and runtime of HLO modules.
pub trait Backend: Send {
    /// Returns the name that reports show, such as `exact` or `cpu (plugin.so)`.
    fn name(&self) -> String;
    /// Returns what the backend can do.
    fn capabilities(&self) -> Capabilities;
    /// Returns what reports say of the backend besides its name: its versions and its options.
    fn about(&self) -> About {
        About::default()
    }
    /// Returns what a judge knows of the backend: the accuracy that it states, and the modes that
    /// are legal. Results that need a mode are labeled.
    fn judging(&self) -> JudgeOptions {
        JudgeOptions::default()
    }
    /// Compiles a module for these devices. The compiled module is independent of the backend: a
    /// caller may hold several.
    ///
    /// # Errors
    /// `E0701` or `E0702` if the backend does not compile the module; `E0704` to `E0706` if it
    /// died, hangs or cannot be started.
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>>;
    /// Returns the flag that ends a search with this backend, if the caller may set one.
    fn interrupt(&self) -> Option<Arc<AtomicBool>> {
        None
    }
    /// Returns warnings since the last call that belong to no single module, such as a process that
    /// died for an unknown reason.
    fn take_warnings(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// The capabilities of a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// The number of devices; `None` for any number.
    pub devices: Option<usize>,
    /// Whether the death of the backend leaves this process alive.
    pub isolated: bool,
}

/// A module that a backend compiled.
pub trait LoadedModule: Send {
    /// Executes the module. `arguments` has the arguments of each device, numbered
    /// `replica * partitions + partition`, or a single list for all devices. Returns the result of
    /// each device, a tuple if the module has one.
    ///
    /// # Errors
    /// `E0701` or `E0703` if there is no result; `E0704` to `E0706` if the backend died, hangs or
    /// cannot be started.
    fn execute(&mut self, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>>;
}

/// Compiles another module than was asked for.
fn compile_instead(
    backend: &mut dyn Backend,
    module: std::result::Result<Module, String>,
    grid: DeviceGrid,
) -> Result<Box<dyn LoadedModule>> {
    let verified = module.and_then(|module| module.verify().map_err(|errors| errors.to_string()));
    let verified = verified.map_err(|message| Code::Rejected { message })?;
    backend.compile(&Arc::new(verified), grid)
}

/// Rejects a module that needs more devices than a backend has.
fn check_devices(name: &str, devices: usize, grid: DeviceGrid) -> Result<()> {
    let needed = grid.len();
    if needed <= devices {
        return Ok(());
    }
    let message = format!("the module needs {}, {name} has {devices}", quantity(needed, "device"));
    Err(Code::Unsupported { message }.into())
}

/// Returns the module with the devices of a run in its header.
fn for_grid(module: &Verified, grid: DeviceGrid) -> Module {
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let mut module = module.module().clone();
    module.config.replica_count = count(grid.replicas);
    module.config.num_partitions = count(grid.partitions);
    module
}
