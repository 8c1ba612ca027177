//! Errors as objects of the C API, with a table of functions.
#![expect(unsafe_code, reason = "hands errors to a host")]
use crate::failure::Failure;
use crate::handle::give;
use pjrt::sys::ErrorFunctionTable;
use std::ffi::{c_char, c_int, c_void};

impl Failure {
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
