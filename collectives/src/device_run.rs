//! A run of one executable on all devices of a grid.
use crate::device_state::{DeviceState, RemoteState};
use crate::memory::ArgumentBytes;
use crate::run::Run;
use crate::transport::{Handshake, Plan};
use crate::{Code, Error, Ranks, Result};
use hlo::Literal;
use hlo::diag::quantity;
use interp::{Device, DeviceGrid, Executable, Hooks, RunOptions};
use std::ops::Range;
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
        "the run has {} with {} each; at most {MAX_DEVICES} devices are supported",
        quantity(replicas, "replica"),
        quantity(partitions, "partition")
    );
    Err(Error::from(Code::Unsupported { message }).with_help(
        "reduce `replica_count` or `num_partitions` of the header, or state the devices of the run",
    ))
}

/// The run of an executable on a grid.
pub(crate) struct DeviceRun<'a> {
    pub(crate) executable: &'a Executable,
    pub(crate) grid: DeviceGrid,
    /// Limits: of the fuel of each device, and of the memory of the devices of this process
    /// together.
    pub(crate) options: &'a RunOptions,
    pub(crate) hooks: &'a DeviceHooks,
    /// This process as one of several; nothing if it runs all devices.
    pub(crate) ranks: Option<&'a Ranks>,
}

impl DeviceRun<'_> {
    /// Returns the results of this rank's devices by number, and the most bytes that the devices
    /// held, each at its peak. All ranks succeed, or get the same error.
    ///
    /// # Errors
    /// `E0501` for a deadlock; `E05xx` if devices or ranks do not match; `E04xx` if the run of one
    /// device fails.
    pub(crate) fn finish(&self, inputs: Vec<Vec<Literal>>) -> Result<(Vec<Literal>, usize)> {
        let ranks = self.ranks.filter(|ranks| ranks.count() > 1);
        let own = ranks.map_or(0..self.grid.len(), |ranks| ranks.block(self.grid.len()));
        let arguments = self.arguments(inputs, &own);
        let states = arguments.and_then(|lists| {
            let bytes = ArgumentBytes::of(lists.iter().map(Vec::as_slice));
            self.start(lists, &bytes, &own).map(|states| (states, bytes))
        });
        let (states, failure) = match states {
            Ok(states) => (Some(states), None),
            Err(failure) => (None, Some(failure)),
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
        let (states, bytes) = states.expect("a rank that fails to start has failed the handshake");
        let run = Run::new(program, self.options, states, ranks.cloned());
        let (results, peaks) = run.finish()?;
        Ok((results, bytes.together(peaks.into_iter())))
    }

    /// Returns the arguments of each device of this rank.
    fn arguments(
        &self,
        inputs: Vec<Vec<Literal>>,
        own: &Range<usize>,
    ) -> Result<Vec<Vec<Literal>>, (usize, Error)> {
        let count = self.grid.len();
        if inputs.len() != 1 && inputs.len() != count {
            let message = format!(
                "the arguments of {} devices were provided, the run has {count}",
                inputs.len(),
                count = quantity(count, "device")
            );
            let error = Error::from(Code::Arguments { message })
                .with_help("provide the arguments of each device, or one list for all");
            return Err((own.start, error));
        }
        Ok(match <[_; 1]>::try_from(inputs) {
            Ok([all]) => vec![all; own.len()],
            Err(each) => each.into_iter().skip(own.start).take(own.len()).collect(),
        })
    }

    /// Starts the devices of this rank; fails with the first device that cannot start.
    fn start(
        &self,
        mut arguments: Vec<Vec<Literal>>,
        bytes: &ArgumentBytes,
        own: &Range<usize>,
    ) -> Result<Vec<DeviceState>, (usize, Error)> {
        let mut start = |number: usize| {
            if !own.contains(&number) {
                return Ok(DeviceState::Remote(RemoteState::default()));
            }
            let (device, i) = (self.grid.device(number), number - own.start);
            let failed = |error| (number, Code::Device { device: number, error }.into());
            let mut options = self.options.clone().hooks((self.hooks)(device));
            if let Some(limit) = options.max_memory {
                let part = bytes.limit(i, limit).ok_or_else(|| too_many(bytes, limit));
                options.max_memory = Some(part.map_err(failed)?);
            }
            let place = Some((device, self.grid));
            let machine = self.executable.start(place, std::mem::take(&mut arguments[i]), &options);
            machine.map(Box::new).map(DeviceState::Local).map_err(failed)
        };
        (0..self.grid.len()).map(&mut start).collect()
    }
}

fn too_many(bytes: &ArgumentBytes, limit: usize) -> interp::Error {
    let total = bytes.total;
    let message = format!(
        "the arguments of all devices have {}, and {limit} bytes are allowed",
        quantity(total, "byte")
    );
    interp::over_memory_limit(message)
}
