//! A run of one executable on all devices of a grid.
use crate::device_state::{DeviceState, RemoteState};
use crate::run::{Finished, Run};
use crate::transport::{Handshake, Plan};
use crate::{Code, Error, Ranks, Result};
use hlo::Literal;
use interp::{Device, DeviceGrid, Executable, Hooks, RunOptions};
use std::sync::Arc;

/// The largest number of devices; each one takes memory before it starts.
const MAX_DEVICES: usize = 1 << 16;

/// The hooks of each device.
pub(crate) type DeviceHooks = Arc<dyn Fn(Device) -> Hooks + Send + Sync>;

/// Checks the number of devices.
///
/// # Errors
/// `E0507` if there are too many for one run.
pub fn check_grid(grid: DeviceGrid) -> Result<()> {
    let DeviceGrid { replicas, partitions } = grid;
    if grid.len() <= MAX_DEVICES {
        return Ok(());
    }
    let message = format!(
        "the run has {replicas} replicas with {partitions} partitions each; at most {MAX_DEVICES} devices are supported"
    );
    Err(Error::from(Code::Unsupported { message }).with_help(
        "reduce `replica_count` or `num_partitions` of the header, or state the devices of the run",
    ))
}

/// The run of an executable on a grid.
pub(crate) struct DeviceRun<'a> {
    pub(crate) executable: &'a Executable,
    pub(crate) grid: DeviceGrid,
    /// Limits, of each device separately.
    pub(crate) options: &'a RunOptions,
    pub(crate) hooks: &'a DeviceHooks,
    /// This process as one of several; nothing if it runs all devices.
    pub(crate) ranks: Option<&'a Ranks>,
}

impl DeviceRun<'_> {
    /// Returns the results of this rank's devices by number. All ranks succeed, or get the same error.
    ///
    /// # Errors
    /// `E0501` for a deadlock; `E05xx` if devices or ranks do not match; `E04xx` if the run of one device fails.
    pub(crate) fn finish(&self, inputs: &[Vec<Literal>]) -> Result<Finished> {
        let ranks = self.ranks.filter(|ranks| ranks.count() > 1);
        let (states, failure) = match self.start(inputs, ranks) {
            Ok(states) => (states, None),
            Err(failure) => (Vec::new(), Some(failure)),
        };
        match (ranks, failure) {
            (Some(ranks), failure) => {
                let plan = Plan::new(self.executable, self.grid, self.options);
                Handshake { plan, failure }.agree(ranks)?;
            }
            (None, Some((_, error))) => return Err(error),
            (None, None) => {}
        }
        let program = (self.executable.clone(), self.grid);
        Run::new(program, self.options, states, ranks.cloned()).finish()
    }

    /// Starts the devices of this rank; fails with the first device that cannot start.
    fn start(
        &self,
        inputs: &[Vec<Literal>],
        ranks: Option<&Ranks>,
    ) -> Result<Vec<DeviceState>, (usize, Error)> {
        let count = self.grid.len();
        let own = ranks.map_or(0..count, |ranks| ranks.block(count));
        if inputs.len() != 1 && inputs.len() != count {
            let message = format!(
                "the arguments of {} devices were provided, the run has {count} devices",
                inputs.len()
            );
            let error = Error::from(Code::Arguments { message })
                .with_help("provide the arguments of each device, or one list for all");
            return Err((own.start, error));
        }
        let start = |number: usize| {
            if !own.contains(&number) {
                return Ok(DeviceState::Remote(RemoteState::default()));
            }
            let device = self.grid.device(number);
            let arguments = &inputs[number.min(inputs.len() - 1)];
            let options = self.options.clone().hooks((self.hooks)(device));
            let machine = self.executable.start(Some((device, self.grid)), arguments, &options);
            let failed = |error| (number, Code::Device { device: number, error }.into());
            machine.map(Box::new).map(DeviceState::Local).map_err(failed)
        };
        (0..count).map(start).collect()
    }
}
