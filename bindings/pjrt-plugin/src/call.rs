//! The frame of every function: checks its struct, catches panics, converts errors.
#![expect(unsafe_code, reason = "is called through the C API")]
use crate::failure::{Code, Failure, Result};
use hlo::diag::quantity;
use interp::FloatEnvironment;
use pjrt::sys::{Arguments, Header};
use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

/// A function of the C API that the plugin implements.
pub(crate) trait Call: Arguments {
    /// Runs the function on its struct.
    ///
    /// # Safety
    /// The pointers in the struct are valid, as the header of the C API requires.
    unsafe fn call(&mut self) -> Result<()>;
}

/// Implements functions of the C API; the body may follow the pointers of the struct.
macro_rules! calls {
    ($( $name:ident($arguments:ident) $body:block )*) => {$(
        impl $crate::call::Call for pjrt::sys::$name {
            unsafe fn call(&mut self) -> $crate::failure::Result<()> {
                let $arguments = self;
                // SAFETY: the host vouches for the pointers in its struct, and for the objects that they name.
                #[allow(unused_unsafe, reason = "some functions follow no pointer")]
                unsafe { $body }
            }
        }
    )*};
}
pub(crate) use calls;

/// The function of the table for a struct.
///
/// # Safety
/// The struct is null, or of this type and at least as large as its size states.
pub(crate) unsafe extern "C" fn entry<A: Call>(arguments: *mut c_void) -> *mut c_void {
    let _environment = FloatEnvironment::enter();
    // SAFETY: the caller vouches for the struct.
    let run = || unsafe { checked::<A>(arguments) };
    let failure = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => return null_mut(),
        Ok(Err(failure)) => failure,
        Err(panic) => panicked(A::FUNCTION, &*panic),
    };
    failure.into_raw()
}

/// Returns the error of a panic.
pub(crate) fn panicked(place: &str, panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    let message = format!(
        "internal error: {place} panicked: {text}\n = help: this is a bug in Etalon, please report it"
    );
    Failure::new(Code::INTERNAL, message)
}

/// Runs a function if its struct has all fields.
///
/// # Safety
/// As [`entry`].
unsafe fn checked<A: Call>(arguments: *mut c_void) -> Result<()> {
    // SAFETY: each struct begins with its size.
    let size = unsafe { arguments.cast::<Header>().as_ref() }.map_or(0, |header| header.size);
    if size < A::SIZE {
        let (name, needed) = (A::FUNCTION, A::SIZE);
        let message = format!(
            "the struct of {name} has {}, expected at least {needed}",
            quantity(size, "byte")
        );
        return Err(Failure::invalid(message));
    }
    if size >= size_of::<A>() {
        // SAFETY: the struct has all fields; the caller vouches for them.
        return unsafe { (*arguments.cast::<A>()).call() };
    }
    // The host is older: the fields that it lacks are those of a copy.
    let mut whole = A::default();
    let (own, lent) = ((&raw mut whole).cast::<u8>(), arguments.cast::<u8>());
    // SAFETY: the host's struct has `size` bytes, and the copy more; the caller vouches for its fields.
    unsafe {
        own.copy_from_nonoverlapping(lent, size);
        let outcome = whole.call();
        lent.copy_from_nonoverlapping(own, size);
        outcome
    }
}
