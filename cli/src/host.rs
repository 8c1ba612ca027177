//! The command as a process of its own, for what may crash: PJRT plugins, and libraries of custom calls.
use std::ffi::OsString;
use std::process::Command;
use std::sync::OnceLock;

static HOST: OnceLock<Vec<OsString>> = OnceLock::new();

/// Sets the command line that starts the command.
pub(crate) fn set(words: Vec<OsString>) {
    let _ = HOST.set(words);
}

/// Returns the command with an argument.
pub(crate) fn command(argument: &str) -> Command {
    let words = HOST.get().map(Vec::as_slice).unwrap_or_default();
    let (program, before) = words
        .split_first()
        .map_or(("etalon".as_ref(), words), |(first, rest)| (first.as_os_str(), rest));
    let mut command = Command::new(program);
    command.args(before).arg(argument);
    command
}
