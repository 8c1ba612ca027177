//! Devices and their memories.
#![expect(unsafe_code, reason = "hands devices to a host")]
use crate::call::calls;
use crate::failure::Failure;
use crate::handle::get;
use pjrt::sys::{MemoryFunctionTable, Release};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The kind of all devices.
const KIND: &str = "etalon";
/// The kind of all memories.
pub(crate) const MEMORY_KIND: &str = "device";

/// A device, which is its own description. Its address does not change.
pub(crate) struct Device {
    pub(crate) number: usize,
    id: c_int,
    name: String,
    memory: Memory,
    memory_handle: [*mut c_void; 1],
    pub(crate) usage: Arc<Usage>,
}

/// The memory of a device.
#[repr(C)]
pub(crate) struct Memory {
    functions: &'static MemoryFunctionTable,
    id: c_int,
    device: *mut c_void,
    pub(crate) number: usize,
    name: String,
    user_data: Mutex<BTreeMap<usize, UserData>>,
}

/// Data that the host attached to a memory.
struct UserData {
    data: *mut c_void,
    release: Release,
}

impl Drop for UserData {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the host gave the function for this data, and it is called once.
            unsafe { release(self.data) };
        }
    }
}

/// The bytes of the buffers of a device.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    /// The most bytes that programs may use, if it is known.
    limit: Option<i64>,
    bytes: AtomicI64,
    peak: AtomicI64,
    allocations: AtomicI64,
    largest: AtomicI64,
}

/// Bytes of a buffer, counted until it is dropped.
pub(crate) struct Charge(Arc<Usage>, i64);

impl Usage {
    /// Counts the bytes of a buffer.
    pub(crate) fn charge(self: &Arc<Self>, bytes: usize) -> Charge {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let now = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(now, Ordering::Relaxed);
        self.largest.fetch_max(bytes, Ordering::Relaxed);
        self.allocations.fetch_add(1, Ordering::Relaxed);
        Charge(Arc::clone(self), bytes)
    }
}
impl Drop for Charge {
    fn drop(&mut self) {
        self.0.bytes.fetch_sub(self.1, Ordering::Relaxed);
    }
}

impl Device {
    /// Creates a device at an address that does not change.
    pub(crate) fn new(number: usize, limit: Option<i64>) -> Box<Self> {
        let id = c_int::try_from(number).unwrap_or(c_int::MAX);
        let memory = Memory {
            functions: &MEMORY_FUNCTIONS.0,
            id,
            device: null_mut(),
            number,
            name: format!("EtalonMemory(id={id})"),
            user_data: Mutex::default(),
        };
        let mut device = Box::new(Self {
            number,
            id,
            name: format!("EtalonDevice(id={id})"),
            memory,
            memory_handle: [null_mut()],
            usage: Arc::new(Usage { limit, ..Usage::default() }),
        });
        let address = (&raw mut *device).cast();
        device.memory.device = address;
        device.memory_handle = [(&raw mut device.memory).cast()];
        device
    }
    pub(crate) fn handle(&self) -> *mut c_void {
        (&raw const *self).cast_mut().cast()
    }
    pub(crate) fn memory_handle(&self) -> *mut c_void {
        self.memory_handle[0]
    }
}

#[repr(transparent)]
struct MemoryFunctions(MemoryFunctionTable);

// SAFETY: the table is constant.
unsafe impl Sync for MemoryFunctions {}

static MEMORY_FUNCTIONS: MemoryFunctions = MemoryFunctions(MemoryFunctionTable {
    size: size_of::<MemoryFunctionTable>(),
    extension: null_mut(),
    instance_size: size_of::<usize>(),
    get_user_data,
    set_user_data,
});

unsafe extern "C" fn get_user_data(memory: *mut c_void, key: *const c_void) -> *mut c_void {
    // SAFETY: the host passes a memory of this plugin.
    let Ok(memory) = (unsafe { get::<Memory>(memory) }) else { return null_mut() };
    let known = memory.user_data.lock().unwrap_or_else(PoisonError::into_inner);
    known.get(&key.addr()).map_or(null_mut(), |found| found.data)
}
unsafe extern "C" fn set_user_data(
    memory: *mut c_void,
    key: *const c_void,
    data: *mut c_void,
    release: Release,
) {
    // SAFETY: as above.
    let Ok(memory) = (unsafe { get::<Memory>(memory) }) else { return };
    let mut known = memory.user_data.lock().unwrap_or_else(PoisonError::into_inner);
    let old = match data.is_null() {
        true => known.remove(&key.addr()),
        false => known.insert(key.addr(), UserData { data, release }),
    };
    drop(known);
    drop(old);
}

