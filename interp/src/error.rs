//! Why a run did not give a result.
use hlo::Span;
use hlo::diag::{Diagnostic, Level, Place};
use std::fmt;

hlo::error_codes! {
    /// What went wrong at run time.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub enum Code {
        /// The arguments do not fit the entry computation's parameters: their number, their types or their sizes.
        "E0401" "{message}"
        Invalid { message: String },
        /// Etalon does not implement this yet. This is not a bug in your module.
        "E0402" "{message}"
        Unsupported { message: String },
        /// The constant's values were left out of the text (`constant({...})`), so nothing can be computed from them.
        ///
        /// Dump the module with large constants printed, for instance with
        /// `XLA_FLAGS=--xla_dump_large_constants=true`.
        "E0403" "constant `{name}` was elided: its values are not in the text"
        Elided { name: String },
        /// The run took more steps than `--fuel` allows.
        "E0404" "out of fuel after {steps} steps"
        OutOfFuel { steps: u64 },
        /// A value would take more memory than `--max-memory` allows, or than can be addressed.
        "E0405" "{message}"
        OutOfMemory { message: String },
        /// Computations call each other deeper than the engine follows.
        "E0406" "calls nested deeper than {limit} levels"
        TooDeep { limit: usize },
        /// An instruction waits for a value that nobody gives it, or has one that nobody takes: the `infeed` or
        /// `outfeed` queue is not there, empty or full, or nothing was sent on the channel of a `recv`.
        ///
        /// Queues are given to the engine from Rust, as `Hooks`; the command has none.
        "E0407" "{message}"
        Starved { message: String },
        /// A value the program computed has no meaning for the instruction that uses it.
        "E0408" "{message}"
        Trap { message: String },
        /// An instruction made a NaN or an infinity although all its operands were finite, and the run was asked to stop
        /// at the first that does.
        "E0409" "{message}"
        NotFinite { message: String },
        /// A shared library with functions for custom calls cannot be loaded: it is not there, it is made for another
        /// machine, or something that it needs is missing.
        "E0410" "library `{path}` cannot be loaded: {message}"
        Library { path: String, message: String },
        /// A custom call gave something else than the module says: another shape, or nothing.
        ///
        /// The function that was registered for the target, or the module, is wrong.
        "E0411" "custom call `{target}` gave {found}, the module states {wanted}"
        CustomCallResult { target: String, found: String, wanted: String },
        /// A mistake in Etalon. Please report it, with the module.
        "E0499" "internal error: {message}"
        Internal { message: String },
    }
}

/// The explanation of an error number of this crate.
pub fn explain(number: &str) -> Option<&'static str> {
    Code::EXPLANATIONS.iter().find(|(n, _)| *n == number).map(|(_, text)| *text)
}

/// Why a run did not give a result, and at which instruction.
#[derive(Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Inner {
    code: Code,
    span: Option<Span>,
    instruction: Option<String>,
    help: Option<String>,
}

impl From<Code> for Error {
    #[cold]
    fn from(code: Code) -> Self {
        Self(Box::new(Inner { code, span: None, instruction: None, help: None }))
    }
}

impl Error {
    /// What happened.
    pub fn code(&self) -> &Code {
        &self.0.code
    }
    /// Where, if the text is known.
    pub fn span(&self) -> Option<Span> {
        self.0.span
    }
    /// The instruction at which it happened: `computation/name`.
    pub fn instruction(&self) -> Option<&str> {
        self.0.instruction.as_deref()
    }
    /// Sets the place, unless a more exact one is known.
    #[must_use]
    pub(crate) fn at(mut self, span: Span, instruction: impl FnOnce() -> String) -> Self {
        self.0.span.get_or_insert(span);
        self.0.instruction.get_or_insert_with(instruction);
        self
    }
    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help.get_or_insert_with(|| help.into());
        self
    }
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::from(Code::Unsupported { message: message.into() })
            .with_help("this is not a bug in your module")
    }
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Code::Internal { message: message.into() }.into()
    }
    /// The error in the form the renderer takes.
    pub fn diagnostic(&self) -> Diagnostic {
        let Inner { code, span, instruction: _, help } = &*self.0;
        Diagnostic {
            level: Level::Error,
            code: code.number(),
            message: code.to_string(),
            span: *span,
            place: Place::Whole,
            labels: Vec::new(),
            help: help.clone(),
        }
    }
}
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}", self.0.code.number(), self.0.code)?;
        match &self.0.instruction {
            Some(name) => write!(f, " (at `{name}`)"),
            None => Ok(()),
        }
    }
}
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
impl std::error::Error for Error {}
