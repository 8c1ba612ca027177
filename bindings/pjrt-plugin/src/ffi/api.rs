//! The table of functions that a handler calls.
#![expect(unsafe_code, reason = "is called by handlers")]
use crate::handle::{destroy, give};
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

/// The version of the FFI.
const VERSION: (c_int, c_int) = (0, 3);
const FUNCTIONS: usize = 18;

/// An error that a handler made.
pub(super) struct FfiError {
    pub(super) code: c_int,
    message: CString,
}

impl FfiError {
    pub(super) fn message(&self) -> String {
        self.message.to_string_lossy().into_owned()
    }
}

type Function = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// `XLA_FFI_Api`.
#[repr(C)]
struct Api {
    size: usize,
    extension: *mut c_void,
    version: Version,
    internal: *const c_void,
    functions: [Function; FUNCTIONS],
}
#[repr(C)]
struct Version {
    size: usize,
    extension: *mut c_void,
    major: c_int,
    minor: c_int,
}

// SAFETY: the table is constant.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

/// Returns the table.
pub(super) fn api() -> *const c_void {
    static API: OnceLock<Api> = OnceLock::new();
    let api = API.get_or_init(|| {
        let mut functions: [Function; FUNCTIONS] = [unsupported; FUNCTIONS];
        functions[0] = error_create;
        functions[1] = error_get_message;
        functions[2] = error_destroy;
        functions[4] = stream_get;
        functions[9] = memory_allocate;
        functions[10] = memory_free;
        functions[16] = run_id_get;
        functions[17] = device_ordinal_get;
        Api {
            size: size_of::<Api>(),
            extension: null_mut(),
            version: Version {
                size: size_of::<Version>(),
                extension: null_mut(),
                major: VERSION.0,
                minor: VERSION.1,
            },
            internal: null_mut(),
            functions,
        }
    });
    (&raw const *api).cast()
}

fn error(code: c_int, message: &str) -> *mut c_void {
    let message = CString::new(message.replace('\0', "?")).unwrap_or_default();
    give(FfiError { code, message })
}

unsafe extern "C" fn unsupported(_: *mut c_void) -> *mut c_void {
    error(12, "Etalon does not implement this function of the XLA FFI")
}

#[repr(C)]
struct ErrorCreate {
    header: [usize; 2],
    message: *const c_char,
    code: c_int,
}
unsafe extern "C" fn error_create(arguments: *mut c_void) -> *mut c_void {
    // SAFETY: the handler passes the struct of this function, with a text that ends in a zero.
    unsafe {
        let Some(arguments) = arguments.cast::<ErrorCreate>().as_ref() else { return null_mut() };
        let text = match arguments.message.is_null() {
            true => String::new(),
            false => CStr::from_ptr(arguments.message).to_string_lossy().into_owned(),
        };
        error(arguments.code, &text)
    }
}

#[repr(C)]
struct ErrorMessage {
    header: [usize; 2],
    error: *const FfiError,
    message: *const c_char,
}
unsafe extern "C" fn error_get_message(arguments: *mut c_void) -> *mut c_void {
    // SAFETY: the handler passes the struct of this function, with an error of this table.
    unsafe {
        if let Some(arguments) = arguments.cast::<ErrorMessage>().as_mut() {
            arguments.message =
                arguments.error.as_ref().map_or(c"".as_ptr(), |e| e.message.as_ptr());
        }
    }
    null_mut()
}

#[repr(C)]
struct ErrorDestroy {
    header: [usize; 2],
    error: *mut c_void,
}
unsafe extern "C" fn error_destroy(arguments: *mut c_void) -> *mut c_void {
    // SAFETY: the handler passes the struct of this function, with an error that it does not use again.
    unsafe {
        if let Some(arguments) = arguments.cast::<ErrorDestroy>().as_ref() {
            destroy::<FfiError>(arguments.error);
        }
    }
    null_mut()
}

/// The structs of functions that return one number or pointer for a context.
#[repr(C)]
struct FromContext<T> {
    header: [usize; 2],
    context: *mut c_void,
    value: T,
}
unsafe extern "C" fn stream_get(arguments: *mut c_void) -> *mut c_void {
    // SAFETY: the handler passes the struct of this function. There are no streams: the default is null.
    unsafe {
        if let Some(arguments) = arguments.cast::<FromContext<*mut c_void>>().as_mut() {
            arguments.value = null_mut();
        }
    }
    null_mut()
}
unsafe extern "C" fn run_id_get(arguments: *mut c_void) -> *mut c_void {
    // SAFETY: the handler passes the struct of this function.
    unsafe {
        if let Some(arguments) = arguments.cast::<FromContext<i64>>().as_mut() {
            arguments.value = 0;
        }
    }
    null_mut()
}
unsafe extern "C" fn device_ordinal_get(arguments: *mut c_void) -> *mut c_void {
    // SAFETY: the handler passes the struct of this function.
    unsafe {
        if let Some(arguments) = arguments.cast::<FromContext<i32>>().as_mut() {
            arguments.value = 0;
        }
    }
    null_mut()
}

#[repr(C)]
struct Allocate {
    header: [usize; 2],
    context: *mut c_void,
    size: usize,
    alignment: usize,
    data: *mut c_void,
}
/// The alignment of all memory for handlers, since it is not told when the memory is freed.
const ALIGNMENT: usize = 64;

unsafe extern "C" fn memory_allocate(arguments: *mut c_void) -> *mut c_void {
    // SAFETY: the handler passes the struct of this function.
    let Some(arguments) = (unsafe { arguments.cast::<Allocate>().as_mut() }) else {
        return null_mut();
    };
    let layout = Layout::from_size_align(arguments.size.max(1), ALIGNMENT);
    let Ok(layout) = layout else { return error(8, "the memory cannot be addressed") };
    if arguments.alignment > ALIGNMENT {
        return error(12, "memory is aligned to 64 bytes at most");
    }
    // SAFETY: the size is not zero.
    let data = unsafe { alloc(layout) };
    if data.is_null() {
        return error(8, "out of memory");
    }
    arguments.data = data.cast();
    null_mut()
}

#[repr(C)]
struct Free {
    header: [usize; 2],
    context: *mut c_void,
    size: usize,
    data: *mut c_void,
}
unsafe extern "C" fn memory_free(arguments: *mut c_void) -> *mut c_void {
    // SAFETY: the handler passes the struct of this function, with memory that it allocated with this size.
    unsafe {
        if let Some(arguments) = arguments.cast::<Free>().as_ref()
            && !arguments.data.is_null()
            && let Ok(layout) = Layout::from_size_align(arguments.size.max(1), ALIGNMENT)
        {
            dealloc(arguments.data.cast(), layout);
        }
    }
    null_mut()
}
