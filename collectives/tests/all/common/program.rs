//! A compiled program with the options of its runs.
use collectives::{Error, Ranks, RunError, Session};
use hlo::{Literal, Verified};
use interp::{CompileOptions, Device, DeviceGrid, Engine, Hooks, RunOptions};
use std::sync::Arc;

/// A compiled program with the options of its runs.
#[derive(Clone)]
pub(crate) struct Program {
    session: Session,
    options: RunOptions,
    hooks: Arc<dyn Fn(Device) -> Hooks + Send + Sync>,
    ranks: Option<Ranks>,
}

/// Returns the error of a run; on one device in the form of device 0.
fn of_devices(error: RunError) -> Error {
    match error {
        RunError::ManyDevices(error) => error,
        RunError::OneDevice(error) => collectives::Code::Device { device: 0, error }.into(),
    }
}

#[allow(dead_code, reason = "each test needs a part")]
impl Program {
    pub(crate) fn new(verified: &Verified) -> Self {
        Self::compile(verified).unwrap_or_else(|error| panic!("{error}"))
    }
    pub(crate) fn compile(verified: &Verified) -> Result<Self, Error> {
        let session = Session::compile(verified.clone(), &CompileOptions::default());
        Ok(Self::of(session.map_err(of_devices)?))
    }
    pub(crate) fn with_engine(verified: &Verified, engine: Engine) -> Self {
        let options = CompileOptions::default().engine(engine);
        let session = Session::compile(verified.clone(), &options);
        Self::of(session.unwrap_or_else(|error| panic!("{error}")))
    }
    /// Returns the program for another grid than its header states.
    pub(crate) fn on_grid(verified: &Verified, grid: DeviceGrid) -> Self {
        let session = Session::compile_for(verified.clone(), grid, &CompileOptions::default());
        Self::of(session.unwrap_or_else(|error| panic!("{error}")))
    }
    fn of(session: Session) -> Self {
        let options = RunOptions::default();
        Self { session, options, hooks: Arc::new(|_| Hooks::new()), ranks: None }
    }
    pub(crate) fn with_options(mut self, options: RunOptions) -> Self {
        self.options = options;
        self
    }
    pub(crate) fn with_seed(mut self, seed: u64) -> Self {
        self.options = self.options.order(seed);
        self
    }
    pub(crate) fn with_hooks(
        mut self,
        hooks: impl Fn(Device) -> Hooks + Send + Sync + 'static,
    ) -> Self {
        self.hooks = Arc::new(hooks);
        self
    }
    pub(crate) fn with_ranks(mut self, ranks: Ranks) -> Self {
        self.ranks = Some(ranks);
        self
    }
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }
    /// Returns the result of each device.
    pub(crate) fn run(&self, inputs: &[Vec<Literal>]) -> Result<Vec<Literal>, Error> {
        let (options, hooks) = (&self.options, Arc::clone(&self.hooks));
        let hooks = move |device| hooks(device);
        let output = match &self.ranks {
            Some(ranks) => self.session.run_on_ranks(ranks, inputs, options, hooks),
            None => self.session.run_with(inputs, options, hooks),
        };
        output.map(|output| output.results).map_err(of_devices)
    }
}
