//! `etalon completions` and `etalon man`: made from the definition of the command line.
use crate::args::Cli;
use crate::error::{Failure, Result};
use crate::output;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::Path;
use std::process::ExitCode;

/// Prints the script that completes words of the command line in a shell.
pub(crate) fn completions(shell: Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "etalon", &mut script);
    output::bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page, with a section for each command.
pub(crate) fn page() -> Result<ExitCode> {
    let mut page = Vec::new();
    let mut command = Cli::command().flatten_help(true);
    command.build();
    let written = Man::new(command).render(&mut page);
    written.map_err(|e| Failure::file(Path::new("<stdout>"), &e))?;
    output::bytes(&page)?;
    Ok(ExitCode::SUCCESS)
}
