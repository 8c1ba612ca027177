//! Extensions of the table: their structs, and the arguments of their functions, whose slots are those of the extension.
#![expect(unsafe_code, reason = "declares the structs of foreign functions")]
use super::{Arguments, Deleter, Header};
use std::ffi::{c_char, c_int, c_void};

/// The start of an extension; the table, and each extension, points to the next.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct Extension<const FUNCTIONS: usize> {
    pub size: usize,
    /// 4 for layouts, 5 for the FFI.
    pub kind: c_int,
    pub next: *const c_void,
    pub functions: [unsafe extern "C" fn(*mut c_void) -> *mut c_void; FUNCTIONS],
}

/// The arguments of `PJRT_FFI_Register_Handler`, which have no header.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs, reason = "the C API documents its fields")]
pub struct FfiRegisterHandler {
    pub size: usize,
    pub target: *const c_char,
    pub target_size: usize,
    pub handler: Option<unsafe extern "C" fn(*mut c_void) -> *mut c_void>,
    pub platform: *const c_char,
    pub platform_size: usize,
    pub traits: c_int,
}

functions! {
    0 "PJRT_Layouts_MemoryLayout_Destroy" LayoutDestroy { layout: *mut c_void }
    1 "PJRT_Layouts_MemoryLayout_Serialize" LayoutSerialize {
        layout: *mut c_void, bytes: *const c_char, bytes_size: usize, owner: *mut c_void, deleter: Option<Deleter>,
    }
    2 "PJRT_Layouts_PJRT_Client_GetDefaultLayout" ClientDefaultLayout {
        client: *mut c_void, ty: c_int, dims: *const i64, num_dims: usize, layout: *mut c_void,
    }
    3 "PJRT_Layouts_PJRT_Buffer_MemoryLayout" BufferLayout { buffer: *mut c_void, layout: *mut c_void }
    4 "PJRT_Layouts_PJRT_Topology_GetDefaultLayout" TopologyDefaultLayout {
        topology: *mut c_void, ty: c_int, dims: *const i64, num_dims: usize, layout: *mut c_void,
    }
    5 "PJRT_Layouts_PJRT_Executable_GetOutputLayouts" ExecutableOutputLayouts {
        executable: *mut c_void, num_outputs: usize, layouts: *const *const c_void,
    }
    6 "PJRT_Layouts_PJRT_Executable_GetParameterLayouts" ExecutableParameterLayouts {
        executable: *mut c_void, num_parameters: usize, layouts: *const *const c_void,
    }
}
