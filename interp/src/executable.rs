//! The compiled program: a verified module, and a plan for each of its computations.
use crate::context::RunContext;
use crate::dynamic;
use crate::float_environment::FloatEnvironment;
use crate::hooks::Hooks;
use crate::loops;
use crate::lower::{self, CompileLimits};
use crate::machine::{Machine, Outcome};
use crate::options::{CompileOptions, Engine, RunOptions};
use crate::plan::{PlanText, Step};
use crate::program::{Program, calls_out};
use crate::state::Site;
use crate::value::Value;
use crate::{Device, DeviceGrid, Error, Result};
use hlo::ir::{ComputationId, InstructionId};
use hlo::{Literal, Module, Shape, Verified};
use num::array::{bytes_of, too_large, with_layouts};
use num::error::Code;
use num::scalar_program::ScalarPrograms;
use std::fmt;
use std::sync::{Arc, OnceLock};

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
    /// `E04xx` if the module cannot be compiled; `E0405` and `E0412` if the options have limits,
    /// and it needs more.
    pub fn compile(verified: impl Into<Arc<Verified>>, options: &CompileOptions) -> Result<Self> {
        let _environment = FloatEnvironment::enter();
        let verified = verified.into();
        let scalar_programs =
            ScalarPrograms::compile(verified.module(), loops::compiler(options.jit));
        let (engine, scalar_programs) = (options.engine, Arc::new(scalar_programs));
        let fuses = engine.arithmetic().is_some();
        let limits = CompileLimits::of(options);
        let plans = lower::plans(verified.module(), engine, &scalar_programs, fuses, limits)?;
        Ok(Self(Arc::new(Program {
            calls_out: calls_out(verified.module(), |_| false),
            verified,
            engine,
            plans,
            scalar_programs,
            pool: Arc::default(),
            observable: OnceLock::new(),
        })))
    }
    /// Returns the program for a run with these options: where each instruction is observed, each
    /// has its own step.
    fn program(&self, options: &RunOptions) -> Result<&Arc<Program>> {
        let is_observed = options.check_nan || options.hooks.observer.is_some();
        if !is_observed || self.engine().arithmetic().is_none() {
            return Ok(&self.0);
        }
        if let Some(program) = self.0.observable.get() {
            return Ok(program);
        }
        let Program { verified, engine, scalar_programs, pool, .. } = &*self.0;
        let limits = CompileLimits::of(&CompileOptions::default().limits_of(options));
        let plans = lower::plans(verified.module(), *engine, scalar_programs, false, limits)?;
        Ok(self.0.observable.get_or_init(|| {
            Arc::new(Program {
                calls_out: self.0.calls_out,
                verified: Arc::clone(verified),
                engine: *engine,
                plans,
                scalar_programs: Arc::clone(scalar_programs),
                pool: Arc::clone(pool),
                observable: OnceLock::new(),
            })
        }))
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
    /// Returns the bytes that are in use during each step, what it works in included: the
    /// computation and the instruction, and the bytes of values that steps of this computation have
    /// computed. Arguments, and what called computations hold, are not counted.
    pub fn step_bytes(&self) -> Vec<(ComputationId, InstructionId, usize)> {
        let steps = self.0.plans.iter().flat_map(|plan| &plan.steps);
        let bytes = |step: &Step| {
            let Site { computation, instruction } = step.site;
            (computation, instruction, step.live_bytes.saturating_add(step.scratch))
        };
        steps.map(bytes).collect()
    }
    /// Returns whether a run with these hooks calls no code of others, but for a target: then it may
    /// run on a thread of the host.
    pub fn stays_on_thread(&self, hooks: &Hooks, but_for: &str) -> bool {
        let is_own = |target: &str| {
            target == but_for || !hooks.replaces(target) && hooks.runs_custom_call(target)
        };
        !calls_out(self.module(), is_own)
    }
    /// Returns the most bytes that a run of one device is planned to hold at once, arguments and
    /// scratch memory of kernels included: enough for [`RunOptions::max_memory`]. A run with an
    /// observer or [`RunOptions::check_nan`] may take more: it holds the value of each instruction.
    /// The number depends on that of the threads: each works in memory of its own. For arrays
    /// smaller than their bounds it counts the bounds.
    pub fn planned_bytes(&self) -> usize {
        self.0.planned_bytes()
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
    /// An argument that is passed as a part of a `Vec`, and whose memory nothing else shares, is
    /// donated: its memory is used for other values after its last use, and results are computed in
    /// it if the header of the module donates it (`input_output_alias`, `buffer_donor`).
    ///
    /// # Errors
    /// `E0401` if the arguments do not fit the parameters, `E0405` if they have more bytes than are
    /// allowed.
    pub fn start(
        &self,
        place: Option<(Device, DeviceGrid)>,
        arguments: impl Into<Vec<Literal>>,
        options: &RunOptions,
    ) -> Result<Machine> {
        let _environment = FloatEnvironment::enter();
        let arguments: Vec<Literal> = arguments.into();
        let bytes = arguments.iter().map(held_bytes).sum();
        let program = Arc::clone(self.program(options)?);
        let context = RunContext::new(program, call, options.clone(), place);
        let mut held = context.budget().hold(bytes)?;
        let checked = check_arguments(&context, arguments)?;
        // What nothing else shares is donated, and pays for itself until it is dropped.
        let arguments = checked.into_iter().map(|argument| Value::from(argument).held(&mut held));
        let arguments = arguments.collect::<Result<Vec<_>>>()?;
        let machine = Machine::new(context, self.module().entry, arguments)?;
        Ok(machine.with_arguments(held))
    }
    /// Returns a context that belongs to no device, for cross-device instructions.
    pub(crate) fn context(&self, options: &RunOptions) -> RunContext {
        let options = RunOptions { hooks: options.hooks.functions(), ..options.clone() };
        RunContext::new(Arc::clone(&self.0), call, options, None)
    }
}

/// Runs a computation on a machine of its own.
fn call(context: RunContext, id: ComputationId, arguments: Vec<Value>) -> Result<Literal> {
    Machine::new(context, id, arguments)?.finish()
}

impl Machine {
    /// Runs to the end on a single device.
    ///
    /// # Errors
    /// `E04xx`, with the instruction at which the run stopped.
    pub fn finish(&mut self) -> Result<Literal> {
        match self.resume()? {
            Outcome::Done(result) => Ok(result),
            Outcome::Suspended(_) | Outcome::Waiting(_) | Outcome::PartDone => {
                Err(Error::internal("a single device does not wait for others"))
            }
        }
    }
}

/// Returns the arguments of a module, checked against its parameters and with their layouts.
fn check_arguments(context: &RunContext, arguments: Vec<Literal>) -> Result<Vec<Literal>> {
    let expected = context.module().entry().program_shape().parameters;
    if expected.len() != arguments.len() {
        let message = format!(
            "the module has {} parameters, but {} arguments are given",
            expected.len(),
            arguments.len()
        );
        return Err(Code::Invalid { message }.into());
    }
    let check = |(i, (argument, expected)): (usize, (Literal, &Shape))| {
        let found = argument.shape();
        if !dynamic::fits(&found, expected) {
            let entry = context.module().entry();
            let name = entry.name(entry.parameters()[i]);
            let message = format!(
                "argument {i} (`{name}`) has shape {found}, but the parameter has shape {expected}"
            );
            return Err(Code::Invalid { message }.into());
        }
        if bytes_of(expected).is_none() {
            return Err(too_large(expected));
        }
        Ok(with_layouts(dynamic::to_bounds(context, &argument, expected)?, expected))
    };
    arguments.into_iter().zip(expected).enumerate().map(check).collect()
}

/// Returns the bytes of the arrays of a value.
fn held_bytes(value: &Literal) -> usize {
    let arrays = value.leaves().into_iter().filter(|leaf| leaf.array_shape().is_some());
    arrays.map(|array| array.bytes().len()).sum()
}
