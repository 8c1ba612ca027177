//! Structs that the arguments of functions point to.
use super::Header;
use std::ffi::{c_char, c_int, c_void};

/// `PJRT_NamedValue`, an option of a client.
#[repr(C)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct NamedValue {
    pub header: Header,
    pub name: *const c_char,
    pub name_size: usize,
    /// 0 string, 1 int64, 2 list of int64, 3 float, 4 bool.
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
    pub int64_list: *const i64,
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

/// `PJRT_ShapeSpec`: the shape of a buffer to be.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct ShapeSpec {
    pub header: Header,
    pub dims: *const i64,
    pub num_dims: usize,
    pub ty: c_int,
}

/// `PJRT_ExecuteOptions`: all zero for no callbacks, no launch id, and buffers that may all be donated.
#[repr(C)]
#[derive(Debug, Default)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct ExecuteOptions {
    pub header: Header,
    pub send_callbacks: *mut c_void,
    pub recv_callbacks: *mut c_void,
    pub num_send_ops: usize,
    pub num_recv_ops: usize,
    pub launch_id: c_int,
    pub non_donatable_input_indices: *const i64,
    pub num_non_donatable_input_indices: usize,
    /// Fields that are not used.
    pub more: [usize; 5 + super::SPARE_WORDS],
}

/// `PJRT_Buffer_MemoryLayout` of kind `Tiled` without tiles.
#[repr(C)]
#[derive(Debug, Default)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct MemoryLayout {
    pub header: Header,
    pub tiled: Tiled,
    /// 0 for `Tiled`.
    pub kind: c_int,
}

/// `PJRT_Buffer_MemoryLayout_Tiled`, the larger part of a union.
#[repr(C)]
#[derive(Debug, Default)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct Tiled {
    pub header: Header,
    pub minor_to_major: *const i64,
    pub minor_to_major_size: usize,
    pub tile_dims: *const i64,
    pub tile_dim_sizes: *const usize,
    pub num_tiles: usize,
}

/// The first field of an error: its functions. The struct of an error begins with a pointer to this table.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct ErrorFunctionTable {
    pub size: usize,
    pub instance_size: usize,
    pub extension: *mut c_void,
    pub destroy: unsafe extern "C" fn(*mut c_void),
    pub message: unsafe extern "C" fn(*const c_void, *mut *const c_char, *mut usize),
    pub get_code: unsafe extern "C" fn(*const c_void) -> c_int,
    pub for_each_payload: unsafe extern "C" fn(*const c_void, *const c_void, *mut c_void),
}

/// Releases data that a host attached to a memory.
pub type Release = Option<unsafe extern "C" fn(*mut c_void)>;

/// The first field of a memory: its functions.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct MemoryFunctionTable {
    pub size: usize,
    pub extension: *mut c_void,
    pub instance_size: usize,
    pub get_user_data: unsafe extern "C" fn(*mut c_void, *const c_void) -> *mut c_void,
    pub set_user_data: unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_void, Release),
}

/// The replica and the partition of a device in a program.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct LogicalDeviceIds {
    pub replica: c_int,
    pub partition: c_int,
}

/// A function that an event calls when it is ready, with an error or null, and the argument of the caller.
pub type OnReady = unsafe extern "C" fn(*mut c_void, *mut c_void);
/// A function that the caller calls to release what a call returned.
pub type Deleter = unsafe extern "C" fn(*mut c_void);
/// A function of the plugin that the host calls, once, when what a call waits for has come.
pub type HostReady = unsafe extern "C" fn(*mut HostReadyArguments);

/// `PJRT_Buffer_CopyRawToHostFuture_Callback_Args`, and those of `DonateWithControlDependency`, which end before the destination.
#[repr(C)]
#[derive(Debug, Default)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct HostReadyArguments {
    pub size: usize,
    pub data: *mut c_void,
    pub code: c_int,
    pub message: *const c_char,
    pub message_size: usize,
    pub destination: *mut c_void,
}
