//! The command line: commands, options and their help.
use clap::{Args, Parser, Subcommand, ValueEnum};
use conformance::backend::OptionValue;
use conformance::results::Shard;
use interp::CompileOptions;
use std::path::PathBuf;
use std::time::Duration;

/// A reference backend for XLA's HLO: parse, check, run and compare .hlo files.
///
/// Exit codes: 0 success, 1 the module is wrong or a result differs, 2 wrong usage, 3 unsupported, 4 a bug in Etalon.
#[derive(Debug, Parser)]
#[command(name = "etalon", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run modules.
    Run(RunArgs),
    /// Parse and verify modules; report every error with its line.
    Check(CheckArgs),
    /// Print a module as HLO text.
    Print(PrintArgs),
    /// Convert a module between HLO text and `HloModuleProto`.
    Convert(ConvertArgs),
    /// Run file tests and suites of recorded results.
    Test(TestArgs),
    /// Measure the time to load and to run a module.
    Bench(BenchArgs),
    /// Print the plan of a compiled module: its steps, and the memory that each one takes and frees.
    Plan(PlanArgs),
    /// Draw the communication between devices.
    Graph(GraphArgs),
    /// Compare a backend with Etalon, or a partitioned module with its unpartitioned SPMD program.
    Conform(ConformArgs),
    /// Find the instructions that a backend computes wrong, or where a pass changes the result.
    Blame(BlameArgs),
    /// Run random modules on a backend and on Etalon, and save those whose results differ.
    Fuzz(FuzzArgs),
    /// Run a PJRT plugin for a parent process.
    #[command(hide = true)]
    PjrtHost,
    /// Run a library of custom calls for a parent process.
    #[command(hide = true)]
    CustomCallHost,
    /// Find the smallest module that still shows a difference.
    Reduce(ReduceArgs),
    /// Explain an error number or an opcode.
    Explain(ExplainArgs),
}

#[expect(clippy::struct_excessive_bools, reason = "each is an independent option")]
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Modules to run; `-` for standard input.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) devices: DeviceArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Values for `infeed`: an .npz file with `infeed0`, `infeed1`, ... (tuples flattened), or `d<k>_infeed<i>` for device k.
    #[arg(long, value_name = "F.npz")]
    pub(crate) infeed: Option<PathBuf>,
    /// Write the result to an .npz file as `out0`, `out1`, ..., for several devices as `d<k>_out<i>`. Values of `outfeed` are
    /// written as `outfeed0`, `outfeed1`, ... In a run on several ranks (docs/mpi.md) each rank writes the results of its devices:
    /// rank 0 to F.npz, rank 1 to F.rank1.npz, and so on.
    #[arg(long, value_name = "F.npz")]
    pub(crate) output: Option<PathBuf>,
    /// In a run on several ranks, move all results to rank 0, which writes --output as a single process does.
    #[arg(long)]
    pub(crate) gather: bool,
    #[command(flatten)]
    pub(crate) compile: CompileArgs,
    #[command(flatten)]
    pub(crate) custom_calls: CustomCallArgs,
    /// Print the result; the default without --output. Large arrays are elided. For several devices, equal results are printed
    /// once and small ones side by side; in a pipe without this option, each device has one line: `device 0: ...`.
    #[arg(long)]
    pub(crate) print: bool,
    /// Schedule devices and reduce their values in a random order, rounding after each addition. `many` runs the module in 16
    /// orders and reports the results that depend on the order; if there are any, the exit code is 1.
    #[arg(long, value_name = "SEED|many", value_parser = seed)]
    pub(crate) seed: Option<SeedArg>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
    /// Stop at the first instruction that computes a NaN or an infinity from finite operands.
    #[arg(long)]
    pub(crate) check_nan: bool,
    /// Print the time and the memory of each opcode and each instruction.
    #[arg(long)]
    pub(crate) profile: bool,
    /// Write a trace for Perfetto or Chrome: one event per instruction, one track per device.
    #[arg(long, value_name = "F.json")]
    pub(crate) trace: Option<PathBuf>,
    /// Accept and keep unknown attributes.
    #[arg(long)]
    pub(crate) lenient: bool,
}

