//! The client: its devices, and what the host asks about the plugin and the platform.
#![expect(unsafe_code, reason = "reads structs of the host")]
use crate::call::calls;
use crate::device::Device;
use crate::failure::{Failure, Result};
use crate::ffi::FfiHooks;
use crate::handle::{destroy, get, give, list, text};
use crate::queue::Queue;
use crate::settings::Settings;
use crate::streams::Streams;
use interp::{Hooks, SystemMemory};
use pjrt::sys::{Header, NamedValue, NamedValueData};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// The name of the platform.
pub(crate) const PLATFORM: &str = "etalon";
pub(crate) const VERSION: &str = concat!("etalon ", env!("CARGO_PKG_VERSION"));

/// A client. Its object is an `Arc<Client>`; buffers and executables share it. A topology that no client has made is one, too.
pub(crate) struct Client {
    pub(crate) settings: Settings,
    ffi: FfiHooks,
    #[expect(clippy::vec_box, reason = "the host keeps the addresses of devices")]
    pub(crate) devices: Vec<Box<Device>>,
    pub(crate) queue: Queue,
    pub(crate) streams: Streams,
    /// Whether the host has it as a topology, which it destroys.
    pub(crate) is_topology: bool,
    pub(crate) device_handles: Vec<*mut c_void>,
    memory_handles: Vec<*mut c_void>,
}

// SAFETY: the pointers are those of `devices`, whose changing parts are behind locks; the host may call from any thread.
unsafe impl Send for Client {}
// SAFETY: as above.
unsafe impl Sync for Client {}

impl Client {
    pub(crate) fn new(settings: Settings) -> Result<Self> {
        let limit = settings.run.max_memory.or_else(|| SystemMemory::Total.bytes());
        let limit = limit.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
        let device = |number| Device::new(number, limit);
        let devices: Vec<_> = (0..settings.device_count).map(device).collect();
        let device_handles = devices.iter().map(|device| device.handle()).collect();
        let memory_handles = devices.iter().map(|device| device.memory_handle()).collect();
        let (ffi, queue) = (FfiHooks::default(), Queue::start()?);
        let streams = Streams::new(devices.len());
        let is_topology = false;
        Ok(Self {
            settings,
            ffi,
            devices,
            queue,
            streams,
            is_topology,
            device_handles,
            memory_handles,
        })
    }
    /// Returns the hooks of a run, with the handlers that are registered now.
    pub(crate) fn hooks(&self) -> Arc<Hooks> {
        self.ffi.get(&self.settings.run.hooks)
    }
    fn device(&self, id: c_int) -> Result<&Device> {
        let found = usize::try_from(id).ok().and_then(|id| self.devices.get(id));
        let count = self.devices.len();
        found.map(|device| &**device).ok_or_else(|| {
            Failure::invalid(format!(
                "there is no device {id}; the client has {count}\n = help: ETALON_DEVICE_COUNT sets their number"
            ))
        })
    }
}

/// Returns the options of a client as text.
///
/// # Safety
/// The texts of the options are valid.
pub(crate) unsafe fn options(values: &[NamedValue]) -> Result<Vec<(String, String)>> {
    let one = |option: &NamedValue| {
        // SAFETY: the caller vouches for the texts; the kind says which part of the union is set.
        unsafe {
            let name = text(option.name, option.name_size).into_owned();
            let value = match option.kind {
                0 => text(option.value.string, option.value_size).into_owned(),
                1 => option.value.int64.to_string(),
                3 => option.value.float.to_string(),
                4 => option.value.boolean.to_string(),
                _ => {
                    return Err(Failure::invalid(format!(
                        "option `{name}` is a list, expected one value"
                    )));
                }
            };
            Ok((name, value))
        }
    };
    values.iter().map(one).collect()
}

/// The version of StableHLO in which programs arrive: hosts with a newer one convert to it.
static STABLEHLO_VERSION: [i64; 3] = [1, 13, 0];
/// The oldest version that is read.
static STABLEHLO_MINIMUM: [i64; 3] = [0, 9, 0];
/// The version of XLA's protocol with plugins: Shardy's attributes arrive as they are.
const XLA_VERSION: i64 = 2;

