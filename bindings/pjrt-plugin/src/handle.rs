//! Objects behind the opaque pointers of the C API.
#![expect(unsafe_code, reason = "converts pointers of the C API")]
use crate::failure::{Failure, Result};
use std::ffi::{c_char, c_void};

/// Returns a pointer to a value that the host owns from now on.
pub(crate) fn give<T>(value: T) -> *mut c_void {
    Box::into_raw(Box::new(value)).cast()
}

/// Drops a value that the host owned; nothing for a null pointer.
///
/// # Safety
/// The pointer is null, or what [`give`] returned for a value of this type, and is not used again.
pub(crate) unsafe fn destroy<T>(pointer: *mut c_void) {
    if !pointer.is_null() {
        // SAFETY: the caller vouches for the pointer.
        drop(unsafe { Box::from_raw(pointer.cast::<T>()) });
    }
}

/// Returns a value that the host owned.
///
/// # Errors
/// If the pointer is null.
///
/// # Safety
/// As [`destroy`].
pub(crate) unsafe fn take<T>(pointer: *mut c_void) -> Result<T> {
    if pointer.is_null() {
        return Err(Failure::invalid("the host passed a null pointer where an object is needed"));
    }
    // SAFETY: the caller vouches for the pointer.
    Ok(*unsafe { Box::from_raw(pointer.cast::<T>()) })
}

/// Returns the value behind a pointer.
///
/// # Errors
/// If the pointer is null.
///
/// # Safety
/// The pointer is null or points to a value of this type that lives for `'a`.
pub(crate) unsafe fn get<'a, T>(pointer: *const c_void) -> Result<&'a T> {
    // SAFETY: the caller vouches for the pointer.
    let value = unsafe { pointer.cast::<T>().as_ref() };
    value
        .ok_or_else(|| Failure::invalid("the host passed a null pointer where an object is needed"))
}

/// Returns a list of the host; a null pointer is an empty list.
///
/// # Safety
/// `start` is null or points to `count` elements that live for `'a`.
pub(crate) unsafe fn list<'a, T>(start: *const T, count: usize) -> &'a [T] {
    if start.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller vouches for the pointer.
    unsafe { std::slice::from_raw_parts(start, count) }
}

/// Returns a text of the host.
///
/// # Safety
/// As [`list`].
pub(crate) unsafe fn text<'a>(start: *const c_char, size: usize) -> std::borrow::Cow<'a, str> {
    // SAFETY: the caller vouches for the pointer.
    String::from_utf8_lossy(unsafe { list(start.cast::<u8>(), size) })
}