/// Functions of shared libraries.
#[derive(Debug, Args)]
pub(crate) struct CustomCallArgs {
    /// Take the C functions of custom calls from a shared library, which runs in a process of its own; repeatable.
    #[arg(long, value_name = "LIBRARY")]
    pub(crate) custom_call_library: Vec<PathBuf>,
    /// The most seconds for one call of a library's function.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, conflicts_with = "trust_custom_calls")]
    pub(crate) custom_call_time_limit: Option<Duration>,
    /// Run the libraries inside of Etalon, which is faster; a fault of a library then ends or corrupts the run.
    #[arg(long)]
    pub(crate) trust_custom_calls: bool,
}

/// How a module is compiled.
#[derive(Debug, Args)]
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
pub(crate) struct DeviceArgs {
    /// The number of replicas, in place of the one in the module's header.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) replicas: Option<u32>,
    /// The number of partitions of each replica, in place of the one in the module's header.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) partitions: Option<u32>,
}

/// The orders of devices and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SeedArg {
    /// One order, drawn from this seed.
    One(u64),
    /// Several orders, to find what depends on the order.
    Many,
}

/// Parses `7` or `many`.
fn seed(text: &str) -> Result<SeedArg, String> {
    match text {
        "many" => Ok(SeedArg::Many),
        number => {
            number.parse().map(SeedArg::One).map_err(|_| "expected a number or `many`".to_owned())
        }
    }
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
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// Arguments: an .npz file with `in0`, `in1`, ..., or `N=FILE.npy` for argument N. They go to all devices; `d<k>_in<i>` and
    /// `dK:N=FILE.npy` go to device k = replica * partitions + partition.
    #[arg(long, value_name = "F.npz|N=F.npy")]
    pub(crate) input: Vec<String>,
    /// Draw random arguments: floats from -1 to 1, integers from 0 to 3. Each device has its own arguments, except for
    /// parameters with `parameter_replication={true}` or `sharding={replicated}`.
    #[arg(long, value_name = "SEED", conflicts_with = "input")]
    pub(crate) random: Option<u64>,
}

/// The limits of a run.
#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    /// Stop a device after this number of steps.
    #[arg(long, value_name = "STEPS")]
    pub(crate) fuel: Option<u64>,
    /// The most bytes of values on a device, and of what its ops work in, such as 512M or 2G; arguments are not counted.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) max_memory: Option<usize>,
}

