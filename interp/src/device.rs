//! Where a machine stands among the devices of a run.
use hlo::ir::ModuleConfig;
use std::fmt;

/// A device: one partition of one replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device {
    /// Which copy of the program.
    pub replica: usize,
    /// Which part of the copy.
    pub partition: usize,
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "replica {}, partition {}", self.replica, self.partition)
    }
}

/// The devices of a run: replicas times partitions, numbered `replica * partitions + partition`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceGrid {
    /// Copies of the program.
    pub replicas: usize,
    /// Parts of each copy.
    pub partitions: usize,
}

impl DeviceGrid {
    /// The grid a module's header states.
    pub fn of(config: &ModuleConfig) -> Self {
        let count = |n: i64| usize::try_from(n).unwrap_or(1).max(1);
        Self { replicas: count(config.replica_count), partitions: count(config.num_partitions) }
    }
    /// How many devices there are.
    pub fn len(self) -> usize {
        self.replicas.saturating_mul(self.partitions)
    }
    /// Whether there is none; there always is.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
    /// The device of a number.
    pub fn device(self, number: usize) -> Device {
        Device { replica: number / self.partitions, partition: number % self.partitions }
    }
    /// The number of a device.
    pub fn number(self, device: Device) -> usize {
        device.replica * self.partitions + device.partition
    }
}
