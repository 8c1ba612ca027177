//! HLO text: parser and printer.
mod asynchronous;
mod attribute_name;
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
mod parser;
pub(crate) mod print;
mod recovery;
pub(crate) mod shape;
pub(crate) mod strings;
mod word;

pub use print::Style;

pub(crate) use balanced::is_raw;
pub(crate) use cursor::Cursor;
pub(crate) use module::parse;
pub(crate) use parser::Parser;
pub(crate) use word::is_name;
