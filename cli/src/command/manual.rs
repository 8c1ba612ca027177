//! `etalon completions` and `etalon man`: made from the definition of the command line.
use crate::args::{self, ManArgs};
use crate::error::{Failure, Result};
use crate::{file, output};
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::Path;
use std::process::ExitCode;

/// Prints the script that completes words of the command line in a shell.
pub(crate) fn completions(shell: Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "etalon", &mut script);
    output::bytes(with_files(&String::from_utf8_lossy(&script)).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Adds files to the names of backends, of which a plugin is one. In bash they are completed where no name fits.
fn with_files(script: &str) -> String {
    const NAMES: &str = "(reference exact fast planted\\: variant\\:)";
    let zsh = format!(
        "#compdef etalon\n\n_etalon_backends() {{\n    _alternative 'names:name:{NAMES}' 'plugins:plugin:_files'\n}}\n"
    );
    let script = script.replace(&format!(":{NAMES}'"), ":_etalon_backends'");
    let script = script.replacen("#compdef etalon\n", &zsh, 1);
    script.replace(
        "-r -f -a \"reference\\t''\nexact\\t''\nfast\\t''\nplanted:",
        "-r -F -a \"reference\\t''\nexact\\t''\nfast\\t''\nplanted:",
    )
}

/// Prints the manual page with a section for each command, or that of one command, or writes all to a folder.
pub(crate) fn page(args: &ManArgs) -> Result<ExitCode> {
    let mut whole = args::command();
    whole.build();
    if let Some(folder) = &args.output {
        return write(&whole, folder);
    }
    let command = match &args.command {
        None => {
            // What is built has the sections of its commands as text already.
            let mut command = args::command().flatten_help(true);
            command.build();
            command
        }
        Some(name) => {
            let found = whole.get_subcommands().find(|one| one.get_name() == name);
            found.cloned().ok_or_else(|| unknown(&whole, name))?
        }
    };
    output::bytes(&rendered(command)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the error of a name that no command has.
fn unknown(whole: &clap::Command, name: &str) -> Failure {
    let names = whole.get_subcommands().map(clap::Command::get_name);
    let nearest = hlo::diag::nearest(name, names);
    let help = nearest.map(|name| format!("did you mean `{name}`?"));
    let message = "is not a command of `etalon`".to_owned();
    Failure::new(&load::Code::File { path: name.to_owned(), message }, help)
}

/// Writes the pages of all commands.
fn write(whole: &clap::Command, folder: &Path) -> Result<ExitCode> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::file(folder, &e))?;
    let is_shown = |one: &&clap::Command| !one.is_hide_set() && one.get_name() != "help";
    let shown = whole.get_subcommands().filter(is_shown).cloned();
    let mut count = 0;
    for command in std::iter::once(whole.clone()).chain(shown) {
        let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
        file::replace(&folder.join(format!("{name}.1")), &rendered(command)?)?;
        count += 1;
    }
    let folder = folder.display();
    output::status(&format!("{folder}: {count} pages; read one with `man -l {folder}/etalon.1`\n"));
    Ok(ExitCode::SUCCESS)
}

fn rendered(command: clap::Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    let written = Man::new(command).render(&mut page);
    written.map_err(|e| Failure::file(Path::new("<stdout>"), &e))?;
    Ok(page)
}
