//! The functions and structs of the PJRT C API that a host calls.
//!
//! `PJRT_Api` is a table of function pointers in a fixed order; a newer version of the API only appends. Each function takes
//! one struct, which begins with its size. A plugin rejects a struct that is smaller than the one it was built with and accepts
//! a larger one, so [`Api::call`] appends zeros.
#![expect(unsafe_code, reason = "calls foreign functions")]
use std::ffi::{c_char, c_int, c_void};
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
    /// The position of the function in the table.
    const SLOT: usize;
    /// Returns the start of the struct.
    fn header(&mut self) -> &mut Header;
}

macro_rules! functions {
    ($( $slot:literal $function:literal $name:ident { $($field:ident: $ty:ty),* $(,)? } )*) => {$(
        #[doc = concat!("The arguments and results of `", $function, "`.")]
        #[repr(C)]
        #[derive(Debug, Default)]
        #[allow(missing_docs, reason = "the C API documents its fields")]
        pub struct $name { pub header: Header, $(pub $field: $ty),* }
        // SAFETY: the fields are those of the header `pjrt_c_api.h`, which the tests list with their sizes; they are
        // integers, booleans and pointers.
        unsafe impl Arguments for $name {
            const FUNCTION: &'static str = $function;
            const SLOT: usize = $slot;
            fn header(&mut self) -> &mut Header { &mut self.header }
        }
    )*};
}

functions! {
    0 "PJRT_Error_Destroy" ErrorDestroy { error: *mut c_void }
    1 "PJRT_Error_Message" ErrorMessage { error: *const c_void, message: *const c_char, message_size: usize }
    2 "PJRT_Error_GetCode" ErrorGetCode { error: *const c_void, code: c_int }
    3 "PJRT_Plugin_Initialize" PluginInitialize { }
    5 "PJRT_Event_Destroy" EventDestroy { event: *mut c_void }
    8 "PJRT_Event_Await" EventAwait { event: *mut c_void }
    10 "PJRT_Client_Create" ClientCreate {
        create_options: *const NamedValue, num_options: usize,
        kv_get_callback: *const c_void, kv_get_user_arg: *mut c_void,
        kv_put_callback: *const c_void, kv_put_user_arg: *mut c_void,
        client: *mut c_void,
        kv_try_get_callback: *const c_void, kv_try_get_user_arg: *mut c_void,
    }
    11 "PJRT_Client_Destroy" ClientDestroy { client: *mut c_void }
    12 "PJRT_Client_PlatformName" ClientPlatformName { client: *mut c_void, name: *const c_char, name_size: usize }
    14 "PJRT_Client_PlatformVersion" ClientPlatformVersion { client: *mut c_void, version: *const c_char, version_size: usize }
    16 "PJRT_Client_AddressableDevices" ClientAddressableDevices {
        client: *mut c_void, devices: *const *mut c_void, num_devices: usize,
    }
    20 "PJRT_Client_Compile" ClientCompile {
        client: *mut c_void, program: *const Program, options: *const c_char, options_size: usize, executable: *mut c_void,
    }
    22 "PJRT_Client_BufferFromHostBuffer" ClientBufferFromHostBuffer {
        client: *mut c_void, data: *const c_void, ty: c_int, dims: *const i64, num_dims: usize,
        byte_strides: *const i64, num_byte_strides: usize, host_buffer_semantics: c_int,
        device: *mut c_void, memory: *mut c_void, device_layout: *mut MemoryLayout,
        done_with_host_buffer: *mut c_void, buffer: *mut c_void,
    }
    23 "PJRT_DeviceDescription_Id" DeviceDescriptionId { description: *mut c_void, id: c_int }
    29 "PJRT_Device_GetDescription" DeviceGetDescription { device: *mut c_void, description: *mut c_void }
    40 "PJRT_Executable_Destroy" ExecutableDestroy { executable: *mut c_void }
    44 "PJRT_Executable_NumOutputs" ExecutableNumOutputs { executable: *mut c_void, num_outputs: usize }
    50 "PJRT_LoadedExecutable_Destroy" LoadedExecutableDestroy { executable: *mut c_void }
    51 "PJRT_LoadedExecutable_GetExecutable" LoadedExecutableGetExecutable {
        loaded_executable: *mut c_void, executable: *mut c_void,
    }
    52 "PJRT_LoadedExecutable_AddressableDevices" LoadedExecutableAddressableDevices {
        executable: *mut c_void, devices: *const *mut c_void, num_devices: usize,
    }
    55 "PJRT_LoadedExecutable_Execute" LoadedExecutableExecute {
        executable: *mut c_void, options: *mut ExecuteOptions,
        argument_lists: *const *const *mut c_void, num_devices: usize, num_args: usize,
        output_lists: *const *mut *mut c_void, device_complete_events: *mut *mut c_void, execute_device: *mut c_void,
    }
    58 "PJRT_Buffer_Destroy" BufferDestroy { buffer: *mut c_void }
    59 "PJRT_Buffer_ElementType" BufferElementType { buffer: *mut c_void, ty: c_int }
    60 "PJRT_Buffer_Dimensions" BufferDimensions { buffer: *mut c_void, dims: *const i64, num_dims: usize }
    61 "PJRT_Buffer_UnpaddedDimensions" BufferUnpaddedDimensions {
        buffer: *mut c_void, unpadded_dims: *const i64, num_dims: usize,
    }
    62 "PJRT_Buffer_DynamicDimensionIndices" BufferDynamicDimensionIndices {
        buffer: *mut c_void, dynamic_dim_indices: *const usize, num_dynamic_dims: usize,
    }
    70 "PJRT_Buffer_ToHostBuffer" BufferToHostBuffer {
        buffer: *mut c_void, host_layout: *mut MemoryLayout, destination: *mut c_void, destination_size: usize,
        event: *mut c_void,
    }
}

