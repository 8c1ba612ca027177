//! The table of functions.
#![expect(unsafe_code, reason = "makes the table of functions")]
use crate::call::{Call, calls, entry};
use crate::extension::first;
use crate::failure::Failure;
use crate::handle::{destroy, get};
use crate::raw_error::RawError;
use pjrt::sys::{self, Header, Table};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// The version of the API: 0.112 has 138 functions.
const VERSION: (i32, i32) = (0, 112);
const SLOTS: usize = 138;

type Function = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// The table that hosts get.
#[repr(C)]
struct Api {
    start: Table,
    functions: [Function; SLOTS],
}

// SAFETY: the table is constant.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

/// Returns the table, which lives as long as the process.
pub(crate) fn table() -> *const c_void {
    static TABLE: OnceLock<Api> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut start = Table {
            header: Header::of::<Api>(),
            version_header: Header { size: 24, extension: null_mut() },
            major: VERSION.0,
            minor: VERSION.1,
        };
        start.header.size = size_of::<Api>();
        start.header.extension = first();
        let mut functions: [Function; SLOTS] = [unknown; SLOTS];
        for (slot, function) in NOT_IMPLEMENTED {
            functions[slot] = function;
        }
        for (slot, function) in implemented() {
            functions[slot] = function;
        }
        Api { start, functions }
    });
    (&raw const *table).cast()
}

unsafe extern "C" fn unknown(_: *mut c_void) -> *mut c_void {
    Failure::unimplemented("this function of the PJRT C API is not implemented by Etalon")
        .into_raw()
}

calls! {
    // These two return nothing, so they ignore what is wrong with their struct.
    ErrorDestroy(a) {
        destroy::<RawError>(a.error);
        Ok(())
    }
    ErrorMessage(a) {
        let message = &get::<RawError>(a.error)?.failure.message;
        (a.message, a.message_size) = (message.as_ptr().cast(), message.len());
        Ok(())
    }
    ErrorGetCode(a) { a.code = get::<RawError>(a.error)?.failure.code.0; Ok(()) }
    ErrorForEachPayload(_a) { Ok(()) }
}

const fn row<A: Call>() -> (usize, Function) {
    (A::SLOT, entry::<A>)
}

macro_rules! rows {
    ($($name:ident)*) => { [$(row::<sys::$name>()),*] };
}

fn implemented() -> [(usize, Function); 128] {
    rows! {
        ErrorDestroy ErrorMessage ErrorGetCode PluginInitialize PluginAttributes EventDestroy
        EventIsReady EventError EventAwait EventOnReady ClientCreate ClientDestroy
        ClientPlatformName ClientProcessIndex ClientPlatformVersion ClientDevices
        ClientAddressableDevices ClientLookupDevice ClientLookupAddressableDevice
        ClientAddressableMemories ClientCompile ClientDefaultDeviceAssignment
        ClientBufferFromHostBuffer DeviceDescriptionId DeviceDescriptionProcessIndex
        DeviceDescriptionAttributes DeviceDescriptionKind DeviceDescriptionDebugString
        DeviceDescriptionToString DeviceGetDescription DeviceIsAddressable DeviceLocalHardwareId
        DeviceAddressableMemories DeviceDefaultMemory DeviceMemoryStats MemoryId MemoryKind
        MemoryDebugString MemoryToString MemoryAddressableByDevices ExecutableDestroy
        ExecutableName ExecutableNumReplicas ExecutableNumPartitions ExecutableNumOutputs
        ExecutableSizeOfGeneratedCodeInBytes ExecutableGetCostAnalysis ExecutableOutputMemoryKinds
        ExecutableOptimizedProgram ExecutableSerialize LoadedExecutableDestroy
        LoadedExecutableGetExecutable LoadedExecutableAddressableDevices LoadedExecutableDelete
        LoadedExecutableIsDeleted LoadedExecutableExecute ExecutableDeserializeAndLoad
        LoadedExecutableFingerprint BufferDestroy BufferElementType BufferDimensions
        BufferUnpaddedDimensions BufferDynamicDimensionIndices BufferGetMemoryLayout
        BufferOnDeviceSizeInBytes BufferDevice BufferMemory BufferDelete BufferIsDeleted
        BufferCopyToDevice BufferToHostBuffer BufferIsOnCpu BufferReadyEvent BufferUnsafePointer
        BufferIncreaseExternalReferenceCount BufferDecreaseExternalReferenceCount
        BufferOpaqueDeviceMemoryDataPointer TopologyDescriptionDestroy
        TopologyDescriptionPlatformName TopologyDescriptionPlatformVersion
        TopologyDescriptionGetDeviceDescriptions TopologyDescriptionAttributes
        ExecutableOutputElementTypes ExecutableOutputDimensions BufferCopyToMemory
        ClientCreateViewOfDeviceBuffer ExecutableFingerprint ClientTopologyDescription
        ExecutableGetCompiledMemoryStats MemoryKindId ExecuteContextCreate ExecuteContextDestroy
        BufferCopyRawToHost LoadedExecutableGetDeviceAssignment ExecutableGetCompileOptions
        DeviceGetAttributes LoadedExecutableAddressableDeviceLogicalIds ErrorForEachPayload
        TopologyDescriptionFingerprint ExecutableParameterMemoryKinds DeviceClearMemoryStats EventCreate
        EventSet ClientDmaMap ClientDmaUnmap ClientCreateUninitializedBuffer ClientCreateErrorBuffer
        ClientCreateAliasBuffer ClientFulfillAliasBuffer ClientUpdateGlobalProcessInfo
        TopologyDescriptionCreate TopologyDescriptionSerialize TopologyDescriptionDeserialize Compile ClientLoad
        ClientCreateUpload UploadDestroy UploadTransferData UploadRetrieveBuffer UploadDevice UploadBufferCount
        UploadBufferSize UploadSetBufferError UploadAddMetadata UploadTransferLiteral BufferBitcast BufferCopyRawToHostFuture
        BufferDonateWithControlDependency
    }
}

macro_rules! not_implemented {
    ($($slot:literal $name:literal)*) => { [$(($slot, {
        unsafe extern "C" fn function(_: *mut c_void) -> *mut c_void {
            Failure::unimplemented(concat!($name, " is not implemented by Etalon")).into_raw()
        }
        function
    })),*] };
}

/// The functions without a meaning here: streams of a device, control over its schedule, memory spaces.
static NOT_IMPLEMENTED: [(usize, Function); 10] = not_implemented! {
    77 "PJRT_CopyToDeviceStream_Destroy"
    78 "PJRT_CopyToDeviceStream_AddChunk"
    79 "PJRT_CopyToDeviceStream_TotalBytes"
    80 "PJRT_CopyToDeviceStream_GranuleSize"
    81 "PJRT_CopyToDeviceStream_CurrentBytes"
    121 "PJRT_Device_PoisonExecution"
    122 "PJRT_Device_CreateAsyncTrackingEvent"
    123 "PJRT_AsyncTrackingEvent_Destroy"
    136 "PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace"
    137 "PJRT_TopologyDescription_GetMemorySpaceKindIds"
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slot_has_one_function() {
        let mut slots: Vec<usize> = implemented().iter().map(|row| row.0).collect();
        slots.extend(NOT_IMPLEMENTED.iter().map(|row| row.0));
        slots.sort_unstable();
        assert_eq!(slots, (0..SLOTS).collect::<Vec<_>>());
        assert_eq!(size_of::<Api>(), 40 + 8 * SLOTS);
    }
}
