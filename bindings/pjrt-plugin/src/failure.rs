//! Errors as the C API has them: a code, a message, and a table of functions.
#![expect(unsafe_code, reason = "hands errors to a host")]
use crate::handle::give;
use collectives::RunError;
use pjrt::sys::ErrorFunctionTable;
use std::ffi::{c_char, c_int, c_void};

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
    /// Returns the error as an object of the C API, which the host destroys.
    pub(crate) fn into_raw(self) -> *mut c_void {
        give(RawError { functions: &FUNCTIONS, failure: self })
    }
}

/// The object of an error. Hosts since version 0.112 call the functions of its table, older ones those of the API.
#[repr(C)]
pub(crate) struct RawError {
    functions: &'static ErrorFunctionTable,
    pub(crate) failure: Failure,
}

#[repr(transparent)]
struct Functions(ErrorFunctionTable);

// SAFETY: the table is constant.
unsafe impl Sync for Functions {}

impl std::ops::Deref for Functions {
    type Target = ErrorFunctionTable;
    fn deref(&self) -> &ErrorFunctionTable {
        &self.0
    }
}

static FUNCTIONS: Functions = Functions(ErrorFunctionTable {
    size: size_of::<ErrorFunctionTable>(),
    instance_size: size_of::<usize>(),
    extension: std::ptr::null_mut(),
    destroy,
    message,
    get_code,
    for_each_payload,
});

unsafe extern "C" fn destroy(error: *mut c_void) {
    // SAFETY: the host destroys an error once.
    unsafe { crate::handle::destroy::<RawError>(error) };
}
unsafe extern "C" fn message(error: *const c_void, text: *mut *const c_char, size: *mut usize) {
    // SAFETY: the host passes an error of this plugin, and places for the results.
    unsafe {
        let message = error.cast::<RawError>().as_ref().map_or("", |e| &e.failure.message);
        text.write(message.as_ptr().cast());
        size.write(message.len());
    }
}
unsafe extern "C" fn get_code(error: *const c_void) -> c_int {
    // SAFETY: as above.
    unsafe { error.cast::<RawError>().as_ref() }.map_or(0, |e| e.failure.code.0)
}
unsafe extern "C" fn for_each_payload(_: *const c_void, _: *const c_void, _: *mut c_void) {}