/// The limit of the time of a run.
#[derive(Debug, Args)]
pub(crate) struct TimeArgs {
    /// Stop a run after this number of seconds, such as 0.5.
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

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// The module to measure; `-` for standard input.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) devices: DeviceArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Write the result to an .npz file as `out0`, `out1`, ..., for several devices as `d<k>_out<i>`.
    #[arg(long, value_name = "F.npz")]
    pub(crate) output: Option<PathBuf>,
    /// The number of measured runs after the first one.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) iterations: u32,
    #[command(flatten)]
    pub(crate) compile: CompileArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
    /// Print seconds and bytes as JSON. `peak_bytes` is that of the device with the most, and `null` for an unpartitioned SPMD
    /// program.
    #[arg(long)]
    pub(crate) json: bool,
    /// Accept and keep unknown attributes.
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The module to compile; `-` for standard input.
    pub(crate) file: PathBuf,
    /// The engine that the module is compiled for.
    #[arg(long, value_enum, default_value_t = EngineArg::Exact)]
    pub(crate) engine: EngineArg,
    /// Accept and keep unknown attributes.
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Modules to check; `-` for standard input.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Accept and keep unknown attributes.
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PrintArgs {
    /// The module; `-` for standard input.
    pub(crate) file: PathBuf,
    /// The style of the text.
    #[arg(long, value_enum, default_value_t = StyleArg::Default)]
    pub(crate) style: StyleArg,
    /// Replace the file by the printed text.
    #[arg(long)]
    pub(crate) in_place: bool,
    /// Accept and keep unknown attributes.
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The module: HLO text, or a message of XLA; `-` for standard input.
    pub(crate) from: PathBuf,
    /// The file to write: a message if its name ends with `.pb`, text if it ends with `.hlo` or `.txt`; `-` writes text to
    /// standard output.
    pub(crate) to: PathBuf,
    /// Accept and keep unknown attributes.
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// File tests, modules with recorded results, or folders of them.
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The engine under test. By default file tests run in every engine, and recorded results are compared with `exact`.
    #[arg(long, value_enum)]
    pub(crate) engine: Option<EngineArg>,
    /// Print every case with its measured error and its bound.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Write the outcome of each case to a file, as a JSON list.
    #[arg(long, value_name = "F.json")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    /// The module; `-` for standard input.
    pub(crate) file: PathBuf,
    /// Draw the devices and the ops that connect them: groups, and pairs of source and target.
    #[arg(long = "devices")]
    pub(crate) of_devices: bool,
    /// The output file: an .svg picture, or .dot text for Graphviz.
    #[arg(long, short, value_name = "F.svg|F.dot")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) devices: DeviceArgs,
    /// Accept and keep unknown attributes.
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConformArgs {
    /// Modules, file tests, modules with recorded arguments, or folders of them.
    #[arg(required_unless_present_any = ["spmd", "compare", "merge", "suite"])]
    #[arg(conflicts_with_all = ["spmd", "compare", "merge"])]
    pub(crate) paths: Vec<PathBuf>,
    /// Run Etalon's own suite: all cases, or those that take about a minute together.
    #[arg(long, value_enum, value_name = "smoke|full", conflicts_with_all = ["spmd", "compare", "merge"])]
    pub(crate) suite: Option<SuiteArg>,
    /// Run only the cases of the suite whose names match; `*` stands for any characters: `dot/f32/*`.
    #[arg(long, value_name = "PATTERN", requires = "suite")]
    pub(crate) case: Option<String>,
    /// The unpartitioned SPMD program, and the partitioned module.
    #[arg(long, num_args = 2, value_names = ["GLOBAL", "PARTITIONED"])]
    #[arg(required_unless_present_any = ["backend", "backend_command", "compare", "merge"])]
    #[arg(conflicts_with_all = ["backend", "backend_command"])]
    pub(crate) spmd: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// The engine that runs both modules, or the one that the backend is compared with.
    #[arg(long, value_enum, default_value_t = EngineArg::Exact)]
    pub(crate) engine: EngineArg,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Accept and keep unknown attributes.
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Print every case of a backend with its measured error and its bound.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Write the results of a backend to a file, one line of JSON a case.
    #[arg(long, value_name = "F.json")]
    pub(crate) json: Option<PathBuf>,
    /// Write the results as JUnit XML, for CI systems.
    #[arg(long, value_name = "F.xml")]
    pub(crate) junit: Option<PathBuf>,
    /// Write the results as a page of HTML that needs no other file.
    #[arg(long, value_name = "F.html")]
    pub(crate) html: Option<PathBuf>,
    /// Run part I of N of the cases, chosen by their names; `--merge` puts the results of all parts together.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Print which cases are better and worse in the second of two results.
    #[arg(long, num_args = 2, value_names = ["OLD.json", "NEW.json"])]
    #[arg(conflicts_with_all = ["backend", "backend_command", "merge"])]
    pub(crate) compare: Vec<PathBuf>,
    /// Merge results of parts of one run, and write them as --json, --junit and --html say.
    #[arg(long, num_args = 1.., value_name = "F.json")]
    #[arg(conflicts_with_all = ["backend", "backend_command"])]
    pub(crate) merge: Vec<PathBuf>,
}

/// Which cases of the suite run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SuiteArg {
    /// Those that take about a minute together.
    Smoke,
    /// All.
    Full,
}

#[derive(Debug, Args)]
pub(crate) struct BlameArgs {
    /// The module, which may have its arguments as `// in:` comments; `-` for standard input.
    #[arg(required_unless_present = "before", conflicts_with = "before")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
    /// A module before a pass, which is compared with `--after`; both run in Etalon.
    #[arg(long, value_name = "A.hlo", requires = "after")]
    #[arg(required_unless_present_any = ["backend", "backend_command"])]
    #[arg(conflicts_with_all = ["backend", "backend_command", "output"])]
    pub(crate) before: Option<PathBuf>,
    /// The module after the pass.
    #[arg(long, value_name = "B.hlo", requires = "before")]
    pub(crate) after: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Write the first wrong instruction as a file test: a module of it alone with its operands. The file must not exist.
    #[arg(long, short, value_name = "F.hlo")]
    pub(crate) output: Option<PathBuf>,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The most bytes of intermediate values that one run of the backend returns.
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20)]
    pub(crate) max_slice: usize,
    /// The most rounds of a loop that are checked.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) rounds: usize,
    /// The most wrong instructions, after which the search ends.
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) findings: usize,
    /// The most steps of one run of Etalon.
    #[arg(long, value_name = "STEPS", default_value_t = 1 << 32)]
    pub(crate) fuel: u64,
    /// Accept and keep unknown attributes.
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("tested").required(true).multiple(true).args(["backend", "backend_command"]))]
pub(crate) struct FuzzArgs {
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
    /// The seed of the first module; each further module has the next seed.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// The number of modules; 100 if there is no --minutes either.
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,
    /// The time to run, in place of a number of modules.
    #[arg(long, value_name = "M", conflicts_with = "count", value_parser = minutes)]
    pub(crate) minutes: Option<Duration>,
    /// Run variants of this module, in place of generated modules.
    #[arg(long, value_name = "FILE")]
    pub(crate) like: Option<PathBuf>,
    /// The weight of an op, such as `gather=20`; 1 without this option, 0 to leave it out. Repeatable.
    #[arg(long, value_name = "OP=W", value_parser = weight)]
    pub(crate) weight: Vec<(hlo::Opcode, u32)>,
    /// Leave out what backends may define in different ways. The default for all backends but Etalon's engines.
    #[arg(long)]
    pub(crate) portable: bool,
    /// Write each finding to a new file test in this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Print how often each opcode ran, and with how many element types.
    #[arg(long)]
    pub(crate) coverage: bool,
}

