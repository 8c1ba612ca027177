//! The command line: commands, options and their help.
mod campaign;
mod compare;
mod diff;
mod equal;
mod examples;
mod graph;
mod run;
mod shared;
mod suite;
mod words;

pub(crate) use campaign::CampaignArgs;
pub(crate) use compare::{
    BackendArgs, BlameArgs, ConformArgs, FuzzArgs, PassesArgs, ReduceArgs, RepeatArg, SuiteArg,
    Twins,
};
pub(crate) use diff::DiffArgs;
pub(crate) use equal::EqualArgs;
pub(crate) use graph::{FormatArg, GraphArgs};
pub(crate) use run::{BenchArgs, CheckNanArg, RunArgs, SeedArg, TestArgs};
pub(crate) use shared::{
    CustomCallArgs, DeviceArgs, EngineArg, InputArgs, LoadArgs, RangeArg, TimeArgs,
};
pub(crate) use suite::{ExportArgs, SuiteArgs, SuiteCommand};

use clap::{Args, ColorChoice, CommandFactory, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use words::{Known, seed};

/// Returns the definition of the command line.
pub(crate) fn command() -> clap::Command {
    /// A number below 0 is a value of an option, which may refuse it, and not another option.
    fn with_negative_numbers(command: clap::Command) -> clap::Command {
        let allowing = |arg: clap::Arg| {
            let is_option = arg.get_long().is_some() && arg.get_action().takes_values();
            if is_option { arg.allow_negative_numbers(true) } else { arg }
        };
        command.mut_args(allowing).mut_subcommands(with_negative_numbers)
    }
    with_negative_numbers(Cli::command())
}

/// The version, and the commit that the command is built from.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("ETALON_COMMIT"));

/// The heading of the options that all commands have.
const EVERYWHERE: &str = "Options of all commands";

/// A reference backend for XLA's HLO: parse, check, run and compare .hlo files.
///
/// A file that an option names as output is replaced, when the whole new one is written; `-` is standard output. Other files that
/// exist are replaced only with --force, inputs never.
///
/// Exit codes: 0 success, 1 the module is wrong or a result differs, 2 wrong usage, 3 unsupported, 4 a bug in Etalon.
#[derive(Debug, Parser)]
#[command(name = "etalon", after_help = examples::ALL, version = VERSION)]
pub(crate) struct Cli {
    /// When to color errors: `auto` colors them on a terminal, unless `NO_COLOR` is set.
    #[arg(long, global = true, value_name = "WHEN", default_value_t = ColorChoice::Auto, help_heading = EVERYWHERE)]
    pub(crate) color: ColorChoice,
    /// Show no warnings and no progress.
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = EVERYWHERE)]
    pub(crate) quiet: bool,
    /// Print each phase of the work to stderr, with its time.
    #[arg(short, long, global = true, help_heading = EVERYWHERE)]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run modules.
    #[command(after_help = examples::RUN)]
    Run(RunArgs),
    /// Parse and verify modules; report every error with its line.
    #[command(after_help = examples::CHECK)]
    Check(CheckArgs),
    /// Print a module as HLO text.
    #[command(after_help = examples::PRINT)]
    Print(PrintArgs),
    /// Convert a module between HLO text, messages of XLA, StableHLO text and its portable bytecode.
    #[command(after_help = examples::CONVERT)]
    Convert(ConvertArgs),
    /// Run file tests and suites of recorded results.
    #[command(after_help = examples::TEST)]
    Test(TestArgs),
    /// Measure the time to load and to run a module.
    #[command(after_help = examples::BENCH)]
    Bench(BenchArgs),
    /// Compare two files of arrays, such as the results of two runs.
    #[command(after_help = examples::DIFF)]
    Diff(DiffArgs),
    /// Tell whether two modules are the same function of every float argument, in exact arithmetic.
    #[command(after_help = examples::EQUAL)]
    Equal(EqualArgs),
    /// Print the plan of a compiled module: its steps, and the memory that each one takes and frees.
    #[command(after_help = examples::PLAN)]
    Plan(PlanArgs),
    /// Print the operations, the bytes and the memory of a module, by instruction and in all.
    #[command(after_help = examples::COST)]
    Cost(CostArgs),
    /// Draw the dataflow of a module, or the communication between its devices.
    #[command(after_help = examples::GRAPH)]
    Graph(GraphArgs),
    /// Compare a backend with Etalon, or a partitioned module with its unpartitioned SPMD program.
    #[command(after_help = examples::CONFORM)]
    Conform(ConformArgs),
    /// Find the instructions that a backend computes wrong, or where a pass changes the result.
    #[command(after_help = examples::BLAME)]
    Blame(BlameArgs),
    /// Find the compiler pass that changes the meaning of a module, from a dump of its states.
    #[command(after_help = examples::PASSES)]
    Passes(PassesArgs),
    /// Run random modules on a backend and on Etalon, and save those whose results differ.
    #[command(after_help = examples::FUZZ)]
    Fuzz(FuzzArgs),
    /// Run the suite and random modules on a backend for a time, again each night, and group what is wrong by cause.
    #[command(after_help = examples::CAMPAIGN)]
    Campaign(CampaignArgs),
    /// Write Etalon's suite of small cases as files.
    #[command(after_help = examples::SUITE)]
    Suite(SuiteArgs),
    /// Run a PJRT plugin for a parent process.
    #[command(hide = true)]
    PjrtHost,
    /// Run a library of custom calls for a parent process.
    #[command(hide = true)]
    CustomCallHost,
    /// Find the smallest module that still shows a difference.
    #[command(after_help = examples::REDUCE)]
    Reduce(ReduceArgs),
    /// Explain an error number, an opcode, or the label of a rule; list them.
    #[command(after_help = examples::EXPLAIN)]
    Explain(ExplainArgs),
    /// Print a script that completes commands and options in a shell.
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page of all commands or of one, or write them all to a folder.
    #[command(after_help = examples::MAN)]
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command whose page is printed; without it, the page of all commands.
    #[arg(value_parser = Known::of(words::text, words::commands), hide_possible_values = true)]
    pub(crate) command: Option<String>,
    /// Write the pages to a folder: `etalon.1`, `etalon-run.1`, ...
    #[arg(long, short, value_name = "DIR", conflicts_with = "command", value_parser = words::folder())]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The module to compile; `-` for standard input.
    pub(crate) file: PathBuf,
    /// The engine that the module is compiled for.
    #[arg(long, value_enum, default_value_t = EngineArg::Exact)]
    pub(crate) engine: EngineArg,
    /// Print JSON: each computation with its steps.
    #[arg(long)]
    pub(crate) json: bool,
    /// Fill constants that the text elides, `constant({...})`, with random values, as --random draws them.
    #[arg(long, value_name = "SEED", value_parser = seed)]
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
    /// Add up by instruction, by opcode, or by scope: the parts of the names that a framework gives (`op_name`), each with all
    /// that is in it.
    #[arg(long, value_enum, value_name = "instruction|opcode|scope", default_value_t = ByArg::Instruction, hide_possible_values = true)]
    pub(crate) by: ByArg,
    /// List all rows, not only the largest.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON, one line for each module.
    #[arg(long)]
    pub(crate) json: bool,
    /// Fill constants that the text elides, `constant({...})`, with random values, as --random draws them.
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub(crate) elided: Option<u64>,
    #[command(flatten)]
    pub(crate) devices: DeviceArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

/// What has a row in the table of costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ByArg {
    Instruction,
    Opcode,
    Scope,
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
    /// Replace each file by the printed text.
    #[arg(long)]
    pub(crate) in_place: bool,
    #[command(flatten)]
    pub(crate) stablehlo: StableHloArgs,
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
    /// The version of StableHLO whose readers must take the portable bytecode, such as `1.9.0`: by default the first, from 1.0.0
    /// on, that has all that the program uses.
    #[arg(long, value_name = "VERSION")]
    pub(crate) target: Option<stablehlo::Version>,
    /// Replace the file to write if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) stablehlo: StableHloArgs,
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
    /// An error number such as E0301, an opcode such as reduce-window, its name in StableHLO or in XLA's builder such as
    /// `dot_general` or `ConvGeneralDilated`, or the label of a rule such as `slice_c3`. Without it the numbers are listed;
    /// `opcodes` and `labels` list the others.
    #[arg(value_parser = Known::of(words::text, words::explained), hide_possible_values = true)]
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
