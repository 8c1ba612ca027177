//! Whole-module checks: every rule of every instruction, and what holds between them.
mod calls;
mod chains;
mod collectives;
mod shapes;
mod structure;

use crate::diag::Errors;
use crate::{Error, Module};

/// A module that has passed every check; the only thing the engines accept.
///
/// What it proves: operands stand before their users, parameters are numbered without gaps, no computation calls
/// itself, every stated shape is the one its op gives, and called computations fit their callers.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified(Module);

impl Verified {
    /// The module.
    pub fn module(&self) -> &Module {
        &self.0
    }
    /// The module, to change; it must then be verified again.
    pub fn into_module(self) -> Module {
        self.0
    }
}

/// Collects every broken rule.
pub(crate) fn verify(module: Module) -> Result<Verified, Errors> {
    let mut errors = Vec::new();
    structure::check(&module, &mut errors);
    if errors.is_empty() {
        calls::check(&module, &mut errors);
        shapes::check(&module, &mut errors);
        // What holds between instructions is told only of instructions that are right themselves.
        if errors.is_empty() {
            chains::check(&module, &mut errors);
            collectives::check(&module, &mut errors);
        }
    }
    if errors.is_empty() {
        return Ok(Verified(module));
    }
    errors.sort_by_key(|error: &Error| error.span().map_or(0, |span| span.start));
    Err(Errors(errors))
}