/// Parses a number of minutes above 0.
fn minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse::<f64>().ok().filter(|minutes| *minutes > 0.0);
    let time = minutes.and_then(|minutes| Duration::try_from_secs_f64(minutes * 60.0).ok());
    time.ok_or_else(|| "expected a number of minutes, such as 5 or 0.5".to_owned())
}

/// Parses `OP=W`.
fn weight(text: &str) -> Result<(hlo::Opcode, u32), String> {
    let (name, weight) = text.split_once('=').ok_or("expected OP=W")?;
    let opcode =
        hlo::Opcode::from_name(name).ok_or_else(|| format!("`{name}` is not an opcode"))?;
    let weight = weight.parse().ok().filter(|weight| *weight <= 1000);
    let weight = weight.ok_or_else(|| "expected a weight from 0 to 1000".to_owned())?;
    Ok((opcode, weight))
}

/// A backend and its options.
#[derive(Debug, Args)]
pub(crate) struct BackendArgs {
    /// The backend: an engine of Etalon, or the path of a PJRT plugin, which runs in a process of its own.
    #[arg(long, value_name = "reference|exact|PLUGIN.so")]
    pub(crate) backend: Option<String>,
    /// A shell command as the backend. It reads the module's text and the arguments `in0`, `in1`, ..., and writes the result
    /// `out0`, `out1`, ..., for several devices `d<k>_in<i>` and `d<k>_out<i>`.
    #[arg(long, value_name = "CMD {hlo} {in.npz} {out.npz}", conflicts_with = "backend")]
    pub(crate) backend_command: Option<String>,
    /// An option of the plugin's client, such as `cpu_device_count=8`; repeatable.
    #[arg(long, value_name = "KEY=VALUE", value_parser = option)]
    pub(crate) option: Vec<(String, OptionValue)>,
    /// An option of XLA for the plugin, such as `xla_backend_optimization_level=0`; repeatable.
    #[arg(long, value_name = "KEY=VALUE", value_parser = option)]
    pub(crate) xla_option: Vec<(String, OptionValue)>,
    /// The most seconds for one compilation or one execution of a plugin or a command. Etalon's own engines have no time limit:
    /// `--fuel` ends what does not terminate.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(crate) time_limit: Duration,
}

