//! Devices and the grid they form.
use hlo::ir::ModuleConfig;
use std::fmt;

/// A device: one partition of one replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device {
    /// The number of the copy of the program.
    pub replica: usize,
    /// The number of the part of the copy.
    pub partition: usize,
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "replica {}, partition {}", self.replica, self.partition)
    }
}

/// The grid of the devices of a run: replicas times partitions, numbered
/// `replica * partitions + partition`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceGrid {
    /// Copies of the program.
    pub replicas: usize,
    /// Parts of each copy.
    pub partitions: usize,
}

impl DeviceGrid {
    /// Returns the grid that a module's header states.
    pub fn of(config: &ModuleConfig) -> Self {
        let count = |n: i64| usize::try_from(n).unwrap_or(1).max(1);
        Self { replicas: count(config.replica_count), partitions: count(config.num_partitions) }
    }
    /// Returns the number of devices.
    pub fn len(self) -> usize {
        self.replicas.saturating_mul(self.partitions)
    }
    /// Returns false: a grid has at least one device.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
    /// Returns the device with this number.
    pub fn device(self, number: usize) -> Device {
        Device { replica: number / self.partitions, partition: number % self.partitions }
    }
    /// Returns the number of a device.
    pub fn number(self, device: Device) -> usize {
        device.replica * self.partitions + device.partition
    }
}
