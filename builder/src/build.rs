//! Verification of the finished module.
use crate::annotations::Caller;
use crate::{Error, Result};
use hlo::diag::Errors;
use hlo::ir::InstructionSpans;
use hlo::{Module, Span, Verified};

/// Verifies the module. Returns the first broken rule, with the line of the call that made the instruction.
pub(crate) fn verified(module: Module, callers: &[Vec<Caller>]) -> Result<Verified> {
    module.clone().verify().map_err(|errors| located(module, callers, errors))
}

/// Finds the instruction an error is about: spans are numbers of instructions here, since there is no text.
#[cold]
fn located(mut module: Module, callers: &[Vec<Caller>], unplaced: Errors) -> Error {
    let mut lines: Vec<Caller> = Vec::new();
    for ((_, computation), callers) in module.computations.iter_mut().zip(callers) {
        let first = lines.len();
        lines.extend(callers);
        computation.set_spans(|id| {
            let span = Span::new(first + id.index(), first + id.index() + 1);
            InstructionSpans { name: span, body: span }
        });
    }
    let mut errors = module.verify().err().unwrap_or(unplaced).0;
    let first = errors.remove(0);
    let line = first.span().and_then(|span| lines.get(span.range().start).copied());
    let error = Error::from(first);
    match line {
        Some(line) => error.at(line),
        None => error,
    }
}
