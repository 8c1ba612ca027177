//! Why a run did not give a result.
use hlo::diag::{Diagnostic, Internal, Unsupported};

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
    impl ErrorCode {
        fn complete(&self, mut diagnostic: Diagnostic) -> Diagnostic {
            if let Self::Unsupported { .. } = self {
                diagnostic.help.get_or_insert_with(|| "this is not a bug in your module".to_owned());
            }
            diagnostic
        }
    }
}

/// Why a run did not give a result, and at which instruction.
pub type Error = hlo::diag::Error<Code>;

impl From<Unsupported> for Code {
    fn from(Unsupported(message): Unsupported) -> Self {
        Self::Unsupported { message }
    }
}
impl From<Internal> for Code {
    fn from(Internal(message): Internal) -> Self {
        Self::Internal { message }
    }
}
