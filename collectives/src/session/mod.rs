//! The front door: a program that is compiled once and runs often, on one device or many.
mod error;

pub use error::RunError;

use crate::device_run::{DeviceHooks, DeviceRun, check_grid};
use crate::spmd::{self, Divergence, Program};
use crate::{Ranks, channels};
use hlo::diag::Diagnostic;
use hlo::{Literal, Module, Verified};
use interp::{CompileOptions, Device, DeviceGrid, Executable, FloatEnvironment, Hooks, RunOptions};
use std::sync::Arc;

/// A compiled program, with the devices that it runs on. Clones share it.
///
/// It is one of
/// - a program for one device;
/// - a program that each device of its header's grid runs;
/// - an unpartitioned SPMD program, whose manual regions run on the devices of their meshes.
///
/// ```
/// use collectives::Session;
/// use interp::{CompileOptions, RunOptions};
/// let text = "HloModule m, replica_count=2
/// add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
/// ENTRY e { x = s32[] parameter(0) ROOT sum = s32[] all-reduce(x), replica_groups={}, to_apply=add }";
/// let verified = hlo::Module::parse(text)?.verify()?;
/// let session = Session::compile(verified, &CompileOptions::default())?;
/// let inputs = vec![vec!["s32[] 3".parse()?], vec!["s32[] 4".parse()?]];
/// let output = session.run(&inputs, &RunOptions::default())?;
/// assert_eq!(output.results[1].to_string(), "s32[] 7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Session(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    verified: Arc<Verified>,
    grid: DeviceGrid,
    program: CompiledProgram,
    /// Whether devices send to each other.
    has_transfers: bool,
    warnings: Vec<Diagnostic>,
}

#[derive(Debug)]
enum CompiledProgram {
    /// Each device runs it.
    PerDevice(Executable),
    /// It runs once, and its manual regions run on each device.
    Unpartitioned(Program),
}

/// Programs that keep a session share it between threads and do not borrow the module.
const _: () = {
    const fn owned<T: Clone + Send + Sync + 'static>() {}
    owned::<Session>();
};

/// The output of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOutput {
    /// The result of each device, ordered by device number; in a run on several ranks of the
    /// devices of this rank, a [block](Ranks::block). An unpartitioned SPMD program has a single
    /// result, which all ranks get.
    pub results: Vec<Literal>,
    /// Values of an unpartitioned SPMD program that differ between devices although they must be
    /// equal.
    pub notes: Vec<Divergence>,
    /// The most bytes of arrays, arguments and scratch memory that the devices of this process
    /// held, the sum of their peaks. Not measured for an unpartitioned SPMD program.
    pub peak_bytes: Option<usize>,
    /// The steps that a run on one device took, as [`RunOptions::fuel`] counts them.
    pub steps: Option<u64>,
}

