//! The commands that run modules by themselves: `run`, `bench`, `test`.
use super::shared::{
    CompileArgs, CustomCallArgs, DeviceArgs, EngineArg, InputArgs, LimitArgs, TimeArgs, seconds,
};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

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
    /// Print seconds and bytes as JSON. `peak_bytes` is the sum of the peaks of all devices, arguments included, and `null` for an
    /// unpartitioned SPMD program.
    #[arg(long)]
    pub(crate) json: bool,
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
    /// Stop a case after this number of seconds, such as 0.5: it fails with E0412. A case may run in several engines.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) time_limit: Option<Duration>,
    /// Write the outcome of each case to a file, as a JSON list.
    #[arg(long, value_name = "F.json")]
    pub(crate) json: Option<PathBuf>,
}
