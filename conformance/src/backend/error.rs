//! The errors of backends.
use super::Death;
use hlo::diag::Error;

hlo::error_codes! {
    /// Why a backend has no result.
    pub enum Code {
        /// The backend says that it does not implement something the module needs, or has too few
        /// devices for it.
        ///
        /// The message is the backend's own. The module may be valid: `etalon check` tells.
        "E0701" "{message}"
        Unsupported { message: String },
        /// The backend does not compile the module, and does not say that something is unsupported.
        ///
        /// Either the backend is wrong, or the module breaks a rule that `etalon check` does not
        /// know.
        "E0702" "the backend rejects the module: {message}"
        Rejected { message: String },
        /// The backend compiled the module, and its execution ended with an error.
        "E0703" "the execution failed: {message}"
        Failed { message: String },
        /// The process of the backend died, or violated the protocol.
        ///
        /// A module after which the process dies runs again, alone in a new process. If the process
        /// dies again, the module is the cause; otherwise the module has its result, and a warning
        /// names the module during which the process died. The message names the signal or the exit
        /// code, and ends with the last lines that the process wrote to stderr.
        "E0704" "{message}"
        Crashed { message: String, death: Death },
        /// The backend did not answer within the time limit; its process was killed.
        "E0705" "no answer within {seconds} seconds{stderr}"
        TimedOut { seconds: f64, stderr: String },
        /// The backend cannot be started.
        ///
        /// Typical causes: the file is not a PJRT plugin, the plugin does not know an option, the
        /// command does not exist.
        "E0706" "{message}"
        NotStarted { message: String },
    }
}

/// The error of a backend.
pub type BackendError = Error<Code>;
