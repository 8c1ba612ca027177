//! The error codes of runs.
use hlo::diag::{Diagnostic, Internal, Unsupported, quantity};
use std::time::Duration;

hlo::error_codes! {
    /// The kinds of errors at run time.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub enum Code {
        /// The arguments do not fit the parameters of the entry computation: their number, types or
        /// sizes differ.
        "E0401" "{message}"
        Invalid { message: String },
        /// Etalon does not implement this yet. It is not a bug in your module.
        "E0402" "{message}"
        Unsupported { message: String },
        /// The text elides the values of the constant (`constant({...})`), so the module cannot be
        /// executed.
        ///
        /// Dump the module with large constants, for instance with
        /// `XLA_FLAGS=--xla_dump_large_constants=true`.
        "E0403" "constant `{name}` was elided: its values are not in the text"
        Elided { name: String },
        /// The run needs more steps than `--fuel` allows.
        "E0404" "out of fuel after {}" (quantity(.steps, "step"))
        OutOfFuel { steps: u64 },
        /// A value needs more memory than `--max-memory` allows, or than can be addressed.
        "E0405" "{message}"
        OutOfMemory { message: String },
        /// Calls are nested deeper than the engine supports.
        "E0406" "calls nested deeper than {limit} levels"
        TooDeep { limit: usize },
        /// An instruction that exchanges data with the outside cannot continue: the queue of an
        /// `infeed` or `outfeed` is missing, empty or full, or nothing was sent on the channel of a
        /// `recv`.
        ///
        /// Pass the values of `infeed` with `--infeed FILE.npz`. From Rust, set the queues in
        /// `Hooks`.
        "E0407" "{message}"
        Starved { message: String },
        /// A value that the program computed is not valid for the instruction that uses it.
        "E0408" "{message}"
        Trap { message: String },
        /// With `--check-nan`: an instruction returned a NaN or an infinity, although all its
        /// operands are finite.
        "E0409" "{message}"
        NotFinite { message: String },
        /// A shared library with functions for custom calls cannot be loaded: it does not exist, it
        /// is built for another machine, or one of its dependencies is missing.
        "E0410" "library `{path}` cannot be loaded: {message}"
        Library { path: String, message: String },
        /// A custom call returned another shape than the module states, or nothing.
        ///
        /// Either the function that is registered for the target or the module is wrong.
        "E0411" "custom call `{target}` returned {found}, the module states {expected}"
        CustomCallResult { target: String, found: String, expected: String },
        /// The run takes longer than `--time-limit` allows.
        ///
        /// The instruction is the one that was running; it need not be the one that took most of
        /// the time. A limit that does not depend on the machine is `--fuel`.
        "E0412" "out of time after {seconds} s"
        OutOfTime { seconds: f64 },
        /// A function of a shared library did not return from a custom call, or wrote outside of
        /// its operands and its result.
        ///
        /// With `etalon run --custom-call-library`, the function runs in a process of its own,
        /// which it may end by a crash or by `exit`. The run stops at the call. To find the cause,
        /// run the module with `--trust-custom-calls` under a debugger: the function then runs
        /// inside of Etalon.
        "E0413" "custom call `{target}` of a library failed: {message}"
        CustomCallFailed { target: String, message: String },
        /// The caller stopped the run: `RunOptions::interrupt`. In Python, Ctrl-C does.
        "E0414" "interrupted"
        Interrupted,
        /// A bug in Etalon. Please report it with the module.
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

/// The reason why a run has no result, and the instruction at which it stopped.
pub type Error = hlo::diag::Error<Code>;

/// Result of everything in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Returns the error `E0412` of a run or a compilation whose time limit has passed.
#[inline]
pub fn out_of_time(limit: Duration) -> Error {
    let seconds = limit.as_secs_f64();
    Error::from(Code::OutOfTime { seconds }).with_help("raise `--time-limit` or omit it")
}

/// Returns the error `E0404` of a run that takes more than `steps` steps.
#[inline]
pub fn out_of_fuel(steps: u64) -> Error {
    Error::from(Code::OutOfFuel { steps })
        .with_help("raise `--fuel` or omit it; a loop whose condition never fails has no end")
}

/// Returns the error `E0405` of a run that needs more than `RunOptions::max_memory` allows.
#[inline]
pub fn over_memory_limit(message: String) -> Error {
    Error::from(Code::OutOfMemory { message }).with_help(
        "raise the limit, which all devices share, or omit it: `--max-memory`, in JAX `ETALON_MAX_MEMORY`",
    )
}

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
