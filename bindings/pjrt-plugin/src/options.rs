//! The compile options of the host: replicas, partitions, and their devices.
use crate::failure::{Failure, Result};
use hlo::diag::quantity;
use pjrt::compile_options::{CompileOptionsProto, ComputationDevice, DeviceAssignmentProto};
use prost::Message;

/// What the options say about a program.
#[derive(Debug, Clone)]
pub(crate) struct Placement {
    pub(crate) replicas: usize,
    pub(crate) partitions: usize,
    /// The device of each number `replica * partitions + partition`.
    pub(crate) devices: Vec<usize>,
    /// Whether the elements of the only parameter, a tuple, are passed as arguments.
    pub(crate) tupled: bool,
}

/// Returns whether XLA may have an option. They choose among equivalent programs, which has no meaning here.
fn is_known(name: &str) -> bool {
    const EFFORTS: [&str; 4] = [
        "exec_time_optimization_effort",
        "memory_fitting_effort",
        "memory_fitting_level",
        "optimization_level",
    ];
    name.starts_with("xla_") || EFFORTS.contains(&name)
}

impl Placement {
    /// Reads `CompileOptionsProto`, for a client with some number of devices.
    ///
    /// # Errors
    /// If the bytes are no such message, or name other devices.
    pub(crate) fn read(bytes: &[u8], available: usize) -> Result<Self> {
        let options = CompileOptionsProto::decode(bytes).map_err(|error| {
            Failure::invalid(format!("the compile options are malformed: {error}"))
        })?;
        let is_unknown = |name: &&String| !is_known(name);
        if let Some(name) = options.env_option_overrides.keys().find(is_unknown) {
            return Err(Failure::invalid(format!(
                "No such compile option: '{name}'\n = help: the options of XLA start with `xla_` and have no effect here"
            )));
        }
        let build = options.executable_build_options.unwrap_or_default();
        let count = |n: i64| usize::try_from(n).unwrap_or(0).max(1);
        let (replicas, partitions) = (count(build.num_replicas), count(build.num_partitions));
        let total = replicas.saturating_mul(partitions);
        if total > available {
            return Err(Failure::invalid(format!(
                "the program needs {}, the client has {available}\n = help: ETALON_DEVICE_COUNT sets their number",
                quantity(total, "device")
            )));
        }
        let first = usize::try_from(build.device_ordinal).unwrap_or(0);
        let devices = match &build.device_assignment {
            Some(assignment) => assigned(assignment, replicas, partitions)?,
            None => (first..first + total).collect(),
        };
        if let Some(unknown) = devices.iter().find(|&&device| device >= available) {
            return Err(Failure::invalid(format!(
                "the program is for device {unknown}, the client has {available}\n = help: ETALON_DEVICE_COUNT sets their number"
            )));
        }
        let tupled = options.parameter_is_tupled_arguments;
        Ok(Self { replicas, partitions, devices, tupled })
    }
    /// Returns the devices as a `DeviceAssignmentProto`.
    pub(crate) fn assignment(&self) -> Vec<u8> {
        let int = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
        let id = |number: usize| i64::try_from(self.devices[number]).unwrap_or(i64::MAX);
        let of = |partition: usize| ComputationDevice {
            replica_device_ids: (0..self.replicas)
                .map(|r| id(r * self.partitions + partition))
                .collect(),
        };
        let assignment = DeviceAssignmentProto {
            replica_count: int(self.replicas),
            computation_count: int(self.partitions),
            computation_devices: (0..self.partitions).map(of).collect(),
        };
        assignment.encode_to_vec()
    }
}

fn assigned(
    assignment: &DeviceAssignmentProto,
    replicas: usize,
    partitions: usize,
) -> Result<Vec<usize>> {
    let device = |number: usize| {
        let of_partition = assignment.computation_devices.get(number % partitions)?;
        usize::try_from(*of_partition.replica_device_ids.get(number / partitions)?).ok()
    };
    let devices: Option<Vec<usize>> = (0..replicas * partitions).map(device).collect();
    devices.ok_or_else(|| {
        Failure::invalid(format!(
            "the device assignment does not have {} of {partitions} partitions",
            quantity(replicas, "replica")
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pjrt::compile_options::OptionOverrideProto;

    #[test]
    fn unknown_options_are_refused() {
        let read = |name: &str| {
            let mut options = CompileOptionsProto::default();
            let value = OptionOverrideProto { value: None };
            options.env_option_overrides.insert(name.to_owned(), value);
            Placement::read(&options.encode_to_vec(), 1)
        };
        assert!(read("xla_embed_ir_in_executable").is_ok());
        assert!(read("optimization_level").is_ok());
        let message = read("speed").unwrap_err().message;
        assert!(message.contains("option: 'speed'"), "{message}");
    }
}
