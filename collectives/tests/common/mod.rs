//! What all these tests need: a text run on its devices.
use collectives::{Result, World};
use hlo::{Literal, Module, Verified};

/// The module, which must be right.
pub(crate) fn verified(text: &str) -> Verified {
    let module = Module::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    module.verify().unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// The result of each device of the module's own grid.
pub(crate) fn run(text: &str, inputs: &[Vec<Literal>]) -> Result<Vec<Literal>> {
    World::new(&verified(text)).run(inputs)
}
