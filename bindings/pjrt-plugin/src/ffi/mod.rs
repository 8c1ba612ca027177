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
mod data_type;

use call::run;
use interp::Hooks;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// A handler: it takes a frame and returns an error or null.
type Handler = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// The handlers by target, and the number of their changes.
struct Handlers {
    of: BTreeMap<String, Handler>,
    changes: u64,
}

static HANDLERS: RwLock<Handlers> = RwLock::new(Handlers { of: BTreeMap::new(), changes: 0 });

/// Registers the handler of a target; a null handler removes it. Returns 0, or 1 if the name is no
/// text.
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
    register(name, handler);
    0
}

/// Registers the handler of a target, or removes it.
pub(crate) fn register(name: &str, handler: Option<Handler>) {
    let mut handlers = HANDLERS.write().unwrap_or_else(PoisonError::into_inner);
    match handler {
        Some(handler) => handlers.of.insert(name.to_owned(), handler),
        None => handlers.of.remove(name),
    };
    handlers.changes += 1;
}

/// Hooks that run the handlers which are registered.
#[derive(Default)]
pub(crate) struct FfiHooks(Mutex<Option<(u64, Arc<Hooks>)>>);

impl FfiHooks {
    /// Returns the hooks with a custom call for each target that has a handler now. They are made
    /// again only after a change of the handlers.
    pub(crate) fn get(&self, hooks: &Hooks) -> Arc<Hooks> {
        let handlers = HANDLERS.read().unwrap_or_else(PoisonError::into_inner);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, hooks)) = &*known
            && *of == handlers.changes
        {
            return Arc::clone(hooks);
        }
        let targets = handlers.of.keys();
        let all = targets.fold(hooks.clone(), |hooks, target| hooks.custom_call(target, run));
        let (_, hooks) = known.insert((handlers.changes, Arc::new(all)));
        Arc::clone(hooks)
    }
}
fn handler(target: &str) -> Option<Handler> {
    HANDLERS.read().unwrap_or_else(PoisonError::into_inner).of.get(target).copied()
}
