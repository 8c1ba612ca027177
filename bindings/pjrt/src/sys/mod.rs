//! The functions and structs of the PJRT C API that hosts call and plugins implement.
//!
//! `PJRT_Api` is a table of function pointers in a fixed order; a newer version of the API only appends. Each function takes
//! one struct, which begins with its size. A plugin rejects a struct that is smaller than the one it was built with and accepts
//! a larger one, so [`Api::call`] appends zeros.
//!
//! | file | contents |
//! |---|---|
//! | `extensions.rs` | the extensions of the table, and their functions |
//! | `functions.rs` | the functions that the host, the plugin or both know |
//! | `structs.rs` | the structs that they point to |
#![expect(unsafe_code, reason = "calls foreign functions")]
#[macro_use]
mod macros;
mod extensions;
mod functions;
mod structs;

pub use extensions::*;
pub use functions::*;
pub use structs::*;

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

/// The number of words of zeros after each struct: fields that later versions of the API may append.
const SPARE_WORDS: usize = 16;

/// The start of each struct.
#[repr(C)]
#[derive(Debug)]
pub struct Header {
    /// The size of the struct, which [`Api::call`] sets.
    pub size: usize,
    /// A list of extensions; none.
    pub extension: *mut c_void,
}

impl Header {
    /// Returns the header of a struct of type `T`.
    pub const fn of<T>() -> Self {
        Self { size: size_of::<T>(), extension: std::ptr::null_mut() }
    }
}

impl Default for Header {
    fn default() -> Self {
        Self::of::<Self>()
    }
}

/// The struct of a function of the table.
///
/// # Safety
/// The struct is that of the function in `SLOT`, and all bytes zero are a value of each of its fields.
pub unsafe trait Arguments: Default {
    /// The name of the function.
    const FUNCTION: &'static str;
    /// The position of the function in the table, or among those of its extension.
    const SLOT: usize;
    /// The bytes that a caller's struct has at least: up to the end of the last field that all callers have, without
    /// padding behind it.
    const SIZE: usize;
    /// Returns the start of the struct.
    fn header(&mut self) -> &mut Header;
}

/// Returns the last of the ends of fields.
const fn last(ends: &[usize]) -> usize {
    ends[ends.len() - 1]
}

/// The start of the table that a plugin returns.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct Table {
    /// The size of the table includes its functions.
    pub header: Header,
    pub version_header: Header,
    pub major: c_int,
    pub minor: c_int,
    // The functions follow.
}

/// The table of a plugin that is never unloaded.
#[derive(Debug, Clone, Copy)]
pub struct Api(NonNull<Table>);

// SAFETY: the table is constant and lives as long as the process. PJRT's functions may be called from any thread.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

type Function = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type FunctionWithoutError = unsafe extern "C" fn(*mut c_void);

/// A struct with zeros behind it.
#[repr(C)]
struct Padded<A> {
    arguments: A,
    spare: [usize; SPARE_WORDS],
}

/// What a call returns besides the results in its struct.
#[derive(Debug)]
pub enum CallError {
    /// The table of the plugin has no such function.
    Missing,
    /// A `PJRT_Error`, which the caller destroys.
    Error(NonNull<c_void>),
}

impl Api {
    /// Returns the table at `table`; `None` if the pointer is null or the table is too small.
    ///
    /// # Safety
    /// `table` is null or what `GetPjrtApi` of a library returned that is never unloaded.
    pub unsafe fn new(table: *mut c_void) -> Option<Self> {
        let table = NonNull::new(table.cast::<Table>())?;
        // SAFETY: the table begins with its size.
        let size = unsafe { (*table.as_ptr()).header.size };
        (size >= size_of::<Table>()).then_some(Self(table))
    }
    /// Returns the major and the minor version of the API that the plugin was built with.
    pub fn version(self) -> (i32, i32) {
        // SAFETY: `new` checked that the table has these fields.
        let table = unsafe { self.0.as_ref() };
        (table.major, table.minor)
    }
    /// Returns the function of a slot, if the table has it.
    fn function<A: Arguments>(self) -> Result<NonNull<c_void>, CallError> {
        let offset = size_of::<Table>() + A::SLOT * size_of::<*mut c_void>();
        // SAFETY: `new` checked that the table has its size.
        let size = unsafe { self.0.as_ref().header.size };
        if offset + size_of::<*mut c_void>() > size {
            return Err(CallError::Missing);
        }
        // SAFETY: the slot is inside the table, and holds a pointer that may be null.
        let slot = unsafe { self.0.as_ptr().cast::<*mut c_void>().byte_add(offset).read() };
        NonNull::new(slot).ok_or(CallError::Missing)
    }
    /// Calls a function and returns its struct with the results.
    ///
    /// # Errors
    /// If the function is missing, or the error that it returned.
    ///
    /// # Safety
    /// The pointers in `arguments` are valid for the function.
    pub unsafe fn call<A: Arguments>(self, arguments: A) -> Result<A, CallError> {
        let function = self.function::<A>()?;
        let mut padded = padded(arguments);
        // SAFETY: all functions but those of `call_without_error` have this type. The caller vouches for the pointers.
        let error = unsafe {
            let function = std::mem::transmute::<*mut c_void, Function>(function.as_ptr());
            function((&raw mut padded).cast())
        };
        match NonNull::new(error) {
            None => Ok(padded.arguments),
            Some(error) => Err(CallError::Error(error)),
        }
    }
    /// Calls `PJRT_Error_Message` or `PJRT_Error_Destroy`, which return nothing.
    ///
    /// # Safety
    /// As [`call`](Self::call); the function is one of these two.
    pub unsafe fn call_without_error<A: Arguments>(self, arguments: A) -> Option<A> {
        let function = self.function::<A>().ok()?;
        let mut padded = padded(arguments);
        // SAFETY: the caller vouches for the type of the function and for the pointers.
        unsafe {
            let function =
                std::mem::transmute::<*mut c_void, FunctionWithoutError>(function.as_ptr());
            function((&raw mut padded).cast());
        }
        Some(padded.arguments)
    }
}

