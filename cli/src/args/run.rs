//! The commands that run modules by themselves: `run`, `bench`, `test`.
use super::shared::{
    CompileArgs, CustomCallArgs, DeviceArgs, EngineArg, InputArgs, LimitArgs, LoadArgs, SpillArgs,
    TimeArgs, seconds,
};
use super::words::number;
use crate::roofline::Roofline;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// The heading of what shows a run from inside.
const INSIDE: &str = "Looking inside";

#[expect(clippy::struct_excessive_bools, reason = "each is an independent option")]
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Modules to run: files, folders, or patterns such as `'dumps/*.hlo'`; `-` for standard input.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Values for `infeed`: an .npz file with `infeed0`, `infeed1`, ... (tuples flattened), or `d<k>_infeed<i>` for device k.
    #[arg(long, value_name = "F.npz", help_heading = "Arguments of the module")]
    pub(crate) infeed: Option<PathBuf>,
    /// Write the result to an .npz or .safetensors file as `out0`, `out1`, ..., for several devices as `d<k>_out<i>`; an .npy file
    /// takes a single array. Values of `outfeed` are written as `outfeed0`, `outfeed1`, ... In a run on several ranks (docs/mpi.md) each rank writes the results of its devices:
    /// rank 0 to F.npz, rank 1 to F.rank1.npz, and so on.
    #[arg(long, short, value_name = "F.npz|F.npy|F.safetensors")]
    pub(crate) output: Option<PathBuf>,
    /// Name the arrays of the result after the instructions that compute them, in place of `out0`, `out1`, ...
    #[arg(long)]
    pub(crate) names: bool,
    /// In a run on several ranks, move all results to rank 0, which writes --output as a single process does.
    #[arg(long, help_heading = "Devices")]
    pub(crate) gather: bool,
    /// Print the result; the default without --output. Large arrays are elided. For several devices, equal results are printed
    /// once and small ones side by side; without this option, each device has one line, `device 0: ...`, in a pipe and on a terminal of unknown size.
    #[arg(long)]
    pub(crate) print: bool,
    /// Schedule devices and reduce their values in a random order, rounding after each addition. `many` runs the module in 16
    /// orders and reports the results that depend on the order; if there are any, the exit code is 1.
    #[arg(long, value_name = "SEED|many", value_parser = seed, help_heading = "Devices")]
    pub(crate) seed: Option<SeedArg>,
    /// Let a `send` keep its value until it is received, rather than wait for the `recv` of its receiver.
    #[arg(long, help_heading = "Devices")]
    pub(crate) buffered_sends: bool,
    /// Stop at the first instruction that computes a NaN or an infinity from finite operands; `all` goes on, and lists each with
    /// the number of times.
    #[arg(long, value_enum, value_name = "first|all", num_args = 0..=1, require_equals = true, default_missing_value = "first", help_heading = INSIDE)]
    pub(crate) check_nan: Option<CheckNanArg>,
    /// Write the value of each executed instruction to a folder of .npy files, which must be empty, or to an .npz file:
    /// `computation/name`, with `#k` for execution k of an instruction that runs several times. Not written are constants, values
    /// that are other ones renamed (`tuple`, `get-tuple-element`), and those that the engine does not compute.
    #[arg(long, value_name = "DIR|F.npz", help_heading = INSIDE)]
    pub(crate) dump_values: Option<PathBuf>,
    /// Write --dump-values to a folder that has files, and replace those of the same names.
    #[arg(long, requires = "dump_values", help_heading = INSIDE)]
    pub(crate) force: bool,
    /// Write only the values of instructions whose `computation/name` contains NAME.
    #[arg(long, value_name = "NAME", requires = "dump_values", help_heading = INSIDE)]
    pub(crate) filter: Option<String>,
    /// Print the time and the memory of each opcode and each instruction.
    #[arg(long, help_heading = INSIDE)]
    pub(crate) profile: bool,
    /// Print the share of the roofline in the profile: of the operations and bytes in a second that are stated, or that the engine
    /// `fast` reaches on this machine.
    #[arg(long, value_name = "GFLOPS:GBS", num_args = 0..=1, require_equals = true, value_parser = roofline, requires = "profile", help_heading = INSIDE)]
    #[expect(
        clippy::option_option,
        reason = "the form of clap for an option whose value may be left out"
    )]
    pub(crate) roofline: Option<Option<Roofline>>,
    /// Print the result as JSON, one line for each module; with --profile the profile, in place of the result.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a trace for Perfetto or Chrome: one event per instruction, one track per device.
    #[arg(long, value_name = "F.json", help_heading = INSIDE)]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) devices: DeviceArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) compile: CompileArgs,
    #[command(flatten)]
    pub(crate) custom_calls: CustomCallArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) spill: SpillArgs,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

/// Parses `GFLOPS:GBS`.
fn roofline(text: &str) -> Result<Roofline, String> {
    Roofline::parse(text).ok_or_else(|| "expected GFLOPS:GBS, such as 100:20".to_owned())
}

/// What is done at a NaN or an infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CheckNanArg {
    /// The run stops at the first.
    First,
    /// All are listed.
    All,
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

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Modules to measure: files, folders, or patterns such as `'dumps/*.hlo'`; `-` for standard input. Arguments that are not given
    /// are random, of seed 0.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Write the result to an .npz file as `out0`, `out1`, ..., for several devices as `d<k>_out<i>`.
    #[arg(long, short, value_name = "F.npz")]
    pub(crate) output: Option<PathBuf>,
    /// The number of measured runs after the first one.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = number::<u32>)]
    pub(crate) iterations: u32,
    /// Print seconds and bytes as JSON, a line for each module. `random_seed` is that of random arguments, `peak_bytes` is the sum of the peaks of all devices, arguments included, and `null` for an
    /// unpartitioned SPMD program.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) devices: DeviceArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) compile: CompileArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) spill: SpillArgs,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// File tests, modules with recorded results, programs of MLIR that check their own values (`check.expect_eq`, ...; docs/testing.md), or
    /// folders of them; `-` for file tests on standard input.
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The engine under test. By default file tests run in every engine, and recorded results are compared with `exact`.
    #[arg(long, value_enum)]
    pub(crate) engine: Option<EngineArg>,
    /// Print every case with its measured error and its bound.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Stop a case after this number of seconds, such as 0.5: it fails with E0412. A case may run in several engines.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) time_limit: Option<Duration>,
    /// Write the outcome of each case to a file, as a JSON list.
    #[arg(long, value_name = "F.json")]
    pub(crate) json: Option<PathBuf>,
}
