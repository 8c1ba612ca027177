//! The compiled program: a verified module, and a plan for each of its computations.
use crate::context::RunContext;
use crate::error::Code;
use crate::hooks::Hooks;
use crate::kernel::dynamic;
use crate::machine::{Machine, Outcome};
use crate::plan::{Plan, PlanText, build};
use crate::scalar_program::ScalarProgram;
use crate::value::{bytes_of, too_large, with_layouts};
use crate::{Device, DeviceGrid, Error, Result};
use hlo::ir::ComputationId;
use hlo::{Literal, Module, Verified};
use std::fmt;
use std::sync::Arc;

/// The implementation of the ops that a program is compiled to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Engine {
    /// The specification, one page of `spec/` per op: slow and simple.
    Reference,
    /// Optimized kernels, checked against `spec/`: the same bits where an op is exact.
    #[default]
    Exact,
}

impl Engine {
    /// All engines; the default is the first.
    pub const ALL: [Self; 2] = [Self::Exact, Self::Reference];

    /// Returns the name of the engine.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Exact => "exact",
        }
    }
}

/// The options of compilation.
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

/// The options of a run.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// Steps after which the run stops with [`Code::OutOfFuel`]: one per instruction, one per call of a scalar
    /// computation by an op like `reduce`, and about one per multiplication of `dot`, `convolution`, `fft` and linear
    /// algebra. No limit if absent.
    pub fuel: Option<u64>,
    /// The limit of the total bytes of the arrays of a device, arguments not counted. No limit if absent.
    pub max_memory: Option<usize>,
    /// Stops with [`Code::NotFinite`] at the first instruction that returns a NaN or an infinity for finite operands.
    pub check_nan: bool,
    /// The seed of `rng`: the same seed gives the same numbers on every machine.
    pub seed: u64,
    /// The seed of the order of everything that a run on several devices may do in any order: which devices
    /// are stepped first, and in which order the values of a group are folded, with each sum rounded. If absent, devices
    /// are stepped together, values are folded in group order, and sums are rounded once.
    pub order: Option<u64>,
    /// The interfaces of the program to the outside: custom calls, queues, the observer.
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

/// A compiled program. Clones share it.
///
/// ```
/// use interp::{CompileOptions, Executable, RunOptions};
/// let text = "HloModule m\nENTRY e { p = f32[3] parameter(0) ROOT r = f32[3] add(p, p) }";
/// let verified = hlo::Module::parse(text)?.verify()?;
/// let executable = Executable::compile(verified, &CompileOptions::default())?;
/// let result = executable.execute(&["f32[3] {1, 2, 3}".parse()?], &RunOptions::default())?;
/// assert_eq!(result.to_string(), "f32[3]{0} {2, 4, 6}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Executable(Arc<Program>);

impl fmt::Debug for Executable {
    /// Formats the name of the module and the engine.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Executable");
        out.field("module", &self.module().name).field("engine", &self.engine());
        out.finish_non_exhaustive()
    }
}

/// The state shared by an executable and its runs.
#[derive(Debug)]
pub(crate) struct Program {
    verified: Arc<Verified>,
    pub(crate) engine: Engine,
    /// A plan for each computation, by its number.
    plans: Vec<Plan>,
    /// The computations that take and return scalars, compiled for ops that apply them to elements.
    scalar_programs: Vec<Option<Arc<ScalarProgram>>>,
}

impl Program {
    pub(crate) fn module(&self) -> &Module {
        self.verified.module()
    }
    pub(crate) fn plan(&self, computation: ComputationId) -> &Plan {
        &self.plans[computation.index()]
    }
    pub(crate) fn scalar_program(&self, computation: ComputationId) -> Result<&Arc<ScalarProgram>> {
        self.scalar_programs[computation.index()]
            .as_ref()
            .ok_or_else(|| Error::internal("ops apply only scalar computations to elements"))
    }
}

/// Compiles a module for the default engine and runs it once on one device.
///
/// To run it more than once, [compile](Executable::compile) it once.
///
/// ```
/// let text = "HloModule m\nENTRY e { ROOT c = s32[] constant(7) }";
/// let verified = hlo::Module::parse(text)?.verify()?;
/// assert_eq!(interp::run(&verified, &[])?.to_string(), "s32[] 7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Executable::compile`] and [`Executable::execute`].
pub fn run(verified: &Verified, arguments: &[Literal]) -> Result<Literal> {
    Executable::compile(verified.clone(), &CompileOptions::default())?
        .execute(arguments, &RunOptions::default())
}

