//! HLO: intermediate representation, text format, checks.
pub mod diag;
pub mod elem;
mod id;
pub mod ir;
mod layout;
pub mod literal;
pub mod op;
mod scalar;
mod shape;
mod text;
mod verify;

pub use diag::{Errors, Result, Span};
pub use elem::{Class, ElementType};
pub use id::{Arena, Id, SecondaryMap};
pub use ir::{Module, ParseOptions};
pub use layout::{Dims, Layout, LayoutTail, SplitConfig, Tile};
pub use literal::{ConstantValue, Literal};
pub use op::{Op, Opcode};
pub use scalar::Scalar;
pub use shape::{ArrayShape, Shape};
pub use text::print::Style;
pub use verify::Verified;

/// Why a text is not a module, or a module is not well formed.
pub type Error = diag::Error<diag::Code>;