impl Session {
    /// Compiles a module for the devices that its header states.
    ///
    /// # Errors
    /// `E04xx` if the module cannot be compiled; `E0507` if it has too many devices; for an
    /// unpartitioned SPMD program `E0511` if a sharding is malformed or does not fit, `E0512` if a
    /// per-device value leaves its region, and `E0514` if the module of a region is invalid.
    pub fn compile(
        verified: impl Into<Arc<Verified>>,
        options: &CompileOptions,
    ) -> Result<Self, RunError> {
        let verified = verified.into();
        let grid = DeviceGrid::of(&verified.module().config);
        Self::compile_for(verified, grid, options)
    }
    /// Compiles a module for other devices than its header states.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub fn compile_for(
        verified: impl Into<Arc<Verified>>,
        grid: DeviceGrid,
        options: &CompileOptions,
    ) -> Result<Self, RunError> {
        let verified = verified.into();
        check_grid(grid)?;
        let unpartitioned = match grid.len() {
            1 => Program::compile(&verified, *options)?,
            _ => None,
        };
        let program = match unpartitioned {
            Some(program) => CompiledProgram::Unpartitioned(program),
            None => CompiledProgram::PerDevice(Executable::compile(verified.clone(), options)?),
        };
        let warnings = spmd::unpartitioned(verified.module(), grid.len()).into_iter().collect();
        let has_transfers = channels::has_transfers(verified.module());
        let compiled = Compiled { verified, grid, program, has_transfers, warnings };
        Ok(Self(Arc::new(compiled)))
    }

    /// Returns the module.
    pub fn module(&self) -> &Module {
        self.0.verified.module()
    }
    /// Returns what is likely a mistake: shardings of a program that is not partitioned, and runs
    /// on several devices.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.0.warnings
    }
    /// Returns the devices, each of which takes arguments and has a result: a single one for an
    /// unpartitioned SPMD program.
    pub fn grid(&self) -> DeviceGrid {
        self.0.grid
    }
    /// Returns the executable; for an unpartitioned SPMD program that of its outer program, which
    /// calls the manual regions.
    pub fn executable(&self) -> &Executable {
        match &self.0.program {
            CompiledProgram::PerDevice(executable) => executable,
            CompiledProgram::Unpartitioned(program) => program.outer(),
        }
    }
    /// Returns the most bytes that a run in one process is planned to hold at once: enough for
    /// [`RunOptions::max_memory`]. Not known for an unpartitioned SPMD program.
    pub fn planned_bytes(&self) -> Option<usize> {
        match &self.0.program {
            CompiledProgram::PerDevice(executable) => {
                Some(executable.planned_bytes().saturating_mul(self.0.grid.len()))
            }
            CompiledProgram::Unpartitioned(_) => None,
        }
    }
    /// Returns whether the program is an unpartitioned SPMD program with manual regions.
    pub fn is_unpartitioned(&self) -> bool {
        matches!(self.0.program, CompiledProgram::Unpartitioned(_))
    }

    /// Runs the program. `inputs` has one list of arguments for each device, or a single list for
    /// all. Each device gets the hooks of the options, and an equal part of the memory that the
    /// arguments leave.
    ///
    /// # Errors
    /// `E0401` or `E0505` if the arguments do not fit; `E04xx` if the run of a device fails;
    /// `E05xx` if the ops of different devices do not match, or the run is deadlocked.
    pub fn run(
        &self,
        inputs: &[Vec<Literal>],
        options: &RunOptions,
    ) -> Result<RunOutput, RunError> {
        let hooks = options.hooks.clone();
        self.run_with(inputs, options, move |_| hooks.clone())
    }
    /// Runs the program with hooks for each device; those of the options are not used.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_with(
        &self,
        inputs: &[Vec<Literal>],
        options: &RunOptions,
        hooks: impl Fn(Device) -> Hooks + Send + Sync + 'static,
    ) -> Result<RunOutput, RunError> {
        self.run_donated(inputs.to_vec(), options, hooks)
    }
    /// Runs the program as [`run_with`](Self::run_with), and takes the arguments: the memory of an
    /// array that nothing else shares is used for other values after its last use. An unpartitioned
    /// SPMD program keeps its arguments to the end.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_donated(
        &self,
        inputs: Vec<Vec<Literal>>,
        options: &RunOptions,
        hooks: impl Fn(Device) -> Hooks + Send + Sync + 'static,
    ) -> Result<RunOutput, RunError> {
        let hooks: DeviceHooks = Arc::new(hooks);
        self.start(inputs, options, &hooks, None)
    }
    /// Runs the program in several processes. Each rank runs a [block](Ranks::block) of the
    /// devices, and takes the arguments of those; of an unpartitioned SPMD program it runs all but
    /// the other ranks' devices in manual regions. All ranks call this with the same program and
    /// options. Each gets the results of its devices, with the bits of a run in one process, or all
    /// get the same error.
    ///
    /// # Errors
    /// As [`run`](Self::run); `E0508` if the ranks run different programs; `E0509` if the
    /// connection to a rank is lost.
    pub fn run_on_ranks(
        &self,
        ranks: &Ranks,
        inputs: &[Vec<Literal>],
        options: &RunOptions,
        hooks: impl Fn(Device) -> Hooks + Send + Sync + 'static,
    ) -> Result<RunOutput, RunError> {
        let hooks: DeviceHooks = Arc::new(hooks);
        self.start(inputs.to_vec(), options, &hooks, Some(ranks))
    }

    fn start(
        &self,
        mut inputs: Vec<Vec<Literal>>,
        options: &RunOptions,
        hooks: &DeviceHooks,
        ranks: Option<&Ranks>,
    ) -> Result<RunOutput, RunError> {
        let _environment = FloatEnvironment::enter();
        // All devices have one clock.
        let options = &options.clone().start_clock();
        let grid = self.0.grid;
        let executable = match (&self.0.program, inputs.as_mut_slice(), ranks) {
            (CompiledProgram::Unpartitioned(program), [arguments], _) => {
                let (result, notes) = program.run(arguments, options, hooks, ranks)?;
                return Ok(RunOutput {
                    results: vec![result],
                    notes,
                    peak_bytes: None,
                    steps: None,
                });
            }
            (CompiledProgram::PerDevice(executable), [arguments], None)
                if grid.len() == 1 && !self.0.has_transfers =>
            {
                let options = options.clone().hooks(hooks(grid.device(0)));
                let mut machine = executable.start(None, std::mem::take(arguments), &options)?;
                let results = vec![machine.finish()?];
                let (peak_bytes, steps) = (Some(machine.peak_bytes()), Some(machine.steps()));
                return Ok(RunOutput { results, notes: Vec::new(), peak_bytes, steps });
            }
            _ => self.executable(),
        };
        channels::check(self.module(), grid)?;
        let run = DeviceRun { executable, grid, options, hooks, ranks };
        let (results, peak_bytes) = run.finish(inputs)?;
        Ok(RunOutput { results, notes: Vec::new(), peak_bytes: Some(peak_bytes), steps: None })
    }
}
