//! Errors with the lines of the program that the user wrote.
//!
//! JAX passes the line of each op, with the calls that led to it, as a location; the reader keeps them as metadata.
use crate::failure::{Code, Failure};
use collectives::RunError;
use hlo::Module;
use hlo::diag::{Diagnostic, ErrorCode};
use hlo::ir::{Metadata, StackFrames};
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
        if let Some((module, metadata)) = module.and_then(|m| Some((m, metadata(m, instruction)?)))
        {
            write_source(&mut text, &module.frames, metadata);
        }
    }
    if let Some(help) = help {
        let _ = write!(text, "\n = help: {help}");
    }
    text
}

/// Returns the metadata of the instruction `computation/name`.
fn metadata<'m>(module: &'m Module, path: &str) -> Option<&'m Metadata> {
    let (computation, name) = path.split_once('/')?;
    let (_, found) = module.computations.iter().find(|(_, c)| c.name == computation)?;
    let (_, instruction) = found.instructions.iter().find(|&(id, _)| found.name(id) == name)?;
    instruction.common.as_deref()?.metadata.as_ref()
}

fn row<T>(table: &[T], id: i32) -> Option<&T> {
    table.get(usize::try_from(id).ok()?.checked_sub(1)?)
}

/// Writes the line of an instruction, its callers, and the name of the op in JAX.
fn write_source(text: &mut String, frames: &StackFrames, metadata: &Metadata) {
    if metadata.source_line > 0 {
        let _ = write!(text, "\n --> {}:{}", metadata.source_file, metadata.source_line);
    }
    let mut next = row(&frames.frames, metadata.stack_frame_id);
    for depth in 0..CALLS {
        let Some(frame) = next else { break };
        let Some(place) = row(&frames.locations, frame.file_location_id) else { break };
        let file = row(&frames.file_names, place.file_name_id).map_or("?", String::as_str);
        let function =
            row(&frames.function_names, place.function_name_id).map_or("?", String::as_str);
        let arrow = if depth == 0 { "\n -->" } else { "\n     called from" };
        let _ = write!(text, "{arrow} {file}:{}:{} ({function})", place.line, place.column);
        next = row(&frames.frames, frame.parent_frame_id);
    }
    if !metadata.op_name.is_empty() {
        let _ = write!(text, "\n = op: {}", metadata.op_name);
    }
}