calls! {
    DeviceDescriptionId(a) { a.id = get::<Device>(a.description)?.id; Ok(()) }
    DeviceDescriptionProcessIndex(a) { a.process_index = 0; Ok(()) }
    DeviceDescriptionAttributes(a) {
        (a.num_attributes, a.attributes) = (0, null());
        Ok(())
    }
    DeviceDescriptionKind(a) {
        (a.kind, a.kind_size) = (KIND.as_ptr().cast(), KIND.len());
        Ok(())
    }
    DeviceDescriptionDebugString(a) {
        let name = &get::<Device>(a.description)?.name;
        (a.text, a.text_size) = (name.as_ptr().cast(), name.len());
        Ok(())
    }
    DeviceDescriptionToString(a) {
        let name = &get::<Device>(a.description)?.name;
        (a.text, a.text_size) = (name.as_ptr().cast(), name.len());
        Ok(())
    }
    DeviceGetDescription(a) { a.description = get::<Device>(a.device)?.handle(); Ok(()) }
    DeviceIsAddressable(a) { a.is_addressable = true; Ok(()) }
    DeviceLocalHardwareId(a) { a.local_hardware_id = get::<Device>(a.device)?.id; Ok(()) }
    DeviceAddressableMemories(a) {
        a.memories = get::<Device>(a.device)?.memory_handle.as_ptr();
        a.num_memories = 1;
        Ok(())
    }
    DeviceDefaultMemory(a) { a.memory = get::<Device>(a.device)?.memory_handle(); Ok(()) }
    DeviceMemoryStats(a) {
        let usage = &get::<Device>(a.device)?.usage;
        a.bytes_in_use = usage.bytes.load(Ordering::Relaxed);
        (a.peak_bytes_in_use, a.peak_bytes_in_use_is_set) = (usage.peak.load(Ordering::Relaxed), true);
        (a.num_allocs, a.num_allocs_is_set) = (usage.allocations.load(Ordering::Relaxed), true);
        (a.largest_alloc_size, a.largest_alloc_size_is_set) = (usage.largest.load(Ordering::Relaxed), true);
        let limit = usage.limit;
        (a.bytes_limit, a.bytes_limit_is_set) = (limit.unwrap_or(0), limit.is_some());
        // Nothing is reserved: memory is the system's until a buffer needs it.
        (a.bytes_reserved, a.bytes_reserved_is_set) = (0, true);
        (a.peak_bytes_reserved, a.peak_bytes_reserved_is_set) = (0, true);
        a.bytes_reservable_limit_is_set = false;
        a.largest_free_block_bytes = limit.map_or(0, |limit| (limit - a.bytes_in_use).max(0));
        a.largest_free_block_bytes_is_set = limit.is_some();
        a.pool_bytes_is_set = false;
        a.peak_pool_bytes_is_set = false;
        Ok(())
    }
    DeviceClearMemoryStats(a) {
        let usage = &get::<Device>(a.device)?.usage;
        usage.peak.store(usage.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
        Ok(())
    }
    DeviceGetAttributes(a) {
        (a.attributes, a.num_attributes) = (null(), 0);
        a.owner = null_mut();
        a.deleter = Some(nothing_to_delete);
        Ok(())
    }
    MemoryId(a) { a.id = get::<Memory>(a.memory)?.id; Ok(()) }
    MemoryKind(a) {
        (a.kind, a.kind_size) = (MEMORY_KIND.as_ptr().cast(), MEMORY_KIND.len());
        Ok(())
    }
    MemoryKindId(a) { a.kind_id = 0; Ok(()) }
    MemoryDebugString(a) {
        let name = &get::<Memory>(a.memory)?.name;
        (a.text, a.text_size) = (name.as_ptr().cast(), name.len());
        Ok(())
    }
    MemoryToString(a) {
        let name = &get::<Memory>(a.memory)?.name;
        (a.text, a.text_size) = (name.as_ptr().cast(), name.len());
        Ok(())
    }
    MemoryAddressableByDevices(a) {
        let memory = get::<Memory>(a.memory)?;
        (a.devices, a.num_devices) = (&raw const memory.device, 1);
        Ok(())
    }
}

pub(crate) unsafe extern "C" fn nothing_to_delete(_: *mut c_void) {}

/// Returns the number of the device that the host names, by itself or by its memory; the first without either.
///
/// # Safety
/// The pointers are null, or a device and a memory of this plugin.
pub(crate) unsafe fn place(device: *mut c_void, memory: *mut c_void) -> Result<usize, Failure> {
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        if !memory.is_null() {
            return Ok(get::<Memory>(memory)?.number);
        }
        if device.is_null() { Ok(0) } else { Ok(get::<Device>(device)?.number) }
    }
}
