//! What can be said on the command line.
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A reference backend for XLA's HLO: parse, check, run and compare .hlo files.
///
/// Exit codes: 0 fine, 1 the module is wrong or a result differs, 2 misuse, 3 unsupported, 4 a bug of Etalon.
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
    /// Parse and verify modules; shows every error with its place.
    Check(CheckArgs),
    /// Print a module as HLO text.
    Print(PrintArgs),
    /// Run file tests and suites of recorded results.
    Test(TestArgs),
    /// Measure how long a module takes to load and to run.
    Bench(BenchArgs),
    /// Draw who talks to whom.
    Graph(GraphArgs),
    /// Compare a partitioned module with the program it was made of.
    Conform(ConformArgs),
    /// Explain an error number or an opcode.
    Explain(ExplainArgs),
}

#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Modules to run; `-` for standard input.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) devices: DeviceArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// What `infeed` takes: an .npz file with `infeed0`, `infeed1`, ... (tuples flattened), or `d<k>_infeed<i>` of device k.
    #[arg(long, value_name = "F.npz")]
    pub(crate) infeed: Option<PathBuf>,
    /// Write the result to an .npz file, as `out0`, `out1`, ...; of several devices as `d<k>_out<i>`. What `outfeed` gave is
    /// written as `outfeed0`, `outfeed1`, ...
    #[arg(long, value_name = "F.npz")]
    pub(crate) output: Option<PathBuf>,
    /// Which engine runs the module.
    #[arg(long, value_enum, default_value_t = EngineArg::Exact)]
    pub(crate) engine: EngineArg,
    /// Run custom calls with the C functions of a shared library; may be given several times.
    #[arg(long, value_name = "LIBRARY")]
    pub(crate) custom_call_library: Vec<PathBuf>,
    /// Show the result, elided in the middle; the default without --output. Of several devices equal results are shown once, and
    /// small ones side by side; without this option, and not on a terminal, each device has a line: `device 0: ...`.
    #[arg(long)]
    pub(crate) print: bool,
    /// Take devices, and the values they fold, in another order, and round each sum. `many` runs the module in 16 orders and tells
    /// which results depend on the order; if any does, the exit code is 1.
    #[arg(long, value_name = "SEED|many", value_parser = seed)]
    pub(crate) seed: Option<SeedArg>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Stop at the first instruction that makes a NaN or an infinity out of finite operands.
    #[arg(long)]
    pub(crate) check_nan: bool,
    /// Show where the time and the memory went, by opcode and by instruction.
    #[arg(long)]
    pub(crate) profile: bool,
    /// Write one event an instruction, in the format Perfetto and Chrome read; each device has a track.
    #[arg(long, value_name = "F.json")]
    pub(crate) trace: Option<PathBuf>,
    /// Keep unknown attributes instead of refusing them.
    #[arg(long)]
    pub(crate) lenient: bool,
}

/// How many devices there are.
#[derive(Debug, Args)]
pub(crate) struct DeviceArgs {
    /// Run as many copies of the program, whatever the module's header states.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) replicas: Option<u32>,
    /// Run as many partitions of each replica, whatever the module's header states.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) partitions: Option<u32>,
}

/// An order of devices and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SeedArg {
    /// The order that is drawn from this number.
    One(u64),
    /// Several, to see what depends on the order.
    Many,
}

/// Reads `7` or `many`.
fn seed(text: &str) -> Result<SeedArg, String> {
    match text {
        "many" => Ok(SeedArg::Many),
        number => number.parse().map(SeedArg::One).map_err(|_| "a number, or `many`".to_owned()),
    }
}

impl DeviceArgs {
    /// Puts the numbers that are given in place of those in the header.
    pub(crate) fn apply(&self, module: &mut hlo::Module) {
        let config = &mut module.config;
        config.replica_count = self.replicas.map_or(config.replica_count, i64::from);
        config.num_partitions = self.partitions.map_or(config.num_partitions, i64::from);
    }
}

