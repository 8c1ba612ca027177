//! Errors as the C API has them: a code and a message.
use collectives::RunError;
use std::ffi::c_int;

/// The reason why a call or an execution failed.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// A status code of absl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) c_int);

impl Code {
    pub(crate) const INVALID_ARGUMENT: Self = Self(3);
    pub(crate) const DEADLINE_EXCEEDED: Self = Self(4);
    pub(crate) const NOT_FOUND: Self = Self(5);
    pub(crate) const RESOURCE_EXHAUSTED: Self = Self(8);
    pub(crate) const FAILED_PRECONDITION: Self = Self(9);
    pub(crate) const ABORTED: Self = Self(10);
    pub(crate) const UNIMPLEMENTED: Self = Self(12);
    pub(crate) const INTERNAL: Self = Self(13);

    /// Returns the code of a run that failed.
    pub(crate) fn of_run(error: &RunError) -> Self {
        use collectives::Code as Many;
        if let Some(error) = error.device_error() {
            return Self::of_device(error.code());
        }
        let RunError::ManyDevices(error) = error else { return Self::INTERNAL };
        match error.code() {
            Many::Unsupported { .. } => Self::UNIMPLEMENTED,
            Many::Deadlock { .. } => Self::ABORTED,
            Many::Internal { .. } => Self::INTERNAL,
            _ => Self::INVALID_ARGUMENT,
        }
    }
    fn of_device(code: &interp::Code) -> Self {
        use interp::Code as One;
        match code {
            One::Unsupported { .. } => Self::UNIMPLEMENTED,
            One::OutOfMemory { .. } | One::OutOfFuel { .. } => Self::RESOURCE_EXHAUSTED,
            One::OutOfTime { .. } => Self::DEADLINE_EXCEEDED,
            One::Trap { .. } | One::NotFinite { .. } | One::Starved { .. } => {
                Self::FAILED_PRECONDITION
            }
            One::Internal { .. } | One::CustomCallFailed { .. } => Self::INTERNAL,
            _ => Self::INVALID_ARGUMENT,
        }
    }
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::INVALID_ARGUMENT, message)
    }
    pub(crate) fn unimplemented(message: impl Into<String>) -> Self {
        Self::new(Code::UNIMPLEMENTED, message)
    }
}
