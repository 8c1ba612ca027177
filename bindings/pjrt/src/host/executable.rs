//! A compiled program, and its execution on its devices.
#![expect(unsafe_code, reason = "calls the C API")]
use super::buffer::{Buffer, wait};
use super::client::{Client, Device};
use super::error::{call, slice};
use super::{Error, OptionValue, Result};
use crate::sys::{self, Header};
use hlo::Literal;
use hlo::diag::quantity;
use std::ffi::c_void;
use std::ptr::null_mut;

/// A program as a plugin takes it.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Program {
    /// `hlo` for a serialized `HloModuleProto`, `mlir` for StableHLO as text or bytecode.
    pub format: String,
    /// The code in this format.
    #[serde(with = "serde_bytes")]
    pub code: Vec<u8>,
    /// Copies of the program.
    pub replicas: usize,
    /// Partitions of each copy. More than one turns on SPMD partitioning, without which XLA:CPU refuses the program.
    pub partitions: usize,
    /// Whether the only parameter is a tuple, whose elements are passed as arguments.
    pub tupled_arguments: bool,
    /// Whether the program is optimized already: the compiler runs no passes on it.
    pub optimized: bool,
    /// Options of the compiler, such as `xla_backend_optimization_level`.
    pub xla_options: Vec<(String, OptionValue)>,
}

impl Default for Program {
    fn default() -> Self {
        Self {
            format: "hlo".to_owned(),
            code: Vec::new(),
            replicas: 1,
            partitions: 1,
            tupled_arguments: false,
            optimized: false,
            xla_options: Vec::new(),
        }
    }
}

/// A compiled program.
#[derive(Debug)]
pub struct Executable {
    client: Client,
    raw: *mut c_void,
    /// The devices in the order of the plugin, each with its number `replica * partitions + partition`.
    devices: Vec<(usize, Device)>,
    outputs: usize,
}

// SAFETY: PJRT's functions may be called from any thread, and its objects belong to no thread.
unsafe impl Send for Executable {}
// SAFETY: as above; an execution does not change the executable.
unsafe impl Sync for Executable {}

impl Drop for Executable {
    fn drop(&mut self) {
        let executable = self.raw;
        let arguments = sys::LoadedExecutableDestroy { executable, ..Default::default() };
        // SAFETY: this is the last use; the client is alive.
        let _ = unsafe { call(self.client.0.api, arguments) };
    }
}

impl Executable {
    /// Takes over an executable for the first `replicas * partitions` devices.
    pub(super) fn new(
        client: Client,
        executable: *mut c_void,
        replicas: usize,
        partitions: usize,
    ) -> Result<Self> {
        let mut made = Self { client, raw: executable, devices: Vec::new(), outputs: 0 };
        made.outputs = made.count_outputs()?;
        made.devices = made.addressable_devices()?;
        if made.devices.len() != replicas * partitions {
            let (found, expected) = (made.devices.len(), replicas * partitions);
            let message =
                format!("the executable has {}, expected {expected}", quantity(found, "device"));
            return Err(Error::Result(message));
        }
        Ok(made)
    }
    /// Executes the program. `arguments` has a list of arrays for each device, ordered by number, or one list for all; returns
    /// the leaves of the result of each device. Buffers that the program donates are copies made for this execution.
    ///
    /// # Errors
    /// If the arguments do not fit; the errors of the plugin.
    pub fn execute(&self, arguments: &[Vec<Literal>]) -> Result<Vec<Vec<Literal>>> {
        let count = self.devices.len();
        if arguments.len() != 1 && arguments.len() != count {
            let found = arguments.len();
            let message = format!(
                "found arguments for {}, the program has {count}",
                quantity(found, "device")
            );
            return Err(Error::Arguments(message));
        }
        let client = &*self.client.0;
        let mut buffers = Vec::with_capacity(count);
        for &(number, device) in &self.devices {
            let list = &arguments[number.min(arguments.len() - 1)];
            let copy = |x| Buffer::from_literal(client, device.device, x);
            buffers.push(list.iter().map(copy).collect::<Result<Vec<_>>>()?);
        }
        let outputs = self.launch(&buffers)?;
        drop(buffers);
        let mut results = vec![Vec::new(); count];
        for (&(number, _), outputs) in self.devices.iter().zip(&outputs) {
            results[number] = outputs.iter().map(Buffer::to_literal).collect::<Result<_>>()?;
        }
        Ok(results)
    }

