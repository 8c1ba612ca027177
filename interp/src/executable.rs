//! The compiled program: a verified module, and a plan for each of its computations.
use crate::context::RunContext;
use crate::dynamic;
use crate::error::Code;
use crate::hooks::Hooks;
use crate::machine::{Machine, Outcome};
use crate::plan::{Plan, PlanText, build};
use crate::scalar_program::ScalarPrograms;
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
    /// The name of the module and the engine.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Executable");
        out.field("module", &self.module().name).field("engine", &self.engine());
        out.finish_non_exhaustive()
    }
}

/// What an executable and its runs share.
#[derive(Debug)]
pub(crate) struct Program {
    verified: Arc<Verified>,
    pub(crate) engine: Engine,
    /// A plan for each computation, by its number.
    plans: Vec<Plan>,
    /// The computations that take and return scalars, compiled for ops that apply them to elements.
    pub(crate) scalar_programs: ScalarPrograms,
}

impl Program {
    pub(crate) fn module(&self) -> &Module {
        self.verified.module()
    }
    pub(crate) fn plan(&self, computation: ComputationId) -> &Plan {
        &self.plans[computation.index()]
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

/// Losing one of these would break every user that keeps an executable: it is an error here.
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
        let scalar_programs = ScalarPrograms::compile(verified.module());
        let plans = build::plans(verified.module(), options.engine, &scalar_programs);
        Ok(Self(Arc::new(Program { verified, engine: options.engine, plans, scalar_programs })))
    }
    /// The module.
    pub fn module(&self) -> &Module {
        self.0.module()
    }
    /// The verified module.
    pub fn verified(&self) -> &Arc<Verified> {
        &self.0.verified
    }
    /// The engine it was compiled for.
    pub fn engine(&self) -> Engine {
        self.0.engine
    }
    /// The steps, slots and peak memory of each computation, for people.
    pub fn plan(&self) -> PlanText<'_> {
        PlanText::new(&self.0)
    }
    /// The most bytes that a run of one device is planned to hold at once, memory that kernels work in included, arguments
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
    /// Starts a run, which has not taken its first step.
    ///
    /// With a place among several devices, the machine suspends at each instruction that other devices take part in.
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
    /// What ops between devices need: a context that belongs to no device.
    pub(crate) fn context(&self, options: &RunOptions) -> RunContext {
        let options = RunOptions { hooks: Hooks::new(), ..options.clone() };
        RunContext::new(Arc::clone(&self.0), options, None)
    }
}

impl Machine {
    /// Runs to the end on the only device there is.
    ///
    /// # Errors
    /// `E04xx`, with the instruction at which the run stopped.
    pub fn finish(&mut self) -> Result<Literal> {
        match self.resume()? {
            Outcome::Done(result) => Ok(result),
            Outcome::Suspended(_) => {
                Err(Error::internal("a device that is alone waits for no other"))
            }
        }
    }
}

/// The arguments of a module, checked against its parameters and with their layouts.
fn check_arguments(module: &Module, arguments: &[Literal]) -> Result<Vec<Literal>> {
    let expected = module.entry().program_shape().parameters;
    if expected.len() != arguments.len() {
        let message =
            format!("the module takes {} arguments, {} are given", expected.len(), arguments.len());
        return Err(Code::Invalid { message }.into());
    }
    let check = |(i, (argument, expected)): (usize, (&Literal, &hlo::Shape))| {
        let found = argument.shape();
        if !dynamic::fits(&found, expected) {
            let message = format!("argument {i} has shape {found}, the parameter {expected}");
            return Err(Code::Invalid { message }.into());
        }
        if bytes_of(expected).is_none() {
            return Err(too_large(expected));
        }
        Ok(with_layouts(dynamic::to_bounds(argument, expected), expected))
    };
    arguments.iter().zip(expected).enumerate().map(check).collect()
}
