//! Options of several commands: devices, arguments, limits, engines.
use super::words::{number, positive, seed};
use crate::error::{Failure, Result as CommandResult};
use crate::interval::Interval;
use clap::{Args, ValueEnum};
use interp::CompileOptions;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a module is read.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Reading the module")]
pub(crate) struct LoadArgs {
    /// Accept and keep unknown attributes.
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Take module N of a file of several modules; the first is 1.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) module: Option<u32>,
    /// Run this function of a StableHLO program, in place of `@main`.
    #[arg(long, value_name = "NAME")]
    pub(crate) function: Option<String>,
    /// The shape of the next argument of a StableHLO program with unknown sizes, `f32[2,3]`, or its value if it gives sizes,
    /// `s64[1] {2}`; repeatable. Without it, arrays of --input state the sizes.
    #[arg(long, value_name = "SHAPE|VALUE")]
    pub(crate) shape: Vec<load::Argument>,
}

impl LoadArgs {
    /// For a file of one module.
    pub(crate) fn of(lenient: bool) -> Self {
        Self { lenient, ..Self::default() }
    }
}

/// How a module is compiled.
#[derive(Debug, Args)]
#[command(next_help_heading = "Engine")]
pub(crate) struct CompileArgs {
    /// The engine that runs the module.
    #[arg(long, value_enum, default_value_t = EngineArg::Exact)]
    pub(crate) engine: EngineArg,
    /// Generate no machine code: loops over scalars are interpreted. The results have the same bits.
    #[arg(long)]
    pub(crate) no_jit: bool,
}

impl CompileArgs {
    /// Returns the options of compilation.
    pub(crate) fn options(&self) -> CompileOptions {
        self.engine.options().jit(!self.no_jit)
    }
}

/// The number of devices.
#[derive(Debug, Args)]
#[command(next_help_heading = "Devices")]
pub(crate) struct DeviceArgs {
    /// The number of replicas, in place of the one in the module's header.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) replicas: Option<u32>,
    /// The number of partitions of each replica, in place of the one in the module's header.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) partitions: Option<u32>,
}

impl DeviceArgs {
    /// Replaces the numbers in the header by the given ones.
    pub(crate) fn apply(&self, module: &mut hlo::Module) {
        let config = &mut module.config;
        config.replica_count = self.replicas.map_or(config.replica_count, i64::from);
        config.num_partitions = self.partitions.map_or(config.num_partitions, i64::from);
    }
}

/// The source of the arguments.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Arguments of the module")]
pub(crate) struct InputArgs {
    /// Arguments: a file, `NAME=FILE`, or `NAME='f32[2] {1, 2}'`, where NAME is the name or the number of a parameter; repeatable.
    /// An .npz or .safetensors file has `in0`, `in1`, ..., or the names of parameters; .npy files without a name are taken in
    /// parameter order. Arguments go to all devices; `d<k>_in<i>` and `dK:NAME=FILE` go to device k = replica * partitions +
    /// partition.
    #[arg(long, value_name = "FILE|NAME=FILE|NAME=VALUE")]
    pub(crate) input: Vec<String>,
    /// Draw random arguments for the parameters that --input does not give: floats from -1 to 1, integers from 0 to 3. Each
    /// device has its own arguments, except for parameters with `parameter_replication={true}` or `sharding={replicated}`.
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub(crate) random: Option<u64>,
    /// The range of random arguments, of one parameter or of all: floats from LO to HI, integers from LO to HI; repeatable.
    /// `floats=LO:HI` and `integers=LO:HI` are those of one class, in all parameters.
    #[arg(long, value_name = "[NAME=]LO:HI", value_parser = range, allow_hyphen_values = true)]
    pub(crate) range: Vec<RangeArg>,
    /// Fill constants that the text elides, `constant({...})`, with random values, as --random draws them. The results are then
    /// those of another program with the same shapes.
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub(crate) elided: Option<u64>,
}

impl InputArgs {
    /// Returns the files that --input may name: a value, or what is behind its `=`.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        let files = self.input.iter().filter_map(|value| value.split_once('='));
        let named = files.map(|(_, file)| Path::new(file));
        self.input.iter().map(Path::new).chain(named)
    }
}

/// The range of random arguments.
#[derive(Debug, Clone)]
pub(crate) struct RangeArg {
    /// The name or the number of the parameter; all parameters if absent.
    pub(crate) parameter: Option<String>,
    pub(crate) interval: Interval,
}

/// Parses `LO:HI` or `NAME=LO:HI`.
fn range(text: &str) -> Result<RangeArg, String> {
    let (parameter, range) = match text.split_once('=') {
        Some((name, range)) => (Some(name.to_owned()), range),
        None => (None, text),
    };
    let interval = Interval::parse(range).ok_or("expected LO:HI, such as 0:10 or -0.5:0.5")?;
    Ok(RangeArg { parameter, interval })
}

