//! The command `etalon`, as a function: the binary of this package calls it, and the Python package.
mod args;
mod bug;
mod command;
mod dump;
mod error;
mod explanations;
mod file;
mod files;
mod host;
mod inputs;
mod interrupt;
mod interval;
mod json;
mod limits;
mod memory;
mod not_finite;
mod output;
mod profile;
mod progress;
mod queues;
mod random;
mod ranks;
mod result_file;
mod results;
mod roofline;
mod streams;
mod trace;

use args::{Cli, Command};
use clap::FromArgMatches as _;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command with its arguments, which come after its name, and returns its exit code.
///
/// `host` is the command line that starts it as a process of its own, such as that of a PJRT plugin: the arguments come after it.
/// Call it once in a process, on its first thread: it sets the panic hook, and the thread becomes one of the pool that computes.
pub fn run(arguments: Vec<OsString>, host: Vec<OsString>) -> u8 {
    memory::return_freed_blocks();
    bug::report_panics();
    if let Some(size) = streams::small_stack() {
        // What draws errors takes more.
        output::note(&format!(
            "error: a stack of {size} KiB is too small; `ulimit -s 1024` allows enough\n"
        ));
        return error::Exit::Misuse.number();
    }
    streams::report_large_files();
    host::set(host);
    let _pool = share_main_thread();
    // The panic hook has shown the message; the exit code says that it is our bug.
    let ended = std::panic::catch_unwind(|| execute(arguments));
    ended.map_or(error::Exit::Bug.number(), number)
}

/// Returns what `etalon explain` says of an error number, an opcode, the label of a rule or a mode.
///
/// # Errors
/// Says what could have been meant if it is none of them.
pub fn explain(what: &str) -> Result<String, String> {
    command::explain::text(Some(what.trim())).map_err(|failure| {
        let lines = failure.diagnostics.into_iter();
        let parts = lines.flat_map(|line| [Some(line.message), line.help]).flatten();
        parts.collect::<Vec<_>>().join("; ")
    })
}

/// Returns the number of an exit code, which the standard library does not tell.
fn number(code: ExitCode) -> u8 {
    (0..u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(u8::MAX)
}

/// Makes this thread a member of the pool that computes: beside as many others as there are processors, the system may run two of
/// them on one processor while another is idle.
///
/// If the system refuses the threads, the result is a pool of this thread alone, which is in use until it is dropped.
fn share_main_thread() -> Option<ThreadPool> {
    let pool = || ThreadPoolBuilder::new().use_current_thread();
    match pool().build_global() {
        Ok(()) => None,
        Err(_) => pool().num_threads(1).build().ok(),
    }
}

/// Parses the command line. For help and the version, which are shown, it returns the exit code.
fn parsed(arguments: Vec<OsString>) -> Result<Cli, ExitCode> {
    let words = std::iter::once(OsString::from("etalon")).chain(arguments);
    let mut command = args::command();
    let found = command.try_get_matches_from_mut(words);
    let cli = found.and_then(|found| Cli::from_arg_matches(&found));
    cli.map_err(|error| error.format(&mut command)).map_err(|error| {
        if error.use_stderr() {
            error.exit();
        }
        let written = output::written(error.print());
        written.map_or_else(|failure| ended_by(&failure), |()| ExitCode::SUCCESS)
    })
}

fn ended_by(failure: &error::Failure) -> ExitCode {
    output::show(failure);
    failure.exit.code()
}

fn execute(arguments: Vec<OsString>) -> ExitCode {
    let cli = match parsed(arguments) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let (is_quiet, is_verbose) = (cli.quiet, cli.verbose);
    output::set_up(output::Wanted { color: cli.color, is_quiet, is_verbose });
    let result = match cli.command {
        Command::Run(args) => command::run::run(&args),
        Command::Check(args) => command::check::check(&args),
        Command::Print(args) => command::print::print(&args),
        Command::Convert(args) => command::convert::convert(&args),
        Command::Test(args) => command::test::test(&args),
        Command::Bench(args) => command::bench::bench(&args),
        Command::Cost(args) => command::cost::cost(&args),
        Command::Diff(args) => command::diff::diff(&args),
        Command::Equal(args) => command::equal::equal(&args),
        Command::Plan(args) => command::plan::plan(&args),
        Command::Graph(args) => command::graph::draw(&args),
        Command::Conform(args) if args.spmd.is_empty() => command::backend::conform(&args),
        Command::Conform(args) => command::conform::conform(&args),
        Command::Blame(args) => command::blame::run(&args),
        Command::Passes(args) => command::passes::run(&args),
        Command::Fuzz(args) => command::fuzz::fuzz(&args),
        Command::Campaign(args) => command::campaign::start(&args),
        Command::Suite(args) => command::suite::start(&args),
        Command::PjrtHost => command::backend::host(),
        Command::CustomCallHost => command::custom_calls::host(),
        Command::Reduce(args) => command::reduce::run(&args),
        Command::Explain(args) => command::explain::explain(&args),
        Command::Completions { shell } => command::manual::completions(shell),
        Command::Man(args) => command::manual::page(&args),
    };
    result.unwrap_or_else(|failure| ended_by(&failure))
}
