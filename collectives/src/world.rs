//! The world: a grid of devices that run one module.
use crate::body::Body;
use crate::order::Order;
use crate::run::Run;
use crate::transport::{Opening, Plan};
use crate::{Code, Error, Ranks, Result};
use hlo::{Literal, Module, Verified};
use interp::{Device, Grid, Hooks, Options, Team};
use std::fmt;
use std::sync::Arc;

/// Each device takes some memory before it has done anything.
const DEVICE_LIMIT: usize = 1 << 16;

type HooksOf = Arc<dyn Fn(Device) -> Hooks + Send + Sync>;

/// Runs a module on many devices.
#[derive(Clone)]
pub struct World<'m> {
    verified: &'m Verified,
    grid: Grid,
    options: Options,
    hooks: HooksOf,
    ranks: Option<Ranks>,
}

/// The grid, if it is not too large.
fn limited(grid: Grid) -> Result<Grid> {
    let Grid { replicas, partitions } = grid;
    if grid.len() <= DEVICE_LIMIT {
        return Ok(grid);
    }
    let message = format!(
        "a run takes at most {DEVICE_LIMIT} devices; {replicas} replicas with {partitions} partitions each are more"
    );
    Err(Error::from(Code::Unsupported { message }).with_help(
        "`replica_count` and `num_partitions` of the header say how many, unless the run does",
    ))
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
            ranks: None,
        }
    }
    /// The devices that the header of a module asks for.
    ///
    /// # Errors
    /// `E0507` if there are too many for one run.
    pub fn devices(module: &Module) -> Result<Grid> {
        limited(Grid::of(&module.config))
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
    /// In another order: see [`Options::order`].
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.options.order = Some(seed);
        self
    }
    /// As one of several ranks, each of which runs a [block](Ranks::block) of the devices, and all of which call
    /// [`run`](Self::run) with the same module, devices and options. All get the results of all devices, the same as one
    /// process would, or the same error.
    #[must_use]
    pub fn with_ranks(mut self, ranks: Ranks) -> Self {
        self.ranks = Some(ranks).filter(|ranks| ranks.count() > 1);
        self
    }
    /// The devices.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The result of each device, in the order of their numbers.
    ///
    /// `inputs` has the arguments of each device, or those of all. A rank looks only at those of its own devices.
    ///
    /// # Errors
    /// `E0501` if devices wait for each other; `E05xx` if they, or ranks, do not fit together; `E04xx` if the run of one fails.
    pub fn run(&self, inputs: &[Vec<Literal>]) -> Result<Vec<Literal>> {
        let team = Team::new(self.verified, self.options, self.grid);
        let started = self.start(&team, inputs);
        let (bodies, failure) = match started {
            Ok(bodies) => (bodies, None),
            Err(failure) => (Vec::new(), Some(failure)),
        };
        match (&self.ranks, failure) {
            (Some(ranks), failure) => {
                let options = format!("{:?}", self.options);
                let plan = Plan::new(self.verified.module(), self.grid, options);
                Opening { plan, failure }.agree(ranks)?;
            }
            (None, Some((_, error))) => return Err(error),
            (None, None) => {}
        }
        Run::new(team, bodies, self.options.order.map(Order::new), self.ranks.clone()).finish()
    }

    /// What runs each device; or the first device that cannot start, and why.
    fn start(
        &self,
        team: &Team<'m>,
        inputs: &[Vec<Literal>],
    ) -> Result<Vec<Body<'m>>, (usize, Error)> {
        let count = self.grid.len();
        limited(self.grid).map_err(|error| (0, error))?;
        let own = self.ranks.as_ref().map_or(0..count, |ranks| ranks.block(count));
        if inputs.len() != 1 && inputs.len() != count {
            let message =
                format!("arguments of {} devices are given, there are {count}", inputs.len());
            let error = Error::from(Code::Arguments { message })
                .with_help("give the arguments of each device, or one list for all");
            return Err((own.start, error));
        }
        let start = |number: usize| {
            if !own.contains(&number) {
                return Ok(Body::There(Vec::new()));
            }
            let device = self.grid.device(number);
            let arguments = &inputs[number.min(inputs.len() - 1)];
            let machine = team.start(device, (self.hooks)(device), arguments);
            let failed = |error| (number, Code::Device { device: number, error }.into());
            machine.map(Box::new).map(Body::Here).map_err(failed)
        };
        (0..count).map(start).collect()
    }
}
