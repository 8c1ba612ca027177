//! How modules are compiled and run.
use crate::Result;
use crate::hooks::Hooks;
use crate::memory::Spill;
use num::Arithmetic;
use num::clock::Clock;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The implementation of the ops that a program is compiled to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Engine {
    /// The specification, one function of `spec` per op: slow and simple.
    Reference,
    /// Optimized kernels, checked against `spec/`: the same bits where an op is exact.
    #[default]
    Exact,
    /// The plan of [`Engine::Exact`], with the arithmetic of each element type: results within the
    /// accuracy of each op. They are the same in each run on one machine, with any number of
    /// threads.
    Fast,
}

impl Engine {
    /// All engines; the default is the first.
    pub const ALL: [Self; 3] = [Self::Exact, Self::Reference, Self::Fast];

    /// Returns the name of the engine.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Exact => "exact",
            Self::Fast => "fast",
        }
    }
    /// Returns whether all results that have one right value are that value.
    pub fn rounds_correctly(self) -> bool {
        match self {
            Self::Reference | Self::Exact => true,
            Self::Fast => false,
        }
    }
    /// Returns the arithmetic of the engine's kernels; `None` if it has none.
    pub(crate) fn arithmetic(self) -> Option<Arithmetic> {
        match self {
            Self::Reference => None,
            Self::Exact => Some(Arithmetic::Exact),
            Self::Fast => Some(Arithmetic::Fast),
        }
    }
}

/// The options of compilation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompileOptions {
    /// The implementation of the ops.
    pub engine: Engine,
    /// Whether loops over scalars that run often become machine code. The results have the same
    /// bits either way. It has no effect without the cargo feature `jit`, and on processors for
    /// which no code can be generated.
    pub jit: bool,
    /// The limit of the bytes of the compiled form while it is made, at least 1 MiB; the memory of
    /// a run is counted apart ([`RunOptions::max_memory`]). No limit if absent.
    pub max_memory: Option<usize>,
    /// The time limit of the compilation, and when it began.
    pub(crate) time_limit: Option<(Duration, Instant)>,
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self { engine: Engine::default(), jit: true, max_memory: None, time_limit: None }
    }
}

impl CompileOptions {
    /// Compiles to this engine.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }
    /// Generates machine code, or does not.
    #[must_use]
    pub fn jit(mut self, on: bool) -> Self {
        self.jit = on;
        self
    }
    /// Keeps the limits of memory and time of a run. The time counts from
    /// [`RunOptions::start_clock`], or from now.
    ///
    /// ```
    /// let text = "ENTRY e { p = f32[3] parameter(0) ROOT r = f32[3] reverse(p), dimensions={0} }";
    /// let verified = hlo::Module::parse(text).unwrap().verify().unwrap();
    /// let run = interp::RunOptions::default().time_limit(std::time::Duration::ZERO);
    /// let options = interp::CompileOptions::default().limits_of(&run);
    /// let error = interp::Executable::compile(verified, &options).unwrap_err();
    /// assert_eq!(error.number(), "E0412");
    /// ```
    #[must_use]
    pub fn limits_of(mut self, run: &RunOptions) -> Self {
        self.max_memory = run.max_memory;
        let started = run.clock.as_ref().and_then(Clock::limit);
        self.time_limit = started.or(run.time_limit.map(|limit| (limit, Instant::now())));
        self
    }
}

/// The options of a run.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// Steps after which the run stops with [`Code::OutOfFuel`](crate::Code::OutOfFuel): one per
    /// instruction, one per call of a scalar computation by an op like `reduce`, and about one per
    /// multiplication of `dot`, `convolution`, `fft` and linear algebra. No limit if absent.
    pub fuel: Option<u64>,
    /// The limit of the bytes of arguments, values, and what ops work in. What
    /// [`planned_bytes`](crate::Executable::planned_bytes) returns is enough. The limit is that of
    /// a machine; a run on several devices divides its limit among them. No limit if absent.
    pub max_memory: Option<usize>,
    /// The time after which the run stops with [`Code::OutOfTime`](crate::Code::OutOfTime), at the
    /// latest about a tenth of a second later. It counts from the start of the run, or from
    /// [`Self::start_clock`]. No limit if absent.
    pub time_limit: Option<Duration>,
    /// Stops with [`Code::NotFinite`](crate::Code::NotFinite) at the first instruction that returns
    /// a NaN or an infinity for finite operands.
    pub check_nan: bool,
    /// The seed of `rng`: the same seed gives the same numbers on every machine.
    pub seed: u64,
    /// The seed of the order of everything that a run on several devices may do in any order: which
    /// devices are stepped first, and in which order the values of a group are folded, with each
    /// sum rounded. If absent, devices are stepped together, values are folded in group order, and
    /// sums are rounded once.
    pub order: Option<u64>,
    /// Whether a `send` keeps its value until it is received. If not, it waits for the `recv` of
    /// each receiver, which provides the memory of the value.
    pub buffered_sends: bool,
    /// Where large arrays are, if not in memory.
    pub spill: Option<Spill>,
    /// The interfaces of the program to the outside: custom calls, queues, the observer.
    pub hooks: Hooks,
    pub(crate) interrupt: Option<Arc<AtomicBool>>,
    pub(crate) clock: Option<Clock>,
}

