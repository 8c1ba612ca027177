//! Build HLO from Rust: `XlaBuilder`'s surface, numbers beside values, closures for computations.
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
mod annotations;
mod build;
mod builder;
mod computation;
mod elementwise;
mod error;
pub(crate) mod grad;
mod implicit;
mod literal;
pub mod math;
mod operand;
mod operators;
mod ops;
mod state;
mod value;

pub use annotations::Scope;
pub use builder::Builder;
pub use computation::Computation;
pub use elementwise::{BINARY, UNARY};
pub use error::{Code, Error, Result, explain};
pub use literal::{Element, IntoLiteral, Nested};
pub use operand::{Along, Operand};
pub use state::IntoShape;
pub use value::Value;