fn padded<A: Arguments>(arguments: A) -> Padded<A> {
    let mut padded = Padded { arguments, spare: [0; SPARE_WORDS] };
    padded.arguments.header().size = size_of::<Padded<A>>();
    padded
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes in version 0.81 of the header, on a machine of 64 bits.
    #[test]
    fn structs_have_the_sizes_of_the_header() {
        assert_eq!(size_of::<Table>(), 40);
        assert_eq!(size_of::<NamedValue>(), 56);
        assert_eq!(size_of::<Program>(), 48);
        assert_eq!(size_of::<MemoryLayout>(), 80);
        assert_eq!(size_of::<Tiled>(), 56);
        assert_eq!(size_of::<ClientCreate>(), 72);
        assert_eq!(size_of::<ClientCompile>(), 56);
        assert_eq!(size_of::<ClientBufferFromHostBuffer>(), 120);
        assert_eq!(size_of::<LoadedExecutableExecute>(), 80);
        assert_eq!(size_of::<BufferToHostBuffer>(), 56);
        assert!(size_of::<ExecuteOptions>() > 112);
        assert_eq!(size_of::<DeviceMemoryStats>(), 192);
        assert_eq!(size_of::<ExecutableGetCompiledMemoryStats>(), 120);
        assert_eq!(ExecutableGetCompiledMemoryStats::SIZE, 104);
        assert_eq!(size_of::<ClientCreateUninitializedBuffer>(), 80);
        assert_eq!(size_of::<ClientCreateErrorBuffer>(), 96);
        assert_eq!(size_of::<ClientCreateAliasBuffer>(), 80);
        assert_eq!(size_of::<ClientFulfillAliasBuffer>(), 64);
        assert_eq!(size_of::<EventSet>(), 48);
        assert_eq!(size_of::<ShapeSpec>(), 40);
        assert_eq!(size_of::<TopologyDescriptionCreate>(), 56);
        assert_eq!(size_of::<TopologyDescriptionSerialize>(), 56);
        assert_eq!(size_of::<TopologyDescriptionDeserialize>(), 40);
        assert_eq!(size_of::<Compile>(), 64);
        assert_eq!(size_of::<ClientLoad>(), 56);
        assert_eq!(size_of::<ClientCreateUpload>(), 72);
        assert_eq!(size_of::<UploadTransferData>(), 72);
        assert_eq!(size_of::<UploadTransferLiteral>(), 80);
        assert_eq!(size_of::<UploadSetBufferError>(), 48);
        assert_eq!(size_of::<BufferBitcast>(), 64);
        assert_eq!(size_of::<BufferCopyRawToHostFuture>(), 64);
        assert_eq!(size_of::<BufferDonateWithControlDependency>(), 48);
        assert_eq!(size_of::<HostReadyArguments>(), 48);
        assert_eq!(size_of::<Extension<7>>(), 80);
        assert_eq!(size_of::<FfiRegisterHandler>(), 56);
        assert_eq!(size_of::<LayoutSerialize>(), 56);
        assert_eq!(size_of::<ClientDefaultLayout>(), 56);
        assert_eq!(DeviceDescriptionId::SIZE, 28);
        assert_eq!(DeviceMemoryStats::SIZE, 185);
    }

    #[test]
    fn functions_that_a_table_lacks_are_not_called() {
        let mut table = Table {
            header: Header::of::<Table>(),
            version_header: Header::default(),
            major: 0,
            minor: 7,
        };
        // SAFETY: the table outlives the calls.
        let api = unsafe { Api::new((&raw mut table).cast()) }.unwrap();
        assert_eq!(api.version(), (0, 7));
        // SAFETY: the function has no pointers.
        let result = unsafe { api.call(PluginInitialize::default()) };
        assert!(matches!(result, Err(CallError::Missing)));
        table.header.size = 8;
        // SAFETY: as above.
        assert!(unsafe { Api::new((&raw mut table).cast()) }.is_none());
        // SAFETY: the pointer is null.
        assert!(unsafe { Api::new(std::ptr::null_mut()) }.is_none());
    }
}