    fn launch(&self, arguments: &[Vec<Buffer<'_>>]) -> Result<Vec<Vec<Buffer<'_>>>> {
        let client = &*self.client.0;
        let count = arguments.first().map_or(0, Vec::len);
        if arguments.iter().any(|list| list.len() != count) {
            let message = "the devices have different numbers of arguments".to_owned();
            return Err(Error::Arguments(message));
        }
        let raw = |list: &Vec<Buffer<'_>>| list.iter().map(|b| b.buffer).collect::<Vec<_>>();
        let inputs: Vec<Vec<*mut c_void>> = arguments.iter().map(raw).collect();
        let input_lists: Vec<_> = inputs.iter().map(Vec::as_ptr).collect();
        let mut outputs = vec![vec![null_mut::<c_void>(); self.outputs]; arguments.len()];
        let output_lists: Vec<_> = outputs.iter_mut().map(Vec::as_mut_ptr).collect();
        let mut events = vec![null_mut::<c_void>(); arguments.len()];
        let mut options = sys::ExecuteOptions {
            header: Header::of::<sys::ExecuteOptions>(),
            ..sys::ExecuteOptions::default()
        };
        let execute = sys::LoadedExecutableExecute {
            executable: self.raw,
            options: &raw mut options,
            argument_lists: input_lists.as_ptr(),
            num_devices: arguments.len(),
            num_args: count,
            output_lists: output_lists.as_ptr(),
            device_complete_events: events.as_mut_ptr(),
            ..sys::LoadedExecutableExecute::default()
        };
        // SAFETY: the executable and the arguments are alive; each list has the length that the struct states.
        unsafe { call(client.api, execute) }?;
        let made: Vec<Vec<Buffer<'_>>> = outputs
            .iter()
            .map(|list| list.iter().map(|&output| Buffer::new(client, output)).collect())
            .collect();
        // SAFETY: the events are those of this execution, and each is used once. All are waited for before the first error.
        let done: Vec<Result<()>> =
            events.into_iter().map(|event| unsafe { wait(client.api, event) }).collect();
        done.into_iter().collect::<Result<()>>()?;
        Ok(made)
    }

    fn count_outputs(&self) -> Result<usize> {
        let api = self.client.0.api;
        let get = sys::LoadedExecutableGetExecutable {
            loaded_executable: self.raw,
            ..sys::LoadedExecutableGetExecutable::default()
        };
        // SAFETY: the executable is alive; what describes it is destroyed after its only use.
        unsafe {
            let executable = call(api, get)?.executable;
            let count = sys::ExecutableNumOutputs { executable, ..Default::default() };
            let count = call(api, count);
            let destroy =
                sys::ExecutableDestroy { executable, ..sys::ExecutableDestroy::default() };
            call(api, destroy)?;
            Ok(count?.num_outputs)
        }
    }
    /// Returns the devices in the order in which the plugin takes their arguments.
    fn addressable_devices(&self) -> Result<Vec<(usize, Device)>> {
        let client = &*self.client.0;
        let executable = self.raw;
        let arguments =
            sys::LoadedExecutableAddressableDevices { executable, ..Default::default() };
        // SAFETY: the executable is alive, and its list of devices lives as long.
        let devices = unsafe {
            let found = call(client.api, arguments)?;
            slice(found.devices, found.num_devices)
        };
        let numbered = |&device: &*mut c_void| {
            let id = client.device_id(device)?;
            let number = client.devices.iter().position(|known| known.id == id);
            let unknown = || Error::Result(format!("the executable has the unknown device {id}"));
            Ok((number.ok_or_else(unknown)?, Device { id, device }))
        };
        devices.iter().map(numbered).collect()
    }
}
