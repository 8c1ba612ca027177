//! The libraries of `--custom-call-library`, and the process that runs one.
use crate::args::{CustomCallArgs, TimeArgs};
use crate::error::{Failure, Result};
use conformance::backend::{IsolatedLibrary, serve_custom_calls};
use interp::Hooks;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

/// Returns hooks with the libraries; the inner error is that of a library that cannot be loaded.
pub(super) fn hooks(args: &CustomCallArgs, time: &TimeArgs) -> Result<interp::Result<Hooks>> {
    let program = std::env::current_exe().map_err(|e| Failure::file(Path::new("etalon"), &e))?;
    let add = |hooks: Hooks, path: &std::path::PathBuf| {
        if args.trust_custom_calls {
            return hooks.library(path);
        }
        let mut host = Command::new(&program);
        host.arg("custom-call-host");
        // A call also ends with the run; loading is no part of it.
        let limit = [args.custom_call_time_limit, time.time_limit].into_iter().flatten().min();
        let library = IsolatedLibrary::open(path, host, limit)?;
        Ok(hooks.custom_call_library(Arc::new(library)))
    };
    Ok(args.custom_call_library.iter().try_fold(Hooks::new(), add))
}

/// `etalon custom-call-host`: runs a library for a parent process.
pub(crate) fn host() -> Result<ExitCode> {
    serve_custom_calls().map_err(|e| Failure::file(Path::new("<stdin>"), &e))?;
    Ok(ExitCode::SUCCESS)
}
