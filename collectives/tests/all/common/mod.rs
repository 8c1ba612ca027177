//! Helpers of all these tests: running a text on its devices.
pub(crate) mod mode;
pub(crate) mod program;

use collectives::Result;
use hlo::{Literal, Module, Verified};
use program::Program;

/// Returns the verified module.
pub(crate) fn verified(text: &str) -> Verified {
    let module = Module::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    module.verify().unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// Returns the result of each device of the module's own grid.
pub(crate) fn run(text: &str, inputs: &[Vec<Literal>]) -> Result<Vec<Literal>> {
    Program::compile(&verified(text))?.run(inputs)
}
