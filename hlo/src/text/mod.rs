//! HLO text: parser and printer.
mod asynchronous;
pub(crate) mod balanced;
pub(crate) mod common;
mod computation;
mod cursor;
mod frames;
pub(crate) mod grammar;
pub(crate) mod header;
mod instruction;
pub(crate) mod literal;
mod module;
pub(crate) mod names;
pub(crate) mod number;
pub(crate) mod print;
mod recovery;
pub(crate) mod shape;
pub(crate) mod strings;

pub use print::Style;

pub(crate) use balanced::is_value;
pub(crate) use cursor::{Cursor, is_name};
pub(crate) use module::{Parser, is_single_op, parse};
