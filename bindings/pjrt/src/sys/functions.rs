//! The functions of the table, with their arguments and results.
#![expect(unsafe_code, reason = "declares the structs of foreign functions")]
use super::{
    Arguments, Deleter, ExecuteOptions, Header, HostReady, LogicalDeviceIds, MemoryLayout,
    NamedValue, OnReady, Program, ShapeSpec,
};
use std::ffi::{c_char, c_int, c_void};

functions! {
    0 "PJRT_Error_Destroy" ErrorDestroy { error: *mut c_void }
    1 "PJRT_Error_Message" ErrorMessage { error: *const c_void, message: *const c_char, message_size: usize }
    2 "PJRT_Error_GetCode" ErrorGetCode { error: *const c_void, code: c_int }
    3 "PJRT_Plugin_Initialize" PluginInitialize { }
    4 "PJRT_Plugin_Attributes" PluginAttributes { attributes: *const NamedValue, num_attributes: usize }
    5 "PJRT_Event_Destroy" EventDestroy { event: *mut c_void }
    6 "PJRT_Event_IsReady" EventIsReady { event: *mut c_void, is_ready: bool }
    7 "PJRT_Event_Error" EventError { event: *mut c_void }
    8 "PJRT_Event_Await" EventAwait { event: *mut c_void }
    9 "PJRT_Event_OnReady" EventOnReady { event: *mut c_void, callback: Option<OnReady>, user_arg: *mut c_void }
    10 "PJRT_Client_Create" ClientCreate {
        create_options: *const NamedValue, num_options: usize,
        kv_get_callback: *const c_void, kv_get_user_arg: *mut c_void,
        kv_put_callback: *const c_void, kv_put_user_arg: *mut c_void,
        client: *mut c_void,
    }
    11 "PJRT_Client_Destroy" ClientDestroy { client: *mut c_void }
    12 "PJRT_Client_PlatformName" ClientPlatformName { client: *mut c_void, name: *const c_char, name_size: usize }
    13 "PJRT_Client_ProcessIndex" ClientProcessIndex { client: *mut c_void, process_index: c_int }
    14 "PJRT_Client_PlatformVersion" ClientPlatformVersion { client: *mut c_void, version: *const c_char, version_size: usize }
    15 "PJRT_Client_Devices" ClientDevices { client: *mut c_void, devices: *const *mut c_void, num_devices: usize }
    16 "PJRT_Client_AddressableDevices" ClientAddressableDevices { client: *mut c_void, devices: *const *mut c_void, num_devices: usize }
    17 "PJRT_Client_LookupDevice" ClientLookupDevice { client: *mut c_void, id: c_int, device: *mut c_void }
    18 "PJRT_Client_LookupAddressableDevice" ClientLookupAddressableDevice { client: *mut c_void, local_hardware_id: c_int, device: *mut c_void }
    19 "PJRT_Client_AddressableMemories" ClientAddressableMemories { client: *mut c_void, memories: *const *mut c_void, num_memories: usize }
    20 "PJRT_Client_Compile" ClientCompile {
        client: *mut c_void, program: *const Program, options: *const c_char, options_size: usize, executable: *mut c_void,
    }
    21 "PJRT_Client_DefaultDeviceAssignment" ClientDefaultDeviceAssignment {
        client: *mut c_void, num_replicas: c_int, num_partitions: c_int, assignment_size: usize, assignment: *mut c_int,
    }
    22 "PJRT_Client_BufferFromHostBuffer" ClientBufferFromHostBuffer {
        client: *mut c_void, data: *const c_void, ty: c_int, dims: *const i64, num_dims: usize,
        byte_strides: *const i64, num_byte_strides: usize, host_buffer_semantics: c_int,
        device: *mut c_void, memory: *mut c_void, device_layout: *mut MemoryLayout,
        done_with_host_buffer: *mut c_void, buffer: *mut c_void,
    }
    23 "PJRT_DeviceDescription_Id" DeviceDescriptionId { description: *mut c_void, id: c_int }
    24 "PJRT_DeviceDescription_ProcessIndex" DeviceDescriptionProcessIndex { description: *mut c_void, process_index: c_int }
    25 "PJRT_DeviceDescription_Attributes" DeviceDescriptionAttributes { description: *mut c_void, num_attributes: usize, attributes: *const NamedValue }
    26 "PJRT_DeviceDescription_Kind" DeviceDescriptionKind { description: *mut c_void, kind: *const c_char, kind_size: usize }
    27 "PJRT_DeviceDescription_DebugString" DeviceDescriptionDebugString { description: *mut c_void, text: *const c_char, text_size: usize }
    28 "PJRT_DeviceDescription_ToString" DeviceDescriptionToString { description: *mut c_void, text: *const c_char, text_size: usize }
    29 "PJRT_Device_GetDescription" DeviceGetDescription { device: *mut c_void, description: *mut c_void }
    30 "PJRT_Device_IsAddressable" DeviceIsAddressable { device: *mut c_void, is_addressable: bool }
    31 "PJRT_Device_LocalHardwareId" DeviceLocalHardwareId { device: *mut c_void, local_hardware_id: c_int }
    32 "PJRT_Device_AddressableMemories" DeviceAddressableMemories { device: *mut c_void, memories: *const *mut c_void, num_memories: usize }
    33 "PJRT_Device_DefaultMemory" DeviceDefaultMemory { device: *mut c_void, memory: *mut c_void }
    34 "PJRT_Device_MemoryStats" DeviceMemoryStats {
        device: *mut c_void, bytes_in_use: i64,
        peak_bytes_in_use: i64, peak_bytes_in_use_is_set: bool,
        num_allocs: i64, num_allocs_is_set: bool,
        largest_alloc_size: i64, largest_alloc_size_is_set: bool,
        bytes_limit: i64, bytes_limit_is_set: bool,
        bytes_reserved: i64, bytes_reserved_is_set: bool,
        peak_bytes_reserved: i64, peak_bytes_reserved_is_set: bool,
        bytes_reservable_limit: i64, bytes_reservable_limit_is_set: bool,
        largest_free_block_bytes: i64, largest_free_block_bytes_is_set: bool,
        pool_bytes: i64, pool_bytes_is_set: bool,
        peak_pool_bytes: i64, peak_pool_bytes_is_set: bool,
    }
    35 "PJRT_Memory_Id" MemoryId { memory: *mut c_void, id: c_int }
    36 "PJRT_Memory_Kind" MemoryKind { memory: *mut c_void, kind: *const c_char, kind_size: usize }
    37 "PJRT_Memory_DebugString" MemoryDebugString { memory: *mut c_void, text: *const c_char, text_size: usize }
    38 "PJRT_Memory_ToString" MemoryToString { memory: *mut c_void, text: *const c_char, text_size: usize }
    39 "PJRT_Memory_AddressableByDevices" MemoryAddressableByDevices { memory: *mut c_void, devices: *const *mut c_void, num_devices: usize }
    40 "PJRT_Executable_Destroy" ExecutableDestroy { executable: *mut c_void }
    41 "PJRT_Executable_Name" ExecutableName { executable: *mut c_void, name: *const c_char, name_size: usize }
    42 "PJRT_Executable_NumReplicas" ExecutableNumReplicas { executable: *mut c_void, num_replicas: usize }
    43 "PJRT_Executable_NumPartitions" ExecutableNumPartitions { executable: *mut c_void, num_partitions: usize }
    44 "PJRT_Executable_NumOutputs" ExecutableNumOutputs { executable: *mut c_void, num_outputs: usize }
    45 "PJRT_Executable_SizeOfGeneratedCodeInBytes" ExecutableSizeOfGeneratedCodeInBytes { executable: *mut c_void, size_in_bytes: i64 }
    46 "PJRT_Executable_GetCostAnalysis" ExecutableGetCostAnalysis { executable: *mut c_void, num_properties: usize, properties: *const NamedValue }
    47 "PJRT_Executable_OutputMemoryKinds" ExecutableOutputMemoryKinds {
        executable: *mut c_void, num_outputs: usize, memory_kinds: *const *const c_char, memory_kind_sizes: *const usize,
    }
    48 "PJRT_Executable_OptimizedProgram" ExecutableOptimizedProgram { executable: *mut c_void, program: *mut Program }
    49 "PJRT_Executable_Serialize" ExecutableSerialize {
        executable: *mut c_void, bytes: *const c_char, bytes_size: usize, owner: *mut c_void, deleter: Option<Deleter>,
    }
    50 "PJRT_LoadedExecutable_Destroy" LoadedExecutableDestroy { executable: *mut c_void }
    51 "PJRT_LoadedExecutable_GetExecutable" LoadedExecutableGetExecutable { loaded_executable: *mut c_void, executable: *mut c_void }
    52 "PJRT_LoadedExecutable_AddressableDevices" LoadedExecutableAddressableDevices { executable: *mut c_void, devices: *const *mut c_void, num_devices: usize }
    53 "PJRT_LoadedExecutable_Delete" LoadedExecutableDelete { executable: *mut c_void }
    54 "PJRT_LoadedExecutable_IsDeleted" LoadedExecutableIsDeleted { executable: *mut c_void, is_deleted: bool }
    55 "PJRT_LoadedExecutable_Execute" LoadedExecutableExecute {
        executable: *mut c_void, options: *mut ExecuteOptions,
        argument_lists: *const *const *mut c_void, num_devices: usize, num_args: usize,
        output_lists: *const *mut *mut c_void, device_complete_events: *mut *mut c_void, execute_device: *mut c_void,
    }
    56 "PJRT_Executable_DeserializeAndLoad" ExecutableDeserializeAndLoad { client: *mut c_void, bytes: *const c_char, bytes_size: usize, executable: *mut c_void }
    57 "PJRT_LoadedExecutable_Fingerprint" LoadedExecutableFingerprint { executable: *mut c_void, fingerprint: *const c_char, fingerprint_size: usize }
    58 "PJRT_Buffer_Destroy" BufferDestroy { buffer: *mut c_void }
    59 "PJRT_Buffer_ElementType" BufferElementType { buffer: *mut c_void, ty: c_int }
    60 "PJRT_Buffer_Dimensions" BufferDimensions { buffer: *mut c_void, dims: *const i64, num_dims: usize }
    61 "PJRT_Buffer_UnpaddedDimensions" BufferUnpaddedDimensions { buffer: *mut c_void, unpadded_dims: *const i64, num_dims: usize }
    62 "PJRT_Buffer_DynamicDimensionIndices" BufferDynamicDimensionIndices { buffer: *mut c_void, dynamic_dim_indices: *const usize, num_dynamic_dims: usize }
    63 "PJRT_Buffer_GetMemoryLayout" BufferGetMemoryLayout { buffer: *mut c_void, layout: MemoryLayout }
    64 "PJRT_Buffer_OnDeviceSizeInBytes" BufferOnDeviceSizeInBytes { buffer: *mut c_void, bytes: usize }
    65 "PJRT_Buffer_Device" BufferDevice { buffer: *mut c_void, device: *mut c_void }
    66 "PJRT_Buffer_Memory" BufferMemory { buffer: *mut c_void, memory: *mut c_void }
    67 "PJRT_Buffer_Delete" BufferDelete { buffer: *mut c_void }
    68 "PJRT_Buffer_IsDeleted" BufferIsDeleted { buffer: *mut c_void, is_deleted: bool }
    69 "PJRT_Buffer_CopyToDevice" BufferCopyToDevice { buffer: *mut c_void, device: *mut c_void, copy: *mut c_void }
    70 "PJRT_Buffer_ToHostBuffer" BufferToHostBuffer {
        buffer: *mut c_void, host_layout: *mut MemoryLayout, destination: *mut c_void, destination_size: usize,
        event: *mut c_void,
    }
    71 "PJRT_Buffer_IsOnCpu" BufferIsOnCpu { buffer: *mut c_void, is_on_cpu: bool }
    72 "PJRT_Buffer_ReadyEvent" BufferReadyEvent { buffer: *mut c_void, event: *mut c_void }
    73 "PJRT_Buffer_UnsafePointer" BufferUnsafePointer { buffer: *mut c_void, pointer: usize }
    74 "PJRT_Buffer_IncreaseExternalReferenceCount" BufferIncreaseExternalReferenceCount { buffer: *mut c_void }
    75 "PJRT_Buffer_DecreaseExternalReferenceCount" BufferDecreaseExternalReferenceCount { buffer: *mut c_void }
    76 "PJRT_Buffer_OpaqueDeviceMemoryDataPointer" BufferOpaqueDeviceMemoryDataPointer { buffer: *mut c_void, pointer: *mut c_void }
    82 "PJRT_TopologyDescription_Create" TopologyDescriptionCreate {
        name: *const c_char, name_size: usize, create_options: *const NamedValue, num_options: usize, topology: *mut c_void,
    }
    83 "PJRT_TopologyDescription_Destroy" TopologyDescriptionDestroy { topology: *mut c_void }
    84 "PJRT_TopologyDescription_PlatformName" TopologyDescriptionPlatformName { topology: *mut c_void, name: *const c_char, name_size: usize }
    85 "PJRT_TopologyDescription_PlatformVersion" TopologyDescriptionPlatformVersion { topology: *mut c_void, version: *const c_char, version_size: usize }
    86 "PJRT_TopologyDescription_GetDeviceDescriptions" TopologyDescriptionGetDeviceDescriptions { topology: *mut c_void, descriptions: *const *mut c_void, num_descriptions: usize }
    87 "PJRT_TopologyDescription_Serialize" TopologyDescriptionSerialize {
        topology: *mut c_void, bytes: *const c_char, bytes_size: usize, owner: *mut c_void, deleter: Option<Deleter>,
    }
    88 "PJRT_TopologyDescription_Attributes" TopologyDescriptionAttributes { topology: *mut c_void, attributes: *const NamedValue, num_attributes: usize }
    89 "PJRT_Compile" Compile {
        topology: *mut c_void, program: *const Program, options: *const c_char, options_size: usize, client: *mut c_void,
        executable: *mut c_void,
    }
    90 "PJRT_Executable_OutputElementTypes" ExecutableOutputElementTypes { executable: *mut c_void, types: *const c_int, num_types: usize }
    91 "PJRT_Executable_OutputDimensions" ExecutableOutputDimensions { executable: *mut c_void, num_outputs: usize, dims: *const i64, dim_sizes: *const usize }
    92 "PJRT_Buffer_CopyToMemory" BufferCopyToMemory { buffer: *mut c_void, memory: *mut c_void, copy: *mut c_void }
    93 "PJRT_Client_CreateViewOfDeviceBuffer" ClientCreateViewOfDeviceBuffer {
        client: *mut c_void, pointer: *mut c_void, dims: *const i64, num_dims: usize, ty: c_int,
        layout: *mut MemoryLayout, device: *mut c_void, on_delete: Option<OnReady>, on_delete_arg: *mut c_void,
        stream: isize, buffer: *mut c_void, memory: *mut c_void,
    }
    94 "PJRT_Executable_Fingerprint" ExecutableFingerprint { executable: *mut c_void, fingerprint: *const c_char, fingerprint_size: usize }
    95 "PJRT_Client_TopologyDescription" ClientTopologyDescription { client: *mut c_void, topology: *mut c_void }
    96 "PJRT_Executable_GetCompiledMemoryStats" ExecutableGetCompiledMemoryStats {
        executable: *mut c_void, generated_code: i64, arguments: i64, outputs: i64, aliases: i64, temporaries: i64,
        host_generated_code: i64, host_arguments: i64, host_outputs: i64, host_aliases: i64, host_temporaries: i64;
        peak: i64, total: i64
    }
    97 "PJRT_Memory_Kind_Id" MemoryKindId { memory: *mut c_void, kind_id: c_int }
    98 "PJRT_ExecuteContext_Create" ExecuteContextCreate { context: *mut c_void }
    99 "PJRT_ExecuteContext_Destroy" ExecuteContextDestroy { context: *mut c_void }
    100 "PJRT_Buffer_CopyRawToHost" BufferCopyRawToHost {
        buffer: *mut c_void, destination: *mut c_void, offset: i64, size: i64, event: *mut c_void,
    }
    101 "PJRT_AsyncHostToDeviceTransferManager_Destroy" UploadDestroy { upload: *mut c_void }
    102 "PJRT_AsyncHostToDeviceTransferManager_TransferData" UploadTransferData {
        upload: *mut c_void, index: c_int, data: *const c_void, offset: i64, size: i64, is_last: bool, done: *mut c_void,
    }
    103 "PJRT_Client_CreateBuffersForAsyncHostToDevice" ClientCreateUpload {
        client: *mut c_void, shapes: *const ShapeSpec, num_shapes: usize,
        layouts: *const *const MemoryLayout, num_layouts: usize, memory: *mut c_void, upload: *mut c_void,
    }
    104 "PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer" UploadRetrieveBuffer { upload: *mut c_void, index: c_int, buffer: *mut c_void }
    105 "PJRT_AsyncHostToDeviceTransferManager_Device" UploadDevice { upload: *mut c_void, device: *mut c_void }
    106 "PJRT_AsyncHostToDeviceTransferManager_BufferCount" UploadBufferCount { upload: *mut c_void, count: usize }
    107 "PJRT_AsyncHostToDeviceTransferManager_BufferSize" UploadBufferSize { upload: *mut c_void, index: c_int, size: usize }
    108 "PJRT_AsyncHostToDeviceTransferManager_SetBufferError" UploadSetBufferError {
        upload: *mut c_void, index: c_int, code: c_int, message: *const c_char, message_size: usize,
    }
    109 "PJRT_AsyncHostToDeviceTransferManager_AddMetadata" UploadAddMetadata { upload: *mut c_void, metadata: *const NamedValue, num_metadata: usize }
    110 "PJRT_Client_DmaMap" ClientDmaMap { client: *mut c_void, data: *mut c_void, size: usize }
    111 "PJRT_Client_DmaUnmap" ClientDmaUnmap { client: *mut c_void, data: *mut c_void }
    112 "PJRT_Client_CreateUninitializedBuffer" ClientCreateUninitializedBuffer {
        client: *mut c_void, dims: *const i64, num_dims: usize, ty: c_int, layout: *mut MemoryLayout,
        device: *mut c_void, memory: *mut c_void, buffer: *mut c_void,
    }
    113 "PJRT_Client_UpdateGlobalProcessInfo" ClientUpdateGlobalProcessInfo { client: *mut c_void, processes: *const c_void, num_processes: usize }
    114 "PJRT_TopologyDescription_Deserialize" TopologyDescriptionDeserialize { bytes: *const c_char, bytes_size: usize, topology: *mut c_void }
    115 "PJRT_Client_CreateAliasBuffer" ClientCreateAliasBuffer {
        client: *mut c_void, memory: *mut c_void, dims: *const i64, num_dims: usize, ty: c_int,
        layout: *mut MemoryLayout, alias: *mut c_void, fulfill: *mut c_void,
    }
    116 "PJRT_Client_FulfillAliasBuffer" ClientFulfillAliasBuffer {
        client: *mut c_void, buffer: *mut c_void, code: c_int, message: *const c_char, message_size: usize,
        fulfill: *mut c_void,
    }
    117 "PJRT_LoadedExecutable_GetDeviceAssignment" LoadedExecutableGetDeviceAssignment {
        executable: *mut c_void, bytes: *const c_char, bytes_size: usize, owner: *mut c_void, deleter: Option<Deleter>,
    }
    118 "PJRT_Client_CreateErrorBuffer" ClientCreateErrorBuffer {
        client: *mut c_void, code: c_int, message: *const c_char, message_size: usize, dims: *const i64,
        num_dims: usize, ty: c_int, layout: *mut MemoryLayout, memory: *mut c_void, buffer: *mut c_void,
    }
    119 "PJRT_AsyncHostToDeviceTransferManager_TransferLiteral" UploadTransferLiteral {
        upload: *mut c_void, index: c_int, data: *const c_void, dims: *const i64, num_dims: usize, ty: c_int,
        layout: *mut MemoryLayout, done: *mut c_void,
    }
    120 "PJRT_Buffer_CopyRawToHostFuture" BufferCopyRawToHostFuture {
        buffer: *mut c_void, offset: i64, size: i64, event: *mut c_void, data: *mut c_void, ready: Option<HostReady>,
    }
    124 "PJRT_Executable_GetCompileOptions" ExecutableGetCompileOptions {
        executable: *mut c_void, bytes: *const c_char, bytes_size: usize, owner: *mut c_void, deleter: Option<Deleter>,
    }
    125 "PJRT_Buffer_DonateWithControlDependency" BufferDonateWithControlDependency {
        buffer: *mut c_void, data: *mut c_void, ready: Option<HostReady>, result: *mut c_void,
    }
    126 "PJRT_Event_Create" EventCreate { event: *mut c_void }
    127 "PJRT_Event_Set" EventSet { event: *mut c_void, code: c_int, message: *const c_char, message_size: usize }
    128 "PJRT_Device_GetAttributes" DeviceGetAttributes {
        device: *mut c_void, attributes: *const NamedValue, num_attributes: usize, owner: *mut c_void, deleter: Option<Deleter>,
    }
    129 "PJRT_Client_Load" ClientLoad {
        client: *mut c_void, executable: *mut c_void, options: *const c_char, options_size: usize, loaded_executable: *mut c_void,
    }
    130 "PJRT_LoadedExecutable_AddressableDeviceLogicalIds" LoadedExecutableAddressableDeviceLogicalIds { executable: *mut c_void, ids: *const LogicalDeviceIds, num_ids: usize }
    131 "PJRT_Buffer_Bitcast" BufferBitcast {
        buffer: *mut c_void, ty: c_int, dims: *const i64, num_dims: usize, layout: *mut MemoryLayout, result: *mut c_void,
    }
    132 "PJRT_Error_ForEachPayload" ErrorForEachPayload { error: *const c_void, visitor: *const c_void, user_arg: *mut c_void }
    133 "PJRT_TopologyDescription_Fingerprint" TopologyDescriptionFingerprint { topology: *mut c_void, fingerprint: u64 }
    134 "PJRT_Executable_ParameterMemoryKinds" ExecutableParameterMemoryKinds {
        executable: *mut c_void, num_parameters: usize, memory_kinds: *const *const c_char, memory_kind_sizes: *const usize,
    }
    135 "PJRT_Device_ClearMemoryStats" DeviceClearMemoryStats { device: *mut c_void }
}
