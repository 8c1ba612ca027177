//! The command line: commands, options and their help.
mod compare;
mod run;
mod shared;

pub(crate) use compare::{
    BackendArgs, BlameArgs, ConformArgs, FuzzArgs, ReduceArgs, RepeatArg, SuiteArg,
};
pub(crate) use run::{BenchArgs, RunArgs, SeedArg, TestArgs};
pub(crate) use shared::{CustomCallArgs, DeviceArgs, EngineArg, InputArgs};

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

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
pub(crate) struct ExplainArgs {
    /// An error number like E0301, or an opcode like reduce-window.
    pub(crate) what: String,
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
