//! Construction of HLO modules: the functions of `XlaBuilder` as methods, with numbers as operands
//! and closures as computations.
//!
//! ```
//! use builder::Builder;
//! let b = Builder::new("linear");
//! let x = b.parameter(0, "f32[2,3]", "x");
//! let bias = b.parameter(1, "f32[3]", "bias");
//! let y = (x * 2.0 + bias.along(&[1])).tanh();
//! let module = b.build(y)?;
//! assert!(module.module().to_string().starts_with("HloModule linear"));
//! # Ok::<(), builder::Error>(())
//! ```
mod alias;
mod annotations;
mod arguments;
mod arrays;
mod build;
mod builder;
mod capture;
mod computation;
mod constants;
mod dead_code;
mod dynamic;
mod edits;
mod elementwise;
mod error;
pub(crate) mod grad;
mod implicit;
mod import;
mod known;
pub mod linalg;
mod literal;
mod loops;
mod marks;
pub mod math;
pub mod matrix;
pub mod nn;
mod operand;
mod operators;
mod ops;
pub mod options;
pub mod pooling;

mod program;
mod queries;
mod slicing;
mod sorting;
mod state;
mod torch;
mod value;

pub use annotations::Scope;
pub use builder::Builder;
pub use computation::Computation;
pub use elementwise::{BINARY, UNARY};
pub use error::{Code, Error, Result};
pub use grad::{Disconnected, GradOptions};
pub use literal::{Element, IntoLiteral, Nested};
pub use operand::{Along, Operand};
pub use ops::collectives::CollectiveOptions;
pub use ops::control::{Cases, Composite};
pub use ops::custom_call::CustomCallOptions;
pub use ops::exchange::RaggedExchange;
pub use ops::host::Channel;
pub use state::IntoShape;
pub use value::Value;

#[doc(no_inline)]
pub use hlo;
