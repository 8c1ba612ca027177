//! Errors with the lines of the program that the user wrote.
//!
//! JAX passes the line of each op, with the calls that led to it, as a location; the reader keeps
//! them as metadata.
use crate::failure::{Code, Failure};
use collectives::RunError;
use hlo::Module;
use hlo::diag::{Diagnostic, ErrorCode};
use hlo::ir::{Metadata, SourcePlace, StackFrames};
use std::fmt::Write as _;

/// The most calls that are shown.
const CALLS: usize = 8;

/// Returns the failure of a module that cannot be read, verified or compiled.
pub(crate) fn refused<C: ErrorCode>(
    code: Code,
    error: &hlo::diag::Error<C>,
    module: Option<&Module>,
) -> Failure {
    Failure::new(code, describe(&error.diagnostic(), module))
}

/// Returns the failure of a run.
pub(crate) fn run_failure(error: &RunError, module: &Module) -> Failure {
    Failure::new(Code::of_run(error), describe(&error.diagnostic(), Some(module)))
}

/// Writes an error with the source lines of its instruction.
pub(crate) fn describe(diagnostic: &Diagnostic, module: Option<&Module>) -> String {
    let Diagnostic { code, message, instruction, help, .. } = diagnostic;
    let mut text = format!("error[{code}]: {message}");
    if let Some(instruction) = instruction {
        let _ = write!(text, " (at `{instruction}`)");
        let found = module.and_then(|module| Some((module, module.find(instruction)?)));
        if let Some((module, (computation, id))) = found
            && let Some(metadata) = computation.instructions[id].metadata()
        {
            write_source(&mut text, &module.frames, metadata);
        }
    }
    if let Some(help) = help {
        let _ = write!(text, "\n = help: {help}");
    }
    text
}

/// Writes the line of an instruction, its callers, and the name of the op in JAX.
pub(crate) fn write_source(text: &mut String, frames: &StackFrames, metadata: &Metadata) {
    for (depth, place) in metadata.places(frames).take(CALLS).enumerate() {
        let SourcePlace { file, line, column, function } = place;
        let arrow = if depth == 0 { "-->" } else { "    called from" };
        let _ = write!(text, "\n {arrow} {file}:{line}");
        if !function.is_empty() {
            let _ = write!(text, ":{column} ({function})");
        }
    }
    if !metadata.op_name.is_empty() {
        let _ = write!(text, "\n = op: {}", metadata.op_name);
    }
}
