//! The command line: commands, options and their help.
mod campaign;
mod compare;
mod diff;
mod equal;
mod graph;
mod run;
mod shared;

pub(crate) use campaign::CampaignArgs;
pub(crate) use compare::{
    BackendArgs, BlameArgs, ConformArgs, FuzzArgs, PassesArgs, ReduceArgs, RepeatArg, SuiteArg,
    quoted,
};
pub(crate) use diff::DiffArgs;
pub(crate) use equal::EqualArgs;
pub(crate) use graph::{FormatArg, GraphArgs};
pub(crate) use run::{BenchArgs, CheckNanArg, RunArgs, SeedArg, TestArgs};
pub(crate) use shared::{
    CustomCallArgs, DeviceArgs, EngineArg, InputArgs, LoadArgs, RangeArg, TimeArgs,
};

use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A reference backend for XLA's HLO: parse, check, run and compare .hlo files.
///
/// A file that an option names as output is replaced, when the whole new one is written; `-` is standard output. Other files that
/// exist are replaced only with --force, inputs never.
///
/// Exit codes: 0 success, 1 the module is wrong or a result differs, 2 wrong usage, 3 unsupported, 4 a bug in Etalon.
#[derive(Debug, Parser)]
#[command(name = "etalon", version = concat!(env!("CARGO_PKG_VERSION"), env!("ETALON_COMMIT")))]
pub(crate) struct Cli {
    /// When to color errors: `auto` colors them on a terminal, unless `NO_COLOR` is set.
    #[arg(long, global = true, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub(crate) color: ColorChoice,
    /// Show no warnings and no progress.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print each phase of the work to stderr, with its time.
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
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
    /// Compare two files of arrays, such as the results of two runs.
    Diff(DiffArgs),
    /// Tell whether two modules are the same function of every float argument, in exact arithmetic.
    Equal(EqualArgs),
    /// Print the plan of a compiled module: its steps, and the memory that each one takes and frees.
    Plan(PlanArgs),
    /// Print the operations, the bytes and the memory of a module, by instruction and in all.
    Cost(CostArgs),
    /// Draw the dataflow of a module, or the communication between its devices.
    Graph(GraphArgs),
    /// Compare a backend with Etalon, or a partitioned module with its unpartitioned SPMD program.
    Conform(ConformArgs),
    /// Find the instructions that a backend computes wrong, or where a pass changes the result.
    Blame(BlameArgs),
    /// Find the compiler pass that changes the meaning of a module, from a dump of its states.
    Passes(PassesArgs),
    /// Run random modules on a backend and on Etalon, and save those whose results differ.
    Fuzz(FuzzArgs),
    /// Run the suite and random modules on a backend for a time, again each night, and group what is wrong by cause.
    Campaign(CampaignArgs),
    /// Run a PJRT plugin for a parent process.
    #[command(hide = true)]
    PjrtHost,
    /// Run a library of custom calls for a parent process.
    #[command(hide = true)]
    CustomCallHost,
    /// Find the smallest module that still shows a difference.
    Reduce(ReduceArgs),
    /// Explain an error number, an opcode, or the label of a rule; list them.
    Explain(ExplainArgs),
    /// Print a script that completes commands and options in a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The module to compile; `-` for standard input.
    pub(crate) file: PathBuf,
    /// The engine that the module is compiled for.
    #[arg(long, value_enum, default_value_t = EngineArg::Exact)]
    pub(crate) engine: EngineArg,
    /// Fill constants that the text elides, `constant({...})`, with random values, as --random draws them.
    #[arg(long, value_name = "SEED")]
    pub(crate) elided: Option<u64>,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    /// The modules: files, folders, or patterns such as `'dumps/*.hlo'`; `-` for standard input.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The engine whose plan states the memory.
    #[arg(long, value_enum, default_value_t = EngineArg::Exact)]
    pub(crate) engine: EngineArg,
    /// List all instructions, not only the largest.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON, one line for each module.
    #[arg(long)]
    pub(crate) json: bool,
    /// Fill constants that the text elides, `constant({...})`, with random values, as --random draws them.
    #[arg(long, value_name = "SEED")]
    pub(crate) elided: Option<u64>,
    #[command(flatten)]
    pub(crate) devices: DeviceArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Modules to check: files, folders, or patterns such as `'dumps/*.hlo'`; `-` for standard input.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print errors as JSON, one object a line, in the shape of `rustc --error-format=json`.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PrintArgs {
    /// Modules to print: files, folders, or patterns such as `'dumps/*.hlo'`; `-` for standard input. Several are separated by
    /// `// -----`, with their names in comments.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The style of the text.
    #[arg(long, value_enum, default_value_t = StyleArg::Default)]
    pub(crate) style: StyleArg,
    #[command(flatten)]
    pub(crate) stablehlo: StableHloArgs,
    /// Replace each file by the printed text.
    #[arg(long)]
    pub(crate) in_place: bool,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The module: HLO text, a message of XLA, or a StableHLO program; `-` for standard input.
    pub(crate) from: PathBuf,
    /// The file to write: a message if its name ends with `.pb`, HLO text if it ends with `.hlo` or `.txt`, StableHLO text if it
    /// ends with `.mlir`, portable bytecode of StableHLO if it ends with `.mlirbc`; `-` writes HLO text to standard output.
    pub(crate) to: PathBuf,
    #[command(flatten)]
    pub(crate) stablehlo: StableHloArgs,
    /// The version of StableHLO whose readers must take the portable bytecode, such as `1.9.0`: by default the first, from 1.0.0
    /// on, that has all that the program uses.
    #[arg(long, value_name = "VERSION")]
    pub(crate) target: Option<stablehlo::Version>,
    /// Replace the file to write if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

/// How StableHLO is written.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct StableHloArgs {
    /// What becomes of functions that StableHLO lacks, such as `erf`. Portable bytecode has no ops of CHLO: they are always expanded.
    #[arg(long, value_enum, default_value_t = ChloArg::Keep)]
    pub(crate) chlo: ChloArg,
    /// Write each op of StableHLO in the generic form, which every reader knows.
    #[arg(long)]
    pub(crate) generic: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ChloArg {
    /// Ops of CHLO: `chlo.erf`.
    Keep,
    /// Ops of StableHLO that compute the same.
    Expand,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// An error number such as E0301, an opcode such as reduce-window, or the label of a rule such as `slice_c3`. Without it the
    /// numbers are listed; `opcodes` and `labels` list the others.
    pub(crate) what: Option<String>,
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
    /// A StableHLO program.
    Stablehlo,
}

impl StyleArg {
    /// Returns the style of HLO text; none for a StableHLO program.
    pub(crate) fn of_hlo(self) -> Option<hlo::text::Style> {
        use hlo::text::Style;
        match self {
            Self::Default => Some(Style::Default),
            Self::Short => Some(Style::Short),
            Self::Full => Some(Style::Full),
            Self::Canonical => Some(Style::Canonical),
            Self::Stablehlo => None,
        }
    }
}
