//! Windows. It has no groups of processes that can be killed: what a process started lives on after it.
use std::fs::File;
use std::io::Result;
use std::os::windows::io::AsHandle as _;
use std::path::Path;
use std::process::{Command, ExitStatus};

pub(in super::super) fn own_group(_: &mut Command) {}

pub(in super::super) fn kill_group(_: u32) {}

pub(in super::super) fn kill_marked(_: &str) {}

pub(in super::super) fn watcher(_: &Path, _: &str) -> Option<Command> {
    None
}

/// Returns the pipes to the parent. Foreign code has them too: it must not print to standard output.
pub(in super::super) fn private_streams() -> Result<(File, File)> {
    let input = std::io::stdin().as_handle().try_clone_to_owned()?;
    let output = std::io::stdout().as_handle().try_clone_to_owned()?;
    Ok((File::from(input), File::from(output)))
}

pub(in super::super) fn end_group() -> ! {
    std::process::abort()
}

pub(in super::super) fn signal(_: ExitStatus) -> Option<String> {
    None
}
