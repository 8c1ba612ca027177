//! The front door: a grid of devices that run one module.
use crate::device_state::DeviceState;
use crate::order::Order;
use crate::run::Run;
use crate::transport::{Handshake, Plan};
use crate::{Code, Error, Ranks, Result};
use hlo::{Literal, Module, Verified};
use interp::{Device, Grid, Hooks, Options, Team};
use std::fmt;
use std::sync::Arc;

/// The largest number of devices; each one takes memory before it starts.
const MAX_DEVICES: usize = 1 << 16;

type DeviceHooks = Arc<dyn Fn(Device) -> Hooks + Send + Sync>;

/// Runs a module on many devices.
#[derive(Clone)]
pub struct World<'m> {
    verified: &'m Verified,
    grid: Grid,
    options: Options,
    hooks: DeviceHooks,
    ranks: Option<Ranks>,
}

/// Checks the number of devices.
fn check_grid(grid: Grid) -> Result<Grid> {
    let Grid { replicas, partitions } = grid;
    if grid.len() <= MAX_DEVICES {
        return Ok(grid);
    }
    let message = format!(
        "the run has {replicas} replicas with {partitions} partitions each; at most {MAX_DEVICES} devices are supported"
    );
    Err(Error::from(Code::Unsupported { message }).with_help(
        "reduce `replica_count` or `num_partitions` of the header, or state the devices of the run",
    ))
}

impl fmt::Debug for World<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("grid", &self.grid).field("options", &self.options).finish()
    }
}

impl<'m> World<'m> {
    /// Returns a world with the devices that the module's header states.
    pub fn new(verified: &'m Verified) -> Self {
        let grid = Grid::of(&verified.module().config);
        Self {
            verified,
            grid,
            options: Options::default(),
            hooks: Arc::new(|_| Hooks::new()),
            ranks: None,
        }
    }
    /// Returns the devices that the header of a module states.
    ///
    /// # Errors
    /// `E0507` if there are too many for one run.
    pub fn devices(module: &Module) -> Result<Grid> {
        check_grid(Grid::of(&module.config))
    }
    /// Sets the numbers of replicas and partitions.
    #[must_use]
    pub fn with_grid(mut self, grid: Grid) -> Self {
        self.grid = grid;
        self
    }
    /// Sets limits. They apply to each device separately.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
    /// Sets the hooks of each device, for example its infeed and outfeed queues.
    #[must_use]
    pub fn with_hooks(mut self, hooks: impl Fn(Device) -> Hooks + Send + Sync + 'static) -> Self {
        self.hooks = Arc::new(hooks);
        self
    }
    /// Sets the seed of the order of steps and sums: see [`Options::order`].
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.options.order = Some(seed);
        self
    }
    /// Makes this process one of several ranks. Each rank runs a [block](Ranks::block) of the devices, and all ranks call
    /// [`run`](Self::run) with the same module, devices and options. All ranks get the results of all devices, the same as
    /// from one process, or the same error.
    #[must_use]
    pub fn with_ranks(mut self, ranks: Ranks) -> Self {
        self.ranks = Some(ranks).filter(|ranks| ranks.count() > 1);
        self
    }
    /// Returns the devices.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// Runs the module, and returns the result of each device by number.
    ///
    /// `inputs` has the arguments of each device, or one list for all devices. A rank uses only those of its own devices.
    ///
    /// # Errors
    /// `E0501` for a deadlock; `E05xx` if devices or ranks do not match; `E04xx` if the run of one device fails.
    pub fn run(&self, inputs: &[Vec<Literal>]) -> Result<Vec<Literal>> {
        let team = Team::new(self.verified, self.options, self.grid);
        let started = self.start(&team, inputs);
        let (states, failure) = match started {
            Ok(states) => (states, None),
            Err(failure) => (Vec::new(), Some(failure)),
        };
        match (&self.ranks, failure) {
            (Some(ranks), failure) => {
                let options = format!("{:?}", self.options);
                let plan = Plan::new(self.verified.module(), self.grid, options);
                Handshake { plan, failure }.agree(ranks)?;
            }
            (None, Some((_, error))) => return Err(error),
            (None, None) => {}
        }
        Run::new(team, states, self.options.order.map(Order::new), self.ranks.clone()).finish()
    }

    /// Starts the devices of this rank; fails with the first device that cannot start.
    fn start(
        &self,
        team: &Team<'m>,
        inputs: &[Vec<Literal>],
    ) -> Result<Vec<DeviceState<'m>>, (usize, Error)> {
        let count = self.grid.len();
        check_grid(self.grid).map_err(|error| (0, error))?;
        let own = self.ranks.as_ref().map_or(0..count, |ranks| ranks.block(count));
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
                return Ok(DeviceState::Remote(Vec::new()));
            }
            let device = self.grid.device(number);
            let arguments = &inputs[number.min(inputs.len() - 1)];
            let machine = team.start(device, (self.hooks)(device), arguments);
            let failed = |error| (number, Code::Device { device: number, error }.into());
            machine.map(Box::new).map(DeviceState::Local).map_err(failed)
        };
        (0..count).map(start).collect()
    }
}
