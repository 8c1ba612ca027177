//! Compiles and runs HLO modules on one device.
//!
//! ```text
//! hlo::Verified ──compile──> Executable ──execute──> Literal
//!                                │
//!                                └──start──> Machine ──resume──> Done | Suspended
//! ```
//!
//! Three engines share one plan and one machine. [`Engine::Reference`] runs the specification, one
//! function of `spec` per op, over elements in wide form ([`hlo::Scalar`]); [`Engine::Exact`] runs
//! optimized kernels that are checked against it, and [`Engine::Fast`] the same kernels in the
//! arithmetic of the element types. All take their arithmetic from [`num`].
//!
//! ```
//! use hlo::{Literal, Module};
//! use interp::{CompileOptions, Executable, RunOptions};
//! let text = "HloModule m\nENTRY e { p = f32[3] parameter(0) ROOT r = f32[3] add(p, p) }";
//! let verified = Module::parse(text)?.verify()?;
//! let executable = Executable::compile(verified, &CompileOptions::default())?;
//! let input: Literal = "f32[3] {1, 2, 3}".parse()?;
//! let result = executable.execute(&[input], &RunOptions::default())?;
//! assert_eq!(result.to_string(), "f32[3]{0} {2, 4, 6}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(clippy::wildcard_enum_match_arm)]
mod analysis;
mod branch;
mod check_nan;
pub mod collective;
mod context;
pub mod cost;
mod custom;
mod custom_call;
mod device;
mod dynamic;
mod effects;
mod executable;
mod float_environment;
mod hooks;
mod host;
mod loops;
mod lower;
mod machine;
mod memory;
mod observe;
mod options;
mod plan;
mod position;
mod program;
mod rng;
mod scan;
mod scope;
mod state;
mod trip_count;
mod value;

pub use ::num;
pub use custom::{Call, CustomCallLibrary, Functions, Library, LibraryCall, is_annotation};
pub use device::{Device, DeviceGrid};
pub use executable::{Executable, run};
pub use float_environment::FloatEnvironment;
pub use hooks::Hooks;
pub use machine::{Machine, Outcome, asynchronous};
pub use memory::{Spill, SystemMemory};
pub use num::is_run_over;
pub use num::{Code, Error, Result, over_memory_limit};
pub use observe::{Event, Progress};
pub use options::{CompileOptions, Engine, RunOptions};
pub use plan::{PlanText, PlannedComputation, PlannedStep};
pub use position::{Position, Suspension};
pub use trip_count::trip_count;
pub use value::{AsyncId, Value};
