//! A PJRT plugin: JAX, and every other framework that loads such plugins, runs programs on Etalon.
//!
//! ```text
//! GetPjrtApi ─> table ─> call ─┬─ client, device, topology what the host asks about the platform
//!                              ├─ transfer, upload         buffers from the host, at once and in parts
//!                              ├─ placeholder, dependency  buffers without a value yet, and what waits for a call of the host
//!                              ├─ buffer                   values: promises that an execution keeps
//!                              ├─ executable ─> program    StableHLO or HloModuleProto ─> collectives::Session
//!                              └─ execute ─> streams       launches of each device in order, which may wait for those of others
//!                                            └─> queue     a launch returns at once; one thread runs them in order
//! ```
//!
//! `docs/jax.md` is the page for users. The structs of the C API are those of `pjrt::sys`.
mod buffer;
mod call;
mod callback;
mod client;
mod dependency;
mod device;
mod dump;
mod event;
mod executable;
mod execute;
mod extension;
mod failure;
mod ffi;
mod handle;
mod optimized;
mod options;
mod placeholder;
mod program;
mod promise;
mod queue;
mod raw_error;
mod settings;
mod source;
mod streams;
mod strides;
mod table;
#[cfg(test)]
mod testing;
mod topology;
mod transfer;
mod upload;

pub use callback::{
    HostArray, PythonCallback, callback_number, etalon_python_callback_users,
    etalon_register_python_callback, with_python_callbacks,
};
pub use ffi::etalon_register_ffi_handler;

use std::ffi::c_void;

/// Returns the table of functions, which is the only symbol that a host looks up.
#[expect(unsafe_code, reason = "hosts find the function by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn GetPjrtApi() -> *const c_void {
    table::table()
}
