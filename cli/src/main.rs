//! The command `etalon`.
mod args;
mod bug;
mod command;
mod error;
mod file;
mod graph;
mod inputs;
mod memory;
mod output;
mod peers;
mod profile;
mod queues;
mod random;
mod results;
mod trace;

use args::{Cli, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    memory::return_freed_blocks();
    bug::report_panics();
    // The panic hook has shown the message; the exit code says that it is our bug.
    std::panic::catch_unwind(run).unwrap_or_else(|_| error::Exit::Bug.code())
}

fn run() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Run(args) => command::run::run(&args),
        Command::Check(args) => command::check::check(&args),
        Command::Print(args) => command::print::print(&args),
        Command::Convert(args) => command::convert::convert(&args),
        Command::Test(args) => command::test::test(&args),
        Command::Bench(args) => command::bench::bench(&args),
        Command::Plan(args) => command::plan::plan(&args),
        Command::Graph(args) => command::graph::draw(&args),
        Command::Conform(args) if args.spmd.is_empty() => command::backend::conform(&args),
        Command::Conform(args) => command::conform::conform(&args),
        Command::Blame(args) => command::blame::run(&args),
        Command::Fuzz(args) => command::fuzz::fuzz(&args),
        Command::PjrtHost => command::backend::host(),
        Command::CustomCallHost => command::custom_calls::host(),
        Command::Reduce(args) => command::reduce::run(&args),
        Command::Explain(args) => command::explain::explain(&args),
    };
    result.unwrap_or_else(|failure| {
        output::show(&failure);
        failure.exit.code()
    })
}
