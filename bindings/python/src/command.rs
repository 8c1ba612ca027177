//! The command `etalon`, which the wheel has in the library: a binary of its own would double its size.
use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command, and ends the process with its exit code. `host` is the command line that starts it as a process of its own.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>, host: Vec<OsString>) {
    // Python has nothing to write or to clean up: its entry point only calls this.
    py.detach(|| std::process::exit(cli::run(arguments, host).into()));
}
