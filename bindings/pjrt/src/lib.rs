//! A host for plugins with the PJRT C API, such as those of XLA for CPU and GPU.
//!
//! ```text
//! Plugin::load(path) ─create─> Client ─compile(Program)─> Executable ─execute(arguments)─> results of each device
//! ```
//!
//! [`host`] is the safe interface; [`sys`] declares the structs and functions of the C API, for it and for the plugin. A plugin runs in
//! this process: if it aborts, so does the process.
//!
//! ```no_run
//! use pjrt::{Plugin, Program};
//! let client = Plugin::load("xla_cpu_pjrt.so".as_ref())?.create(&[])?;
//! let program = Program { format: "mlir".to_owned(), code: std::fs::read("add.mlirbc")?, ..Program::default() };
//! let executable = client.compile(&program)?;
//! let x = "f32[2] {1, 2}".parse::<hlo::Literal>()?;
//! let results = executable.execute(&[vec![x.clone(), x]])?;
//! println!("{}", results[0][0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
pub mod buffer_type;
pub mod compile_options;
pub mod host;
pub mod sys;

pub use host::{Client, Error, Executable, OptionValue, Plugin, Program, Status};