impl RunOptions {
    /// Stops after `steps` steps.
    #[must_use]
    pub fn fuel(mut self, steps: u64) -> Self {
        self.fuel = Some(steps);
        self
    }
    /// Stops after `time`.
    #[must_use]
    pub fn time_limit(mut self, time: Duration) -> Self {
        self.time_limit = Some(time);
        self
    }
    /// Starts the clock of the time limit now: all runs with these options, and with clones of
    /// them, share it. Without it each run has its own.
    #[must_use]
    pub fn start_clock(mut self) -> Self {
        self.clock = self.clock();
        self
    }
    /// Fails if the clock that was [started](Self::start_clock) has passed the time limit, or the
    /// caller stops the run: for what a run needs and takes long to make.
    ///
    /// # Errors
    /// `E0412` or `E0414`.
    pub fn check_time(&self) -> Result<()> {
        self.clock.as_ref().map_or(Ok(()), Clock::check)
    }
    /// Returns the clock that was started, or a new one, if there is a time limit or a flag.
    pub(crate) fn clock(&self) -> Option<Clock> {
        let flag = self.interrupt.clone();
        self.clock.clone().or_else(|| match self.time_limit {
            Some(limit) => Some(Clock::start(limit, flag)),
            None => flag.map(Clock::of),
        })
    }
    /// Stops with [`Code::Interrupted`](crate::Code::Interrupted) soon after the flag is set, which
    /// another thread may do. With a time limit, the run sets the flag when the time is over.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    /// let text = "t { p = s32[] parameter(0) ROOT t = pred[] constant(true) }
    ///   b { ROOT p = s32[] parameter(0) }
    ///   ENTRY e { z = s32[] constant(0) ROOT r = s32[] while(z), condition=t, body=b }";
    /// let verified = hlo::Module::parse(text).unwrap().verify().unwrap();
    /// let executable = interp::Executable::compile(verified, &interp::CompileOptions::default()).unwrap();
    /// let flag = Arc::new(AtomicBool::new(false));
    /// let options = interp::RunOptions::default().interrupt(Arc::clone(&flag));
    /// let run = std::thread::spawn(move || executable.execute(&[], &options));
    /// flag.store(true, Ordering::Relaxed);
    /// assert_eq!(run.join().unwrap().unwrap_err().number(), "E0414");
    /// ```
    #[must_use]
    pub fn interrupt(mut self, flag: Arc<AtomicBool>) -> Self {
        self.interrupt = Some(flag);
        self
    }
    /// Limits arguments, values, and what ops work in to `bytes` bytes.
    #[must_use]
    pub fn max_memory(mut self, bytes: usize) -> Self {
        self.max_memory = Some(bytes);
        self
    }
    /// Keeps large arrays in files.
    #[must_use]
    pub fn spill(mut self, spill: Spill) -> Self {
        self.spill = Some(spill);
        self
    }
    /// Stops at the first NaN or infinity that is computed from finite operands.
    #[must_use]
    pub fn check_nan(mut self, on: bool) -> Self {
        self.check_nan = on;
        self
    }
    /// Steps devices and reduces values in an order drawn from `seed`.
    #[must_use]
    pub fn order(mut self, seed: u64) -> Self {
        self.order = Some(seed);
        self
    }
    /// Keeps the value of a `send` until it is received, or makes the `send` wait for its `recv`.
    #[must_use]
    pub fn buffered_sends(mut self, on: bool) -> Self {
        self.buffered_sends = on;
        self
    }
    /// Sets the seed of `rng`.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
    /// Sets the hooks of the program.
    #[must_use]
    pub fn hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }
}