/// `PJRT_NamedValue`, an option of a client.
#[repr(C)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct NamedValue {
    pub header: Header,
    pub name: *const c_char,
    pub name_size: usize,
    /// 0 string, 1 int64, 3 float, 4 bool.
    pub kind: c_int,
    pub value: NamedValueData,
    pub value_size: usize,
}

/// The value of a [`NamedValue`].
#[repr(C)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub union NamedValueData {
    pub string: *const c_char,
    pub int64: i64,
    pub float: f32,
    pub boolean: bool,
}

/// `PJRT_Program`: code and its format.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct Program {
    pub header: Header,
    pub code: *const c_char,
    pub code_size: usize,
    pub format: *const c_char,
    pub format_size: usize,
}

/// `PJRT_ExecuteOptions`, with zeros for fields that are not used.
#[repr(C)]
#[derive(Debug)]
pub struct ExecuteOptions {
    /// The start.
    pub header: Header,
    /// All fields zero: no callbacks, no launch id, every buffer may be donated.
    pub fields: [usize; 12 + SPARE_WORDS],
}

/// `PJRT_Buffer_MemoryLayout` of kind `Tiled` without tiles.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct MemoryLayout {
    pub header: Header,
    pub tiled: Tiled,
    /// 0 for `Tiled`.
    pub kind: c_int,
}

/// `PJRT_Buffer_MemoryLayout_Tiled`, the larger part of a union.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct Tiled {
    pub header: Header,
    pub minor_to_major: *const i64,
    pub minor_to_major_size: usize,
    pub tile_dims: *const i64,
    pub tile_dim_sizes: *const usize,
    pub num_tiles: usize,
}

/// The start of the table that a plugin returns.
#[repr(C)]
#[derive(Debug)]
struct Table {
    /// The size of the table includes its functions.
    header: Header,
    version_header: Header,
    major: c_int,
    minor: c_int,
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
        assert_eq!(size_of::<ClientCreate>(), 88);
        assert_eq!(size_of::<ClientCompile>(), 56);
        assert_eq!(size_of::<ClientBufferFromHostBuffer>(), 120);
        assert_eq!(size_of::<LoadedExecutableExecute>(), 80);
        assert_eq!(size_of::<BufferToHostBuffer>(), 56);
        assert!(size_of::<ExecuteOptions>() > 112);
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
