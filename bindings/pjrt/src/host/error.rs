//! Errors of plugins, and the conversion of `PJRT_Error`.
#![expect(unsafe_code, reason = "reads errors of the C API")]
use super::Result;
use crate::sys::{Api, Arguments, CallError, ErrorDestroy, ErrorGetCode, ErrorMessage};
use std::ffi::{c_char, c_void};
use std::fmt;
use std::ptr::NonNull;

/// Why a call of a plugin failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library cannot be loaded, or is not a PJRT plugin.
    #[error("{0}")]
    Load(String),
    /// The plugin is older than this function of the API.
    #[error("the plugin has no function `{0}`")]
    Missing(&'static str),
    /// The plugin returned an error.
    #[error("{status}: {message}")]
    Plugin {
        /// The function that returned it.
        function: &'static str,
        /// The kind.
        status: Status,
        /// The text of the plugin.
        message: String,
    },
    /// The host does not support a value.
    #[error("{0}")]
    Unsupported(String),
    /// The arguments of a call do not fit the program.
    #[error("{0}")]
    Arguments(String),
    /// The plugin returned a result that has no meaning.
    #[error("{0}")]
    Result(String),
}

/// The kind of a plugin's error: an absl status code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status(pub i32);

impl Status {
    /// The status of something that the plugin does not have, such as the function of a custom call.
    pub const NOT_FOUND: Self = Self(5);
    /// The status of something that the plugin does not implement.
    pub const UNIMPLEMENTED: Self = Self(12);
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 17] = [
            "OK",
            "CANCELLED",
            "UNKNOWN",
            "INVALID_ARGUMENT",
            "DEADLINE_EXCEEDED",
            "NOT_FOUND",
            "ALREADY_EXISTS",
            "PERMISSION_DENIED",
            "RESOURCE_EXHAUSTED",
            "FAILED_PRECONDITION",
            "ABORTED",
            "OUT_OF_RANGE",
            "UNIMPLEMENTED",
            "INTERNAL",
            "UNAVAILABLE",
            "DATA_LOSS",
            "UNAUTHENTICATED",
        ];
        match usize::try_from(self.0).ok().and_then(|code| NAMES.get(code)) {
            Some(name) => f.write_str(name),
            None => write!(f, "status {}", self.0),
        }
    }
}

/// Calls a function of the table and converts its error.
///
/// # Safety
/// As [`Api::call`].
pub(super) unsafe fn call<A: Arguments>(api: Api, arguments: A) -> Result<A> {
    // SAFETY: the caller vouches for the arguments.
    match unsafe { api.call(arguments) } {
        Ok(results) => Ok(results),
        Err(CallError::Missing) => Err(Error::Missing(A::FUNCTION)),
        Err(CallError::Error(error)) => Err(take(api, error, A::FUNCTION)),
    }
}

/// Reads an error and destroys it.
fn take(api: Api, error: NonNull<c_void>, function: &'static str) -> Error {
    let error = error.as_ptr();
    let message = ErrorMessage { error, ..ErrorMessage::default() };
    // SAFETY: the error is alive until it is destroyed below; its message lives as long.
    let message = unsafe { api.call_without_error(message) }.map_or_else(String::new, |found| {
        // SAFETY: as above.
        unsafe { text(found.message, found.message_size) }
    });
    let code = ErrorGetCode { error, ..ErrorGetCode::default() };
    // SAFETY: as above.
    let code = unsafe { api.call(code) }.map_or(2, |found| found.code);
    let destroy = ErrorDestroy { error, ..ErrorDestroy::default() };
    // SAFETY: nothing refers to the error any more.
    let _ = unsafe { api.call_without_error(destroy) };
    Error::Plugin { function, status: Status(code), message: message.trim_end().to_owned() }
}

/// Copies a text of the plugin.
///
/// # Safety
/// `start` is null or points to `size` bytes.
pub(super) unsafe fn text(start: *const c_char, size: usize) -> String {
    // SAFETY: the caller vouches for the pointer.
    let bytes = unsafe { slice(start.cast::<u8>(), size) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns a list of the plugin; a null pointer is an empty list.
///
/// # Safety
/// `start` is null or points to `count` elements that live for `'a`.
pub(super) unsafe fn slice<'a, T>(start: *const T, count: usize) -> &'a [T] {
    if start.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller vouches for the pointer.
    unsafe { std::slice::from_raw_parts(start, count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_their_status() {
        let error = Error::Plugin {
            function: "PJRT_Client_Compile",
            status: Status::UNIMPLEMENTED,
            message: "no tokens".to_owned(),
        };
        assert_eq!(error.to_string(), "UNIMPLEMENTED: no tokens");
        assert_eq!(Status(99).to_string(), "status 99");
    }
}
