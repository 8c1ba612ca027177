//! Why a module cannot be built, and at which call.
use hlo::diag::{BrokenRule, Diagnostic, InvalidArgument, Unsupported};

hlo::error_codes! {
    /// What is wrong with a call of the builder.
    pub enum Code {
        /// An argument cannot mean anything: an axis that does not exist, a list of the wrong length.
        "E0801" "{message}"
        Argument { message: String },
        /// Shapes that do not broadcast: HLO stretches scalars and, in operands of one rank, dimensions of size 1; anything
        /// else has to be said with `along`. The functions of other systems have rules of their own: docs/broadcasting.md
        /// puts them side by side.
        "E0802" "{message}"
        Broadcast { message: String },
        /// A value that another builder made. Each builder makes one module; pass data between modules as arguments.
        "E0803" "a value of builder `{found}` is used in builder `{here}`"
        OtherBuilder { found: String, here: String },
        /// A value of one computation used in another. HLO's computations see nothing but their parameters. The closures of
        /// loops and branches may use values from outside, and any closure scalar constants; to others hand the value over as
        /// an operand. What a closure makes leaves it as its result only.
        "E0804" "a value of computation `{found}` is used in `{here}`"
        OtherComputation { found: String, here: String },
        /// A computation without an instruction, or without a result.
        "E0805" "{message}"
        Root { message: String },
        /// A closure that gives something else than its place allows: a condition that is not `pred[]`, a loop's body that
        /// changes the shape of the state.
        "E0806" "{message}"
        Closure { message: String },
        /// A literal that has no shape: rows of different lengths, a number the element type does not hold.
        "E0807" "{message}"
        Literal { message: String },
        /// The value cannot be differentiated: an op on the way has no derivative, or none is known here.
        "E0808" "{message}"
        NotDifferentiable { message: String },
        /// The result does not depend on the input it is differentiated by: its gradient is zero, which is seldom meant.
        "E0809" "{message}"
        Disconnected { message: String },
        /// Element types that a system's rules do not let meet.
        "E0810" "{message}"
        Promotion { message: String },
        /// Etalon does not build this yet.
        "E0811" "{message}"
        Unsupported { message: String },
        /// An instruction breaks a rule of the specification; its own number says which.
        "E0812" "{message}"
        Rule { message: String, number: &'static str },
        /// The value of a call that failed before was used. The first failure is the one that is reported.
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
/// [`Display`](std::fmt::Display) prints a few lines; [`report`](Error::report) draws the line of the call with a caret.
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
