//! The world: a grid of devices that run one module.
use crate::order::Order;
use crate::run::Run;
use crate::{Code, Error, Result};
use hlo::{Literal, Verified};
use interp::{Device, Grid, Hooks, Options, Team};
use std::fmt;
use std::sync::Arc;

type HooksOf = Arc<dyn Fn(Device) -> Hooks + Send + Sync>;

/// Runs a module on many devices.
#[derive(Clone)]
pub struct World<'m> {
    verified: &'m Verified,
    grid: Grid,
    options: Options,
    hooks: HooksOf,
    seed: Option<u64>,
}

impl fmt::Debug for World<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("grid", &self.grid).field("options", &self.options).finish()
    }
}

impl<'m> World<'m> {
    /// As many devices as the module's header states.
    pub fn new(verified: &'m Verified) -> Self {
        let grid = Grid::of(&verified.module().config);
        Self {
            verified,
            grid,
            options: Options::default(),
            hooks: Arc::new(|_| Hooks::new()),
            seed: None,
        }
    }
    /// As many replicas and partitions as are given here.
    #[must_use]
    pub fn with_grid(mut self, grid: Grid) -> Self {
        self.grid = grid;
        self
    }
    /// With limits, which hold for each device by itself.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
    /// With what each device may reach outside of the program: its own infeed and outfeed queues.
    #[must_use]
    pub fn with_hooks(mut self, hooks: impl Fn(Device) -> Hooks + Send + Sync + 'static) -> Self {
        self.hooks = Arc::new(hooks);
        self
    }
    /// With another order of everything that a machine may do in any order: which devices go first, and in which order the values
    /// of a group are folded. Sums are then rounded after each value, as on a machine. Without a seed devices go
    /// together, values are folded in group order, and sums are rounded once.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }
    /// The devices.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The result of each device, in the order of their numbers.
    ///
    /// `inputs` has the arguments of each device, or those of all.
    ///
    /// # Errors
    /// `E0501` if devices wait for each other; `E05xx` if they do not fit together; `E04xx` if the run of one fails.
    pub fn run(&self, inputs: &[Vec<Literal>]) -> Result<Vec<Literal>> {
        let count = self.grid.len();
        if inputs.len() != 1 && inputs.len() != count {
            let message =
                format!("arguments of {} devices are given, there are {count}", inputs.len());
            return Err(Error::from(Code::Arguments { message })
                .with_help("give the arguments of each device, or one list for all"));
        }
        let team = Team::new(self.verified, self.options, self.grid);
        let mut machines = Vec::with_capacity(count);
        for number in 0..count {
            let device = self.grid.device(number);
            let arguments = &inputs[number.min(inputs.len() - 1)];
            let machine = team.start(device, (self.hooks)(device), arguments);
            let failed = |error| Error::from(Code::Device { device: number, error });
            machines.push(machine.map_err(failed)?);
        }
        Run::new(team, machines, self.seed.map(Order::new)).finish()
    }
}
