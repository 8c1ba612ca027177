//! HLO: intermediate representation, text format, checks.
#![warn(clippy::wildcard_enum_match_arm)]
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

pub use diag::{Error, Errors, Result, Span};
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
