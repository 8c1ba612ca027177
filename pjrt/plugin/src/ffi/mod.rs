//! The XLA FFI: functions that the user registers for custom calls of the typed interface.
//!
//! | file | contents |
//! |---|---|
//! | `api.rs` | the table of functions that a handler calls |
//! | `attributes.rs` | the attributes of a call |
//! | `call.rs` | the frame of a call |
mod api;
mod attributes;
mod call;

pub(crate) use call::run;

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{PoisonError, RwLock};

/// A handler: it takes a frame and returns an error or null.
type Handler = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

static HANDLERS: RwLock<BTreeMap<String, Handler>> = RwLock::new(BTreeMap::new());

/// Registers the handler of a target; a null handler removes it. Returns 0, or 1 if the name is no text.
///
/// # Safety
/// The name ends in a zero; the handler is null or an `XLA_FFI_Handler`.
#[expect(unsafe_code, reason = "the Python side of the plugin finds the function by its name")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn etalon_register_ffi_handler(
    name: *const c_char,
    handler: Option<unsafe extern "C" fn(*mut c_void) -> *mut c_void>,
) -> c_int {
    if name.is_null() {
        return 1;
    }
    // SAFETY: the caller vouches for the name.
    let Ok(name) = (unsafe { CStr::from_ptr(name) }).to_str() else { return 1 };
    let mut handlers = HANDLERS.write().unwrap_or_else(PoisonError::into_inner);
    match handler {
        Some(handler) => handlers.insert(name.to_owned(), handler),
        None => handlers.remove(name),
    };
    0
}

/// Returns the names of all targets with a handler.
pub(crate) fn targets() -> Vec<String> {
    HANDLERS.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
}
fn handler(target: &str) -> Option<Handler> {
    HANDLERS.read().unwrap_or_else(PoisonError::into_inner).get(target).copied()
}
