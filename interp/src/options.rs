//! How modules are compiled and run.
use crate::hooks::Hooks;

/// The implementation of the ops that a program is compiled to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Engine {
    /// The specification itself, one page of `spec/` per op: slow and plain.
    Reference,
    /// Optimized kernels, checked against `spec/`: the same bits where an op is exact.
    #[default]
    Exact,
}

impl Engine {
    /// All engines; the default is the first.
    pub const ALL: [Self; 2] = [Self::Exact, Self::Reference];

    /// The name of the engine.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Exact => "exact",
        }
    }
}

/// How a module is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CompileOptions {
    /// The implementation of the ops.
    pub engine: Engine,
}

impl CompileOptions {
    /// Compiles to this engine.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }
}

/// How a program is run.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// Steps after which the run stops with [`Code::OutOfFuel`]: one per instruction, one per call of a scalar
    /// computation by an op like `reduce`, and about one per multiplication of `dot`, `convolution`, `fft` and linear
    /// algebra. No limit if absent.
    pub fuel: Option<u64>,
    /// Bytes that the arrays of a device may take together, its arguments not counted. No limit if absent.
    pub max_memory: Option<usize>,
    /// Stops with [`Code::NotFinite`] at the first instruction that makes a NaN or an infinity out of finite operands.
    pub check_nan: bool,
    /// The seed of `rng`: the same seed gives the same numbers on every machine.
    pub seed: u64,
    /// The order of everything that a run on several devices may do in any order, drawn from this number: which devices
    /// are stepped first, and in which order the values of a group are folded, with each sum rounded. If absent, devices
    /// are stepped together, values are folded in group order, and sums are rounded once.
    pub order: Option<u64>,
    /// What the program may reach outside of itself, and who observes it.
    pub hooks: Hooks,
}

impl RunOptions {
    /// Stops after `steps` steps.
    #[must_use]
    pub fn fuel(mut self, steps: u64) -> Self {
        self.fuel = Some(steps);
        self
    }
    /// Limits the arrays of a device to `bytes` bytes.
    #[must_use]
    pub fn max_memory(mut self, bytes: usize) -> Self {
        self.max_memory = Some(bytes);
        self
    }
    /// Stops at the first NaN or infinity that is made out of finite operands.
    #[must_use]
    pub fn check_nan(mut self, on: bool) -> Self {
        self.check_nan = on;
        self
    }
    /// Steps devices and folds values in another order.
    #[must_use]
    pub fn order(mut self, seed: u64) -> Self {
        self.order = Some(seed);
        self
    }
    /// Draws other random numbers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
    /// Gives the program these hooks.
    #[must_use]
    pub fn hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }
}
