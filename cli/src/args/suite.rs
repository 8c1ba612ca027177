//! The command line of `etalon suite`.
use super::compare::{JudgementArgs, SuiteArg};
use clap::{Args, Subcommand};
use conformance::results::Shard;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct SuiteArgs {
    #[command(subcommand)]
    pub(crate) command: SuiteCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    /// Write the cases to a folder for a backend that needs neither Rust nor PJRT: modules in each format, arguments, the legal
    /// results, and a checker in Python.
    #[command(after_help = super::examples::SUITE)]
    Export(ExportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The folder: a new or an empty one.
    #[arg(value_parser = super::words::folder())]
    pub(crate) folder: PathBuf,
    /// The cases: all, those that take about a minute together, or one for each op and element type.
    #[arg(long, value_enum, value_name = "probes|smoke|full", default_value = "smoke")]
    pub(crate) suite: SuiteArg,
    /// Only the cases of the suite whose names match; `*` stands for any characters: `dot/f32/*`.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) case: Option<String>,
    /// Only part I of N of the cases, chosen by their names.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    #[command(flatten)]
    pub(crate) judgement: JudgementArgs,
}
