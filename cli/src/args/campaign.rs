//! The command line of `etalon campaign`.
use super::compare::{BACKENDS, BackendArgs, SuiteArg, minutes, needed};
use super::words::{folder, number, seed};
use clap::Args;
use conformance::results::Shard;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(group = needed("task", BACKENDS, &["list", "merge"]))]
#[command(override_usage = "\
    etalon campaign [OPTIONS] --backend <BACKEND> <FOLDER>
       etalon campaign <FOLDER> --list
       etalon campaign <FOLDER> --merge <SHARDS>...")]
pub(crate) struct CampaignArgs {
    /// The folder of the campaign: empty, or with a campaign of the same backend and options, which goes on. Under `mpirun` the ranks
    /// share the cases.
    #[arg(value_parser = folder())]
    pub(crate) folder: PathBuf,
    /// The time of a round; 60 minutes if there is no --count either. What is left of a round that was killed is that of the next
    /// process.
    #[arg(long, value_name = "M", conflicts_with = "count", value_parser = minutes)]
    pub(crate) minutes: Option<Duration>,
    /// End a round after the suite and N random modules, in place of a time.
    #[arg(long, value_name = "N", value_parser = number::<u64>)]
    pub(crate) count: Option<u64>,
    /// The cases of the suite, besides one for each op and element type.
    #[arg(long, value_enum, value_name = "probes|smoke|full", default_value = "smoke")]
    pub(crate) suite: SuiteArg,
    /// The seed of the first random module; each further module has the next seed.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    pub(crate) seed: u64,
    /// Compare one random module in N with its twin on the same backend, as `fuzz --metamorphic` does, in place of the engine: 8 by
    /// default, 1 for all, 0 for none.
    #[arg(long, value_name = "N", value_parser = number::<u32>)]
    pub(crate) twins: Option<u32>,
    /// Run part I of N of the cases and modules, in a folder of its own.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Known findings, which do not count for the exit code: lines `VERDICT PATTERN | CAUSE`, of which `*` stands for anything, and the
    /// pattern for names of cases, or the id or the title of a cause.
    #[arg(long, value_name = "FILE")]
    pub(crate) known: Option<PathBuf>,
    /// Put all shards of a campaign together, in a new or empty folder, and run nothing.
    #[arg(long, value_name = "SHARDS", num_args = 1.., conflicts_with_all = ["list", "case", "shard"])]
    #[arg(conflicts_with_all = BACKENDS)]
    pub(crate) merge: Vec<PathBuf>,
    /// List the causes that were found, or with --case the cases, and run nothing.
    #[arg(long)]
    pub(crate) list: bool,
    /// Run the cases of these names again, without the log: `dot/f32/*`, `fuzz/4711/special`, `twin/4711/special`, `cause/ID`. With --list, list them.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) case: Option<String>,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
}