/// Users that store an executable rely on these traits, so their loss is a compile error here.
const _: () = {
    const fn owned<T: Send + Sync + Clone + 'static>() {}
    owned::<Executable>();
};

impl Executable {
    /// Compiles a module.
    ///
    /// # Errors
    /// `E04xx` if the module cannot be compiled.
    pub fn compile(verified: impl Into<Arc<Verified>>, options: &CompileOptions) -> Result<Self> {
        let verified = verified.into();
        let module = verified.module();
        let scalar_programs: Vec<Option<Arc<ScalarProgram>>> = (module.computations.ids())
            .map(|id| ScalarProgram::compile(module, id).map(Arc::new))
            .collect();
        let plans = build::plans(module, options.engine);
        Ok(Self(Arc::new(Program { verified, engine: options.engine, plans, scalar_programs })))
    }
    /// Returns the module.
    pub fn module(&self) -> &Module {
        self.0.module()
    }
    /// Returns the verified module.
    pub fn verified(&self) -> &Arc<Verified> {
        &self.0.verified
    }
    /// Returns the engine that the program was compiled for.
    pub fn engine(&self) -> Engine {
        self.0.engine
    }
    /// Returns the steps, slots and peak memory of each computation, in readable form.
    pub fn plan(&self) -> PlanText<'_> {
        PlanText::new(&self.0)
    }
    /// Returns the most bytes that a run of one device is planned to hold at once, arguments and temporaries of kernels
    /// not counted.
    pub fn planned_bytes(&self) -> usize {
        self.0.plan(self.module().entry).peak_bytes
    }

    /// Runs the program on one device and returns the result of the entry computation.
    ///
    /// # Errors
    /// `E0401` if the arguments do not fit the parameters; `E04xx` if the run fails.
    pub fn execute(&self, arguments: &[Literal], options: &RunOptions) -> Result<Literal> {
        self.start(None, arguments, options)?.finish()
    }
    /// Creates a machine at the first step of a run.
    ///
    /// With a device of a grid as `place`, the machine suspends at each cross-device instruction.
    ///
    /// # Errors
    /// `E0401` if the arguments do not fit the parameters.
    pub fn start(
        &self,
        place: Option<(Device, DeviceGrid)>,
        arguments: &[Literal],
        options: &RunOptions,
    ) -> Result<Machine> {
        let arguments = check_arguments(self.module(), arguments)?;
        let context = RunContext::new(Arc::clone(&self.0), options.clone(), place);
        Machine::new(context, self.module().entry, arguments.into_iter().map(Into::into).collect())
    }
    /// Returns a context that belongs to no device, for cross-device instructions.
    pub(crate) fn context(&self, options: &RunOptions) -> RunContext {
        let options = RunOptions { hooks: Hooks::new(), ..options.clone() };
        RunContext::new(Arc::clone(&self.0), options, None)
    }
}

impl Machine {
    /// Runs to the end on a single device.
    ///
    /// # Errors
    /// `E04xx`, with the instruction at which the run stopped.
    pub fn finish(&mut self) -> Result<Literal> {
        match self.resume()? {
            Outcome::Done(result) => Ok(result),
            Outcome::Suspended(_) => {
                Err(Error::internal("a single device does not wait for others"))
            }
        }
    }
}

/// Returns the arguments of a module, checked against its parameters and with their layouts.
fn check_arguments(module: &Module, arguments: &[Literal]) -> Result<Vec<Literal>> {
    let expected = module.entry().program_shape().parameters;
    if expected.len() != arguments.len() {
        let message = format!(
            "the module has {} parameters, but {} arguments are given",
            expected.len(),
            arguments.len()
        );
        return Err(Code::Invalid { message }.into());
    }
    let check = |(i, (argument, expected)): (usize, (&Literal, &hlo::Shape))| {
        let found = argument.shape();
        if !dynamic::fits(&found, expected) {
            let message =
                format!("argument {i} has shape {found}, but the parameter has shape {expected}");
            return Err(Code::Invalid { message }.into());
        }
        if bytes_of(expected).is_none() {
            return Err(too_large(expected));
        }
        Ok(with_layouts(dynamic::to_bounds(argument, expected), expected))
    };
    arguments.iter().zip(expected).enumerate().map(check).collect()
}
