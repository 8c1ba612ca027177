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
//! | [`hlo`] | reads, prints and verifies modules; shapes, element types, literals |
//! | [`builder`] | builds modules in Rust, with gradients |
//! | [`stablehlo`] | reads StableHLO programs, text and bytecode, into modules |
//! | [`interp`] | runs a verified module on one device |
//! | [`collectives`] | runs a verified module on many devices, in one process or through MPI |
//! | [`conformance`] | runs file tests and compares results within bounds |
//! | [`guide`] | how to build modules, how libraries broadcast, custom calls |
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
//! Parsing stops at the first error in the text; [`hlo::Module::verify`] returns every rule that the module breaks.
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
#[doc(no_inline)]
pub use {builder, collectives, conformance, hlo, interp, stablehlo};

pub use collectives::{RunError, RunOutput, Session};
pub use interp::{CompileOptions, Device, DeviceGrid, Engine, Hooks, RunOptions};

/// The guides, whose programs run as tests.
pub mod guide {
    #[doc = include_str!("../docs/builder.md")]
    pub mod building {}
    #[doc = include_str!("../docs/broadcasting.md")]
    pub mod broadcasting {}
    #[doc = include_str!("../docs/custom-calls.md")]
    pub mod custom_calls {}
    #[doc = include_str!("../docs/stablehlo.md")]
    pub mod stablehlo {}
}

/// The examples of the README, compiled as tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../README.md")]
    struct Readme;
}
