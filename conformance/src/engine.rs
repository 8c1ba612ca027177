//! Which engine runs a module.
use hlo::{Literal, Verified};

/// An engine of Etalon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Engine {
    /// The executable specification: slow and plain.
    #[default]
    Reference,
}

impl Engine {
    /// Runs a module.
    ///
    /// # Errors
    /// `E04xx`, as [`interp::Interpreter::run`].
    pub fn run(
        self,
        verified: &Verified,
        arguments: &[Literal],
        options: interp::Options,
        hooks: interp::Hooks,
    ) -> Result<Literal, interp::Error> {
        match self {
            Self::Reference => interp::Interpreter::with_options(verified, options)
                .with_hooks(hooks)
                .run(arguments),
        }
    }
}