/// The limits of a run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Stop a device after this number of steps.
    #[arg(long, value_name = "STEPS", value_parser = number::<u64>)]
    pub(crate) fuel: Option<u64>,
    /// The most bytes of arguments, values, and what ops work in, on all devices of the process together, such as 512M or 2G.
    /// Arguments that do not fit are neither read nor drawn; nor is a module read whose file has more bytes, and more than 16M.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) max_memory: Option<usize>,
}

impl LimitArgs {
    /// Returns the limits as options of a run.
    pub(crate) fn options(&self) -> interp::RunOptions {
        let mut options = interp::RunOptions::default();
        if let Some(steps) = self.fuel {
            options = options.fuel(steps);
        }
        if let Some(bytes) = self.max_memory {
            options = options.max_memory(bytes);
        }
        options
    }
}

/// Where large arrays are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct SpillArgs {
    /// Keep large arrays in files without names in this folder, for runs that need more memory than there is.
    #[arg(long, value_name = "DIR")]
    spill: Option<PathBuf>,
    /// The size in bytes from which an array is large, at least 64M.
    #[arg(long, value_name = "BYTES", value_parser = large, default_value = "1G", requires = "spill")]
    spill_from: usize,
}

impl SpillArgs {
    /// Adds the options to those of a run.
    pub(crate) fn apply(
        &self,
        mut options: interp::RunOptions,
    ) -> CommandResult<interp::RunOptions> {
        if let Some(folder) = &self.spill {
            let spill = interp::Spill::open(folder, self.spill_from);
            options = options.spill(spill.map_err(|error| Failure::file(folder, &error))?);
        }
        Ok(options)
    }
}

/// Parses a size from which arrays may be in files.
fn large(text: &str) -> Result<usize, String> {
    let size = bytes(text)?;
    if size < interp::Spill::SMALLEST { Err("smaller than 64M".to_owned()) } else { Ok(size) }
}

/// Parses `512`, `64k`, `8M`, `2G`.
pub(super) fn bytes(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'M')) => (&text[..at], 1 << 20),
        Some((at, 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let number: usize = digits
        .parse()
        .map_err(|_| "expected a number, optionally followed by k, M or G".to_owned())?;
    number.checked_mul(unit).ok_or_else(|| "too large".to_owned())
}

/// The limit of the time of a run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct TimeArgs {
    /// Stop a run after this number of seconds, such as 0.5. Reading the module, and reading or drawing its arguments, counts;
    /// writing the results does not.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) time_limit: Option<Duration>,
}

impl TimeArgs {
    /// Sets the limit in the options of a run.
    pub(crate) fn apply(&self, options: interp::RunOptions) -> interp::RunOptions {
        match self.time_limit {
            Some(limit) => options.time_limit(limit),
            None => options,
        }
    }
}

/// Parses a time of more than 0 seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let time = time.filter(|time| !time.is_zero());
    time.ok_or_else(|| "expected a number of seconds, such as 10 or 0.5".to_owned())
}

/// Functions of shared libraries.
#[derive(Debug, Args)]
#[command(next_help_heading = "Custom calls")]
pub(crate) struct CustomCallArgs {
    /// Take the C functions of custom calls from a shared library, which runs in a process of its own; repeatable.
    #[arg(long, value_name = "LIBRARY")]
    pub(crate) custom_call_library: Vec<PathBuf>,
    /// The most seconds for one call of a library's function, and for loading a library. --time-limit bounds both, too.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, conflicts_with = "trust_custom_calls")]
    pub(crate) custom_call_time_limit: Option<Duration>,
    /// Run the libraries inside of Etalon, which is faster; a fault of a library then ends or corrupts the run, and no limit ends
    /// a call.
    #[arg(long)]
    pub(crate) trust_custom_calls: bool,
    /// Take the meaning of custom calls from a file of lines `TARGET = identity`, `TARGET = operand K` or `TARGET = tuple`: the
    /// only operand, operand K (from 0), or the tuple of all operands.
    #[arg(long, value_name = "FILE")]
    pub(crate) custom_calls: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum EngineArg {
    /// One function per op, written as the specification states it; slow.
    Reference,
    /// Optimized kernels with the bits of `reference` wherever an op has one correct result.
    Exact,
    /// The kernels of `exact` in the arithmetic of the element types: within the accuracy of each op.
    Fast,
}

impl EngineArg {
    /// Returns the options of compilation for the engine.
    pub(crate) fn options(self) -> CompileOptions {
        CompileOptions::default().engine(self.into())
    }
}

impl From<EngineArg> for interp::Engine {
    fn from(engine: EngineArg) -> Self {
        match engine {
            EngineArg::Reference => Self::Reference,
            EngineArg::Exact => Self::Exact,
            EngineArg::Fast => Self::Fast,
        }
    }
}
