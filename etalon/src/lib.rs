//! Etalon: a reference backend for XLA's HLO.
//!
//! This is the crate to depend on. It re-exports the parts of Etalon as modules:
//!
//! ```text
//! text ────┐
//!          ├─> hlo::Module ─verify─> hlo::Verified ─compile─> Session ─run─> RunOutput
//! builder ─┘        │
//!                   └─print─> text
//! ```
//!
//! | module | purpose |
//! |---|---|
//! | [`load`](mod@load) | reads a module's file, whatever its format is |
//! | [`hlo`] | reads, prints and verifies modules; shapes, element types, literals |
//! | [`builder`] | builds modules in Rust, with gradients |
//! | [`stablehlo`] | reads StableHLO programs, text and bytecode, into modules, and writes modules as such text |
//! | [`interp`] | runs a verified module on one device |
//! | [`collectives`] | runs a verified module on many devices, in one process or through MPI |
//! | [`conformance`] | runs file tests and compares results within bounds |
//!
//! Guides: [building modules](https://github.com/etalon-hlo/etalon/blob/main/docs/builder.md),
//! [how libraries broadcast](https://github.com/etalon-hlo/etalon/blob/main/docs/broadcasting.md),
//! [custom calls](https://github.com/etalon-hlo/etalon/blob/main/docs/custom-calls.md),
//! [many devices](https://github.com/etalon-hlo/etalon/blob/main/docs/devices.md),
//! [StableHLO](https://github.com/etalon-hlo/etalon/blob/main/docs/stablehlo.md).
//!
//! # Parse, verify, compile, run
//!
//! ```
//! use etalon::hlo;
//! use etalon::{CompileOptions, RunOptions, Session};
//!
//! let text = "HloModule m\nENTRY e { p = f32[3] parameter(0) ROOT r = f32[3] add(p, p) }";
//! let verified = hlo::Module::parse(text)?.verify()?;
//! let input: hlo::Literal = "f32[3] {1, 2, 3}".parse()?;
//! let session = Session::compile(verified, &CompileOptions::default())?;
//! let output = session.run(&[vec![input]], &RunOptions::default())?;
//! assert_eq!(output.results[0].to_string(), "f32[3]{0} {2, 4, 6}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Parsing returns every error in an instruction; [`hlo::Module::verify`] returns every rule that the module breaks.
//!
//! # Load, run
//!
//! ```
//! use etalon::{CompileOptions, RunOptions, Session, load};
//!
//! let program = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
//!   %y = stablehlo.add %x, %x : tensor<2xf32>
//!   return %y : tensor<2xf32>
//! }";
//! // A path is read as bytes are; the format is recognized by content.
//! let loaded = load(program.as_bytes(), &load::Options::default())?;
//! let session = Session::compile(loaded.module.verify()?, &CompileOptions::default())?;
//! let output = session.run(&[vec!["f32[2] {1, 2}".parse()?]], &RunOptions::default())?;
//! assert_eq!(output.results[0].to_string(), "f32[2]{0} {2, 4}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Build, run
//!
//! ```
//! use etalon::{builder::Builder, interp};
//!
//! let b = Builder::new("square");
//! let x = b.parameter(0, "f32[3]", "x");
//! let sum = (x * x).reduce(0.0, |a, c| a + c, &[0]);
//! let gradient = b.grad(sum, &[x])[0];
//! let verified = b.build(gradient)?;
//! let result = interp::run(&verified, &["f32[3] {1, 2, 3}".parse()?])?;
//! assert_eq!(result.to_string(), "f32[3]{0} {2, 4, 6}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! | feature | effect |
//! |---|---|
//! | `jit`, by default | loops over scalars become machine code: 20 times as fast |
//! | `rustfft`, by default | the engine `fast` transforms lines by the crate `rustfft` |
//! | `faer` | the engine `fast` decomposes large matrices by the crate `faer`: two minutes more to build |
//! | `mpi` | runs that span processes: [MPI](https://github.com/etalon-hlo/etalon/blob/main/docs/mpi.md) |
//!
//! # Debug builds
//!
//! Cargo's profile `dev` does not optimize, and a run then takes 15 to 90 times as long. Optimize what your program depends on, in its
//! `Cargo.toml`; the program itself is compiled as before:
//!
//! ```toml
//! [profile.dev.package."*"]
//! opt-level = 3
//! ```
#[doc(no_inline)]
pub use ::load::{self, Loaded, load};
#[doc(no_inline)]
pub use {builder, collectives, conformance, hlo, interp, stablehlo};

pub use collectives::{RunError, RunOutput, Session};
pub use interp::{CompileOptions, Device, DeviceGrid, Engine, Hooks, RunOptions};

/// The programs of the README and of the guides, which run as tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../docs/builder.md")]
    struct Building;
    #[doc = include_str!("../../docs/custom-calls.md")]
    struct CustomCalls;
    #[doc = include_str!("../../docs/devices.md")]
    struct Devices;
    #[doc = include_str!("../../docs/mpi.md")]
    struct Mpi;
    #[doc = include_str!("../../docs/proto.md")]
    struct Proto;
    #[doc = include_str!("../../docs/spmd.md")]
    struct Spmd;
    #[doc = include_str!("../../docs/stablehlo.md")]
    struct StableHlo;
    #[doc = include_str!("../../docs/suite.md")]
    struct Suite;
}
