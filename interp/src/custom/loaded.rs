//! Shared libraries in this process; the only module that calls foreign code.
#![expect(unsafe_code, reason = "calls foreign functions")]
use super::functions::{Functions, failed};
use super::guarded::Memory;
use super::library::{CustomCallLibrary, LibraryCall};
use crate::{Error, Result};
use hlo::Literal;
use num::error::Code;
use std::ffi::c_void;
use std::path::Path;

/// A shared library that is loaded into this process.
///
/// Only functions that the library itself defines are called, not those of its dependencies. A
/// write next to an operand or a result is `E0413`; every other fault of the library is a fault of
/// this process.
#[derive(Debug)]
pub struct Library {
    library: libloading::Library,
    functions: Functions,
}

type LibraryFn = unsafe extern "C" fn(*mut c_void, *const *const c_void);

impl Library {
    /// Loads a library.
    ///
    /// # Errors
    /// `E0410` if it cannot be loaded.
    pub fn open(path: &Path) -> Result<Self> {
        // The loader would search the system's folders for a path without a folder.
        let found = path.canonicalize();
        let found = found.map_err(|e| failed(path, &e))?;
        let functions = Functions::of(path)?;
        // SAFETY: loading runs the initializers of the library. The user named the library; that it
        // may run in this process is a documented requirement of `Hooks::library`.
        let library = unsafe { libloading::Library::new(found) };
        let library = library.map_err(|e| failed(path, &e))?;
        Ok(Self { library, functions })
    }
}

impl CustomCallLibrary for Library {
    fn defines(&self, target: &str) -> bool {
        self.functions.contains(target)
    }
    fn call(&self, call: &LibraryCall<'_>) -> Result<Literal> {
        let target = call.target;
        let failed = |message: String| {
            Error::from(Code::CustomCallFailed { target: target.into(), message })
        };
        if !self.defines(target) {
            return Err(failed("the library does not define it".into()));
        }
        // SAFETY: the library defines a function of this name, and the loader finds definitions of
        // a library before those of its dependencies. `Hooks::library` requires that it has this
        // type. The symbol borrows the library, which keeps it loaded during the call.
        let function = unsafe { self.library.get::<LibraryFn>(target.as_bytes()) };
        let function = function.map_err(|e| failed(e.to_string()))?;
        let operands =
            call.operands.iter().map(|operand| Memory::of(&operand.shape(), Some(operand)));
        let mut operands: Vec<Memory> = operands.collect::<Result<_>>()?;
        let mut result = Memory::of(&call.result, None)?;
        let pointers: Vec<*const c_void> =
            operands.iter_mut().map(|operand| operand.pointer().cast_const()).collect();
        let out = result.pointer();
        // SAFETY: every pointer refers to memory that is as large as its array, aligned to 16
        // bytes, and borrowed by nothing else until the call returns. `Hooks::library` requires
        // that the function stays within these sizes.
        unsafe { function(out, pointers.as_ptr()) };
        // SAFETY: a null pointer selects all streams. What the function printed would be lost if
        // the process were killed.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        if let Some(i) = operands.iter().position(|operand| !operand.is_intact()) {
            return Err(failed(format!("it wrote outside of operand {i}")));
        }
        if !result.is_intact() {
            return Err(failed("it wrote outside of its result".into()));
        }
        result.literal().map_err(failed)
    }
}