struct Attributes([NamedValue; 3]);
// SAFETY: the values are constant.
unsafe impl Sync for Attributes {}

static ATTRIBUTES: Attributes = Attributes([
    attribute("xla_version", 1, NamedValueData { int64: XLA_VERSION }, 1),
    attribute("stablehlo_current_version", 2, version(&STABLEHLO_VERSION), 3),
    attribute("stablehlo_minimum_version", 2, version(&STABLEHLO_MINIMUM), 3),
]);

const fn version(numbers: &'static [i64; 3]) -> NamedValueData {
    NamedValueData { int64_list: numbers.as_ptr() }
}
const fn attribute(
    name: &'static str,
    kind: c_int,
    value: NamedValueData,
    value_size: usize,
) -> NamedValue {
    let (header, name, name_size) = (Header::of::<NamedValue>(), name.as_ptr().cast(), name.len());
    NamedValue { header, name, name_size, kind, value, value_size }
}

calls! {
    PluginInitialize(_a) { Ok(()) }
    PluginAttributes(a) {
        (a.attributes, a.num_attributes) = (ATTRIBUTES.0.as_ptr(), ATTRIBUTES.0.len());
        Ok(())
    }
    ClientCreate(a) {
        let settings = Settings::read(&options(list(a.create_options, a.num_options))?)?;
        a.client = give(Arc::new(Client::new(settings)?));
        Ok(())
    }
    ClientDestroy(a) {
        destroy::<Arc<Client>>(a.client);
        Ok(())
    }
    ClientPlatformName(a) {
        (a.name, a.name_size) = (PLATFORM.as_ptr().cast(), PLATFORM.len());
        Ok(())
    }
    ClientProcessIndex(a) { a.process_index = 0; Ok(()) }
    ClientPlatformVersion(a) {
        (a.version, a.version_size) = (VERSION.as_ptr().cast(), VERSION.len());
        Ok(())
    }
    ClientDevices(a) {
        let handles = &get::<Arc<Client>>(a.client)?.device_handles;
        (a.devices, a.num_devices) = (handles.as_ptr(), handles.len());
        Ok(())
    }
    ClientAddressableDevices(a) {
        let handles = &get::<Arc<Client>>(a.client)?.device_handles;
        (a.devices, a.num_devices) = (handles.as_ptr(), handles.len());
        Ok(())
    }
    ClientLookupDevice(a) { a.device = get::<Arc<Client>>(a.client)?.device(a.id)?.handle(); Ok(()) }
    ClientLookupAddressableDevice(a) {
        a.device = get::<Arc<Client>>(a.client)?.device(a.local_hardware_id)?.handle();
        Ok(())
    }
    ClientAddressableMemories(a) {
        let handles = &get::<Arc<Client>>(a.client)?.memory_handles;
        (a.memories, a.num_memories) = (handles.as_ptr(), handles.len());
        Ok(())
    }
    ClientDefaultDeviceAssignment(a) {
        let count = usize::try_from(a.num_replicas.saturating_mul(a.num_partitions)).unwrap_or(0);
        let client = get::<Arc<Client>>(a.client)?;
        if count > client.devices.len() || count > a.assignment_size {
            let (found, room) = (client.devices.len(), a.assignment_size);
            return Err(Failure::invalid(format!(
                "{count} devices are needed, the client has {found}, and the host has room for {room}\n = help: ETALON_DEVICE_COUNT sets their number"
            )));
        }
        for (number, id) in (0..count).zip(0..) {
            a.assignment.add(number).write(id);
        }
        Ok(())
    }
    // The only process is this one.
    ClientUpdateGlobalProcessInfo(a) { get::<Arc<Client>>(a.client).map(drop) }
    ExecuteContextCreate(a) { a.context = give(()); Ok(()) }
    ExecuteContextDestroy(a) {
        destroy::<()>(a.context);
        Ok(())
    }
}
