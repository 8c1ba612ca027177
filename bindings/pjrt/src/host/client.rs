//! A client: its devices, and the compilation of programs.
#![expect(unsafe_code, reason = "calls the C API")]
use super::error::{call, slice, text};
use super::{Error, Executable, Program, Result};
use crate::compile_options::{
    CompileOptionsProto, ComputationDevice, DeviceAssignmentProto, ExecutableBuildOptionsProto,
};
use crate::sys::{self, Api, Header};
use hlo::diag::quantity;
use prost::Message;
use std::ffi::c_void;
use std::sync::Arc;

/// A client of a plugin. Clones share it.
#[derive(Debug, Clone)]
pub struct Client(pub(super) Arc<RawClient>);

/// A client, destroyed on drop.
#[derive(Debug)]
pub(super) struct RawClient {
    pub(super) api: Api,
    pub(super) client: *mut c_void,
    pub(super) devices: Vec<Device>,
    platform: String,
    platform_version: String,
}

/// A device that this process can use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Device {
    pub(super) id: i32,
    pub(super) device: *mut c_void,
}

// SAFETY: PJRT's functions may be called from any thread, at the same time too, and its objects belong to no thread.
unsafe impl Send for RawClient {}
// SAFETY: as above.
unsafe impl Sync for RawClient {}

impl Drop for RawClient {
    fn drop(&mut self) {
        let arguments = sys::ClientDestroy { client: self.client, ..sys::ClientDestroy::default() };
        // SAFETY: executables and buffers keep their client alive, so this is the last use.
        let _ = unsafe { call(self.api, arguments) };
    }
}

impl Client {
    pub(super) fn new(api: Api, client: *mut c_void) -> Result<Self> {
        let mut raw = RawClient {
            api,
            client,
            devices: Vec::new(),
            platform: String::new(),
            platform_version: String::new(),
        };
        raw.devices = raw.addressable_devices()?;
        (raw.platform, raw.platform_version) = raw.describe()?;
        Ok(Self(Arc::new(raw)))
    }
    /// Returns the platform: `cpu`, `cuda`, ...
    pub fn platform(&self) -> &str {
        &self.0.platform
    }
    /// Returns the version of the platform, such as that of CUDA, which may have several lines.
    pub fn platform_version(&self) -> &str {
        &self.0.platform_version
    }
    /// Returns the number of devices.
    pub fn devices(&self) -> usize {
        self.0.devices.len()
    }
    /// Compiles a program for the first `replicas * partitions` devices.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the client has fewer devices; the errors of the plugin.
    pub fn compile(&self, program: &Program) -> Result<Executable> {
        let options = self.compile_options(program)?.encode_to_vec();
        let Program { format, code, .. } = program;
        let program_struct = sys::Program {
            header: Header::of::<sys::Program>(),
            code: code.as_ptr().cast(),
            code_size: code.len(),
            format: format.as_ptr().cast(),
            format_size: format.len(),
        };
        let arguments = sys::ClientCompile {
            client: self.0.client,
            program: &raw const program_struct,
            options: options.as_ptr().cast(),
            options_size: options.len(),
            ..sys::ClientCompile::default()
        };
        // SAFETY: the client is alive; the code and the options live until the call returns.
        let executable = unsafe { call(self.0.api, arguments) }?.executable;
        Executable::new(self.clone(), executable, program.replicas, program.partitions)
    }

    fn compile_options(&self, program: &Program) -> Result<CompileOptionsProto> {
        let Program { replicas, partitions, tupled_arguments, optimized, xla_options, .. } =
            program;
        let (count, found) = (replicas * partitions, self.devices());
        if count > found {
            return Err(Error::Unsupported(format!(
                "the program needs {}, the client has {found}",
                quantity(count, "device")
            )));
        }
        let id = |replica: usize, partition: usize| {
            i64::from(self.0.devices[replica * partitions + partition].id)
        };
        let devices_of = |partition| ComputationDevice {
            replica_device_ids: (0..*replicas).map(|replica| id(replica, partition)).collect(),
        };
        let int = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
        let assignment = DeviceAssignmentProto {
            replica_count: int(*replicas),
            computation_count: int(*partitions),
            computation_devices: (0..*partitions).map(devices_of).collect(),
        };
        let build = ExecutableBuildOptionsProto {
            // -1: the devices are those of the assignment.
            device_ordinal: -1,
            num_replicas: i64::from(assignment.replica_count),
            num_partitions: i64::from(assignment.computation_count),
            use_spmd_partitioning: *partitions > 1,
            device_assignment: Some(assignment),
            run_backend_only: *optimized,
        };
        let overrides = xla_options.iter().map(|(name, value)| (name.clone(), value.into()));
        Ok(CompileOptionsProto {
            parameter_is_tupled_arguments: *tupled_arguments,
            executable_build_options: Some(build),
            env_option_overrides: overrides.collect(),
        })
    }
}

impl RawClient {
    fn addressable_devices(&self) -> Result<Vec<Device>> {
        let arguments = sys::ClientAddressableDevices {
            client: self.client,
            ..sys::ClientAddressableDevices::default()
        };
        // SAFETY: the client is alive, and its list of devices lives as long.
        let devices = unsafe {
            let found = call(self.api, arguments)?;
            slice(found.devices, found.num_devices)
        };
        devices.iter().map(|&device| Ok(Device { id: self.device_id(device)?, device })).collect()
    }
    /// Returns the id of a device of this client.
    pub(super) fn device_id(&self, device: *mut c_void) -> Result<i32> {
        let arguments =
            sys::DeviceGetDescription { device, ..sys::DeviceGetDescription::default() };
        // SAFETY: a device and its description live as long as the client.
        unsafe {
            let description = call(self.api, arguments)?.description;
            let arguments =
                sys::DeviceDescriptionId { description, ..sys::DeviceDescriptionId::default() };
            Ok(call(self.api, arguments)?.id)
        }
    }
    /// Returns the platform and its version.
    fn describe(&self) -> Result<(String, String)> {
        let client = self.client;
        let name = sys::ClientPlatformName { client, ..sys::ClientPlatformName::default() };
        let version = sys::ClientPlatformVersion { client, ..Default::default() };
        // SAFETY: the client is alive, and its texts live as long.
        unsafe {
            let name = call(self.api, name)?;
            let version = call(self.api, version)?;
            let version = text(version.version, version.version_size);
            Ok((text(name.name, name.name_size), version.trim().to_owned()))
        }
    }
}