/// Parses `KEY=VALUE`; the value is an integer, a boolean, a float, or else a text.
fn option(text: &str) -> Result<(String, OptionValue), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    let value = value.parse().unwrap_or_else(|never| match never {});
    Ok((key.to_owned(), value))
}

/// Parses a time of more than 0 seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let time = time.filter(|time| !time.is_zero());
    time.ok_or_else(|| "expected a number of seconds, such as 10 or 0.5".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct ReduceArgs {
    /// The module, which may have its arguments as `// in:` comments; `-` for standard input.
    pub(crate) file: PathBuf,
    /// A shell command that says whether a candidate is interesting: exit code 0. It reads the module's text and the arguments
    /// `in0`, `in1`, ...
    #[arg(long, value_name = "CMD {hlo} [{in.npz}]")]
    #[arg(required_unless_present_any = ["backend", "backend_command"])]
    #[arg(conflicts_with_all = ["backend", "backend_command"])]
    pub(crate) command: Option<String>,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// The file of the result, a file test; FILE.reduced.hlo by default.
    #[arg(long, short, value_name = "F.hlo")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file of the result if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// Run each candidate up to N times, for differences that do not show in each run. `auto` measures how often the difference
    /// shows, and runs as often as it takes to miss one in a hundred.
    #[arg(long, value_name = "N|auto", default_value = "1", value_parser = repeat)]
    pub(crate) repeat: RepeatArg,
    /// The most seconds for all candidates.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) total_time_limit: Option<Duration>,
    /// The engine that the backend is compared with.
    #[arg(long, value_enum, default_value_t = EngineArg::Exact)]
    pub(crate) engine: EngineArg,
    /// The most steps of the engine for one candidate, which may have a loop without an end; by default four times the steps of
    /// the module.
    #[arg(long, value_name = "STEPS")]
    pub(crate) fuel: Option<u64>,
    /// Accept and keep unknown attributes.
    #[arg(long)]
    pub(crate) lenient: bool,
}

/// How often a candidate runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RepeatArg {
    /// This often.
    Times(u32),
    /// As often as a measured rate demands.
    Auto,
}

/// Parses `7` or `auto`.
fn repeat(text: &str) -> Result<RepeatArg, String> {
    match (text, text.parse()) {
        ("auto", _) => Ok(RepeatArg::Auto),
        (_, Ok(times)) if times > 0 => Ok(RepeatArg::Times(times)),
        _ => Err("expected a number or `auto`".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// An error number like E0301, or an opcode like reduce-window.
    pub(crate) what: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum EngineArg {
    /// One function per op, written as the specification states it; slow.
    Reference,
    /// Optimized kernels with the bits of `reference` wherever an op has one correct result.
    Exact,
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
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum StyleArg {
    /// The style of XLA's `to_string()`.
    Default,
    /// XLA's short parsable style, with all elements of constants.
    Short,
    /// The default style, with all elements of constants.
    Full,
    /// XLA's canonical style, for comparing modules.
    Canonical,
}

impl From<StyleArg> for hlo::text::Style {
    fn from(style: StyleArg) -> Self {
        match style {
            StyleArg::Default => Self::Default,
            StyleArg::Short => Self::Short,
            StyleArg::Full => Self::Full,
            StyleArg::Canonical => Self::Canonical,
        }
    }
}

/// Parses `512`, `64k`, `8M`, `2G`.
fn bytes(text: &str) -> Result<usize, String> {
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
