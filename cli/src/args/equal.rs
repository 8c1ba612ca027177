//! The arguments of `equal`.
use super::shared::{LimitArgs, LoadArgs, seconds};
use super::words::{positive, seed};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct EqualArgs {
    /// The first module; `-` for standard input.
    pub(crate) first: PathBuf,
    /// The module to compare with it: of the same parameters and results. Without it, the first file
    /// has several modules, and its first one is compared with its second, or with that of --module.
    pub(crate) second: Option<PathBuf>,
    /// The first seed of arguments and oracles.
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = seed)]
    pub(crate) seed: u64,
    /// How often arguments are drawn. Each draw makes it less probable that a difference is missed.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = positive)]
    pub(crate) seeds: u32,
    /// Fill constants that the text elides, `constant({...})`, with random values, as --random draws them.
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub(crate) elided: Option<u64>,
    /// Compare also what both modules compute by the same instructions, which is an argument of both
    /// otherwise.
    #[arg(long)]
    pub(crate) whole: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The seconds after which no further run begins: the answer rests on those before, and says so.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    pub(crate) draw_time: Duration,
    /// The most seconds for all runs: an error if they are over.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) time_limit: Option<Duration>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}
