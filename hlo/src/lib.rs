//! HLO: intermediate representation, text format, verifier.
//!
//! ```text
//! text ──parse──> Module ──verify──> Verified ──> engines
//!                   │ ^
//!                   └─┴─print, edit
//! ```
//!
//! - [`Module::parse`] checks syntax and names, and returns every error that does not follow from
//!   another. [`Module::print`] prints the same text as XLA.
//! - [`Module::verify`] checks everything else, and returns every broken rule. Engines accept only
//!   [`Verified`] modules.
//! - [`Error`] has a code with a stable number; [`diag::render`] shows it with the line of the
//!   text.
//!
//! | module | contents |
//! |---|---|
//! | [`ir`] | modules, computations, instructions, shardings, metadata |
//! | [`op`] | the opcodes, their attributes and shape rules |
//! | [`literal`] | values of arrays and tuples, `.npz` files |
//! | [`elem`] | element types and their bit formats |
//! | [`diag`] | errors and diagnostics, shared by all crates |
//!
//! ```
//! let text = "HloModule m
//! ENTRY main {
//!   x = f32[2] parameter(0)
//!   ROOT y = f32[3] add(x, x)
//! }";
//! let errors = hlo::Module::parse(text)?.verify().unwrap_err();
//! let source = hlo::diag::Source { name: "m.hlo", text };
//! let shown = hlo::diag::render(&errors.0[0].diagnostic(), Some(source), false);
//! assert!(shown.starts_with("error[E0302]: expected `add` to have shape f32[2], found f32[3]"));
//! # Ok::<(), hlo::diag::Errors>(())
//! ```
#![warn(clippy::wildcard_enum_match_arm)]
pub mod diag;
pub mod elem;
pub mod id;
mod index;
pub mod ir;
pub mod layout;
pub mod literal;
pub mod op;
pub mod proto;
mod scalar;
mod shape;
pub mod text;
mod verify;

pub use diag::{Result, Span};
pub use elem::{Class, ElementType};
pub use index::IndexSpace;
pub use ir::Module;
pub use layout::Dims;
pub use literal::{Array, Literal};
pub use op::{Op, Opcode};
pub use scalar::Scalar;
pub use shape::{ArrayShape, Shape};
pub use verify::Verified;

/// An error in a text or a module.
pub type Error = diag::Error<diag::Code>;
