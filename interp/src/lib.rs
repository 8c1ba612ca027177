//! Runs HLO modules.
//!
//! ```text
//! hlo::Verified ──> Interpreter ──> Machine: frames, fuel ──> reference: one function for each op ──> Literal
//! ```
//!
//! The reference engine is the executable specification: every op is a page that follows the specification's words,
//! over elements in wide form ([`hlo::Scalar`]), with arithmetic from [`num`].
//!
//! ```
//! use hlo::{Literal, Module};
//! let text = "HloModule m\nENTRY e { p = f32[3] parameter(0) ROOT r = f32[3] add(p, p) }";
//! let verified = Module::parse(text).unwrap().verify().unwrap();
//! let input: Literal = "f32[3] {1, 2, 3}".parse().unwrap();
//! let result = interp::Interpreter::new(&verified).run(&[input]).unwrap();
//! assert_eq!(result.to_string(), "f32[3]{0} {2, 4, 6}");
//! ```
mod block;
mod check_nan;
pub mod collective;
mod context;
mod control;
mod custom;
mod device;
mod error;
mod hooks;
mod host;
mod index;
mod interpreter;
mod kernel;
mod machine;
pub mod num;
mod observe;
mod scalar_program;
mod scan;
mod spec;
mod table;
mod team;

pub use device::{Device, Grid};
pub use error::{Code, Error};
pub use hooks::{Call, Hooks};
pub use interpreter::{Engine, Interpreter, Options};
pub use machine::{Machine, Position, Request, Step};
pub use observe::Event;
pub use team::Team;

/// Result of everything in this crate.
pub type Result<T> = std::result::Result<T, Error>;
