//! The libraries of `--custom-call-library`, the process that runs one, and the declarations of `--custom-calls`.
use crate::args::{CustomCallArgs, TimeArgs};
use crate::error::{Code, Failure, Result};
use conformance::backend::{IsolatedLibrary, serve_custom_calls};
use conformance::{Declarations, WrongDeclaration};
use interp::Hooks;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Returns hooks with the libraries; the inner error is that of a library that cannot be loaded.
pub(super) fn hooks(args: &CustomCallArgs, time: &TimeArgs) -> Result<interp::Result<Hooks>> {
    let add = |hooks: Hooks, path: &std::path::PathBuf| {
        if args.trust_custom_calls {
            return hooks.library(path);
        }
        let host = crate::host::command("custom-call-host");
        // A call also ends with the run; loading is no part of it.
        let limit = [args.custom_call_time_limit, time.time_limit].into_iter().flatten().min();
        let library = IsolatedLibrary::open(path, host, limit)?;
        Ok(hooks.custom_call_library(Arc::new(library)))
    };
    let declared = args.custom_calls.as_deref().map(declarations).transpose()?;
    let hooks = declared.unwrap_or_default().hooks(Hooks::new());
    Ok(args.custom_call_library.iter().try_fold(hooks, add))
}

/// Reads the file of `--custom-calls`.
pub(super) fn declarations(path: &Path) -> Result<Declarations> {
    let text = std::fs::read_to_string(path).map_err(|e| Failure::file(path, &e))?;
    text.parse().map_err(|WrongDeclaration { line, message }| {
        let code = Code::CustomCalls { path: path.display().to_string(), line, message };
        let help = "write `TARGET = identity`, `TARGET = operand 1` or `TARGET = tuple`";
        Failure::new(&code, Some(help.to_owned()))
    })
}

/// `etalon custom-call-host`: runs a library for a parent process.
pub(crate) fn host() -> Result<ExitCode> {
    serve_custom_calls().map_err(|e| Failure::file(Path::new("<stdin>"), &e))?;
    Ok(ExitCode::SUCCESS)
}