/// Where arguments come from.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// Arguments: an .npz file with `in0`, `in1`, ..., or `N=FILE.npy` for one of them. All devices get the same; `d<k>_in<i>`
    /// and `dK:N=FILE.npy` are of device k = replica * partitions + partition.
    #[arg(long, value_name = "F.npz|N=F.npy")]
    pub(crate) input: Vec<String>,
    /// Draw the arguments: floats from -1 to 1, whole numbers from 0 to 3. Each device draws its own, except for parameters
    /// that the module calls the same everywhere (`parameter_replication={true}`, `sharding={replicated}`).
    #[arg(long, value_name = "SEED", conflicts_with = "input")]
    pub(crate) random: Option<u64>,
}

/// What a run may use.
#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    /// Stop after this many steps, of each device.
    #[arg(long, value_name = "STEPS")]
    pub(crate) fuel: Option<u64>,
    /// Refuse to hold more than this many bytes of values on a device; k, M, G may follow.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) max_memory: Option<usize>,
}

impl LimitArgs {
    /// As options of the interpreter.
    pub(crate) fn options(&self) -> interp::Options {
        let mut options = interp::Options::default();
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
    /// Write the result to an .npz file, as `out0`, `out1`, ...; of several devices as `d<k>_out<i>`.
    #[arg(long, value_name = "F.npz")]
    pub(crate) output: Option<PathBuf>,
    /// How often the module is run after the first time.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) iterations: u32,
    /// Which engine runs the module.
    #[arg(long, value_enum, default_value_t = EngineArg::Exact)]
    pub(crate) engine: EngineArg,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Print seconds and bytes as JSON. The bytes of several devices are not measured: `null`.
    #[arg(long)]
    pub(crate) json: bool,
    /// Keep unknown attributes instead of refusing them.
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Modules to check; `-` for standard input.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Keep unknown attributes instead of refusing them.
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PrintArgs {
    /// The module; `-` for standard input.
    pub(crate) file: PathBuf,
    /// How it is printed.
    #[arg(long, value_enum, default_value_t = StyleArg::Default)]
    pub(crate) style: StyleArg,
    /// Overwrite the file with the text.
    #[arg(long)]
    pub(crate) in_place: bool,
    /// Keep unknown attributes instead of refusing them.
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// File tests, modules with recorded results, or folders of them.
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Which engine is tested.
    #[arg(long, value_enum, default_value_t = EngineArg::Exact)]
    pub(crate) engine: EngineArg,
    /// Show every case with its measured error and its bound.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Write what became of each case to a file, as a JSON list.
    #[arg(long, value_name = "F.json")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    /// The module; `-` for standard input.
    pub(crate) file: PathBuf,
    /// Draw the devices and the ops that join them: groups, and who sends to whom.
    #[arg(long = "devices")]
    pub(crate) of_devices: bool,
    /// The file that is written: .svg is a picture, .dot is text for graphviz.
    #[arg(long, short, value_name = "F.svg|F.dot")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) devices: DeviceArgs,
    /// Keep unknown attributes instead of refusing them.
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConformArgs {
    /// A program over global arrays, and the module each device runs once it is partitioned.
    #[arg(long, num_args = 2, value_names = ["GLOBAL", "PARTITIONED"], required = true)]
    pub(crate) spmd: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Keep unknown attributes instead of refusing them.
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// An error number like E0301, or an opcode like reduce-window.
    pub(crate) what: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum EngineArg {
    /// The specification itself, one page per op: slow and plain.
    Reference,
    /// The optimized kernels, checked against it.
    Exact,
}

impl From<EngineArg> for conformance::Engine {
    fn from(engine: EngineArg) -> Self {
        match engine {
            EngineArg::Reference => Self::Reference,
            EngineArg::Exact => Self::Exact,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum StyleArg {
    /// As XLA's `to_string()`.
    Default,
    /// As XLA's short parsable form, constants in full.
    Short,
    /// As XLA's canonical form, for comparing.
    Canonical,
}

impl From<StyleArg> for hlo::Style {
    fn from(style: StyleArg) -> Self {
        match style {
            StyleArg::Default => Self::Default,
            StyleArg::Short => Self::Short,
            StyleArg::Canonical => Self::Canonical,
        }
    }
}

/// Reads `512`, `64k`, `8M`, `2G`.
fn bytes(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'M')) => (&text[..at], 1 << 20),
        Some((at, 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let number: usize = digits.parse().map_err(|_| "a number, and k, M or G".to_owned())?;
    number.checked_mul(unit).ok_or_else(|| "too large".to_owned())
}
