//! The error codes of the builder.
use hlo::diag::{BrokenRule, Diagnostic, InvalidArgument, Unsupported};

hlo::error_codes! {
    /// An error in a call of the builder.
    pub enum Code {
        /// An argument is invalid, such as an axis that does not exist or a list of the wrong
        /// length.
        "E0801" "{message}"
        Argument { message: String },
        /// Shapes cannot be broadcast: the builder expands scalars and, in operands of the same
        /// rank, dimensions of size 1. Specify anything else with `along`. The functions of other
        /// systems have other rules: see docs/broadcasting.md.
        "E0802" "{message}"
        Broadcast { message: String },
        /// A value of another builder is used. Each builder makes one module; pass data between
        /// modules as arguments.
        "E0803" "a value of builder `{found}` is used in builder `{here}`"
        OtherBuilder { found: String, here: String },
        /// A value of one computation is used in another. A computation of HLO can use only its
        /// parameters. The closures of loops and branches may use values from outside, and any
        /// closure may use scalar constants; otherwise pass the value as an operand. A value of a
        /// closure can be used outside only as its result.
        "E0804" "a value of computation `{found}` is used in `{here}`"
        OtherComputation { found: String, here: String },
        /// A computation has no instruction, or no result.
        "E0805" "{message}"
        Root { message: String },
        /// A closure returns an invalid value, such as a condition that is not `pred[]`, or a loop
        /// body that changes the shape of the state.
        "E0806" "{message}"
        Closure { message: String },
        /// A literal is invalid: rows have different lengths, or a number does not fit in the
        /// element type.
        "E0807" "{message}"
        Literal { message: String },
        /// The value cannot be differentiated: an op that it depends on has no derivative, or none
        /// is implemented.
        "E0808" "{message}"
        NotDifferentiable { message: String },
        /// The result does not depend on the input, so the gradient is zero, which is rarely
        /// intended.
        "E0809" "{message}"
        Disconnected { message: String },
        /// The promotion rules of a system do not allow these element types together.
        "E0810" "{message}"
        Promotion { message: String },
        /// Etalon does not build this yet.
        "E0811" "{message}"
        Unsupported { message: String },
        /// An instruction breaks a rule of HLO; the message has the number of that rule.
        "E0812" "{message}"
        Rule { message: String, number: &'static str },
        /// The value of an earlier call that failed is used. The first failure is reported.
        "E0813" "the value comes from a call that failed"
        Invalid {},
    }
    impl ErrorCode {
        fn complete(&self, own: Diagnostic) -> Diagnostic {
            match self {
                Self::Rule { number, .. } => Diagnostic { code: number, ..own },
                _ => own,
            }
        }
    }
}

/// Why a module cannot be built, and the line of the call.
///
/// [`Display`](std::fmt::Display) prints a few lines; [`report`](Error::report) draws the line of
/// the call with a caret.
pub type Error = hlo::diag::Error<Code>;

/// Result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<BrokenRule> for Code {
    fn from(BrokenRule { number, message }: BrokenRule) -> Self {
        Self::Rule { message, number }
    }
}
impl From<InvalidArgument> for Code {
    fn from(InvalidArgument(message): InvalidArgument) -> Self {
        Self::Argument { message }
    }
}
impl From<Unsupported> for Code {
    fn from(Unsupported(message): Unsupported) -> Self {
        Self::Unsupported { message }
    }
}

/// Returns the error of a broken rule with the call that breaks it: ``in `add(f32[2], f32[3])` ``.
pub(crate) fn error_in_call(error: &hlo::Error, call: &str) -> Error {
    let message = format!("{}, in {call}", error.code());
    let made = Error::from(Code::Rule { message, number: error.number() });
    match error.help() {
        Some(help) => made.with_help(help),
        None => made,
    }
}
