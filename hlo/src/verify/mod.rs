//! The verifier: every rule of every instruction, and rules between instructions.
mod callees;
mod chains;
mod collectives;
mod header;
mod origins;
pub(crate) mod printable;
mod shapes;
mod shardings;
mod structure;

use crate::diag::Errors;
use crate::ir::Unverified;
use crate::{Error, Module};

/// A module that has passed every check; engines accept only verified modules.
///
/// It guarantees that operands come before their users, parameters are numbered without gaps, no
/// computation calls itself, every stated shape is the one its op has, and called computations fit
/// their callers.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified(Module);

/// The module's text.
impl std::fmt::Display for Verified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Verified {
    /// Returns the module.
    pub fn module(&self) -> &Module {
        &self.0
    }
    /// Returns the module by value; a changed module must be verified again.
    pub fn into_module(self) -> Module {
        self.0
    }
}

/// Collects every broken rule.
pub(crate) fn verify(module: Module) -> Result<Verified, Unverified> {
    let mut errors = Vec::new();
    structure::check(&module, &mut errors);
    printable::check(&module, &mut errors);
    if errors.is_empty() {
        let corrections = shapes::check(&module, &mut errors);
        header::check(&module, &corrections, &mut errors);
        // Rules between instructions are checked only if each instruction is correct by itself.
        if errors.is_empty() {
            callees::check(&module, &mut errors);
            chains::check(&module, &mut errors);
            collectives::check(&module, &mut errors);
            shardings::check(&module, &mut errors);
        }
    }
    if errors.is_empty() {
        return Ok(Verified(module));
    }
    errors.sort_by_key(|error: &Error| error.span().map_or(0, |span| span.start));
    let errors = errors.into_iter().map(|error| module.source.draw(error));
    let errors = Errors(errors.collect());
    Err(Unverified { module: Box::new(module), errors })
}
