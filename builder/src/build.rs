//! The finished module, and its verification.
use crate::annotations::Caller;
use crate::state::{Open, State};
use crate::{Error, Result};
use hlo::diag::Errors;
use hlo::id::Arena;
use hlo::ir::{Computation, Instruction, InstructionId, InstructionSpans, ModuleConfig};
use hlo::{Module, Span, Verified};
use smol_str::SmolStr;

/// Verifies the module. Returns the first broken rule, with the line of the call that made the
/// instruction.
pub(crate) fn verified(module: Module, callers: &[Vec<Caller>]) -> Result<Verified> {
    module.verify().map_err(|unverified| {
        let (module, errors) = unverified.into_parts();
        located(module, callers, errors)
    })
}

/// Finds the instruction an error is about: spans are numbers of instructions here, since there is
/// no text.
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
    let mut errors = module.verify().err().map_or(unplaced, Errors::from).0;
    let first = errors.remove(0);
    let line = first.span().and_then(|span| lines.get(span.range().start).copied());
    let error = Error::from(first);
    match line {
        Some(line) => error.at(line),
        None => error,
    }
}

/// Returns a module of this entry computation, to which `change` is applied, and those it calls.
pub(crate) fn module(
    state: &State,
    name: SmolStr,
    (mut entry, root): (Open, InstructionId),
    config: ModuleConfig,
    change: impl FnOnce(&mut Computation),
) -> Result<Verified> {
    let mut called = vec![state.keep_unused; state.finished.len()];
    let see = |called: &mut Vec<bool>, instructions: &Arena<Instruction>| {
        for (_, instruction) in instructions.iter() {
            instruction.op.each_callee(&mut |id| called[id.index()] = true);
        }
    };
    see(&mut called, &entry.instructions);
    for (id, computation) in state.finished.iter().rev() {
        if called[id.index()] {
            see(&mut called, &computation.instructions);
        }
    }
    let (mut computations, mut callers) = (Arena::default(), Vec::new());
    let mut moved = Vec::with_capacity(called.len());
    for (id, computation) in state.finished.iter() {
        let mut place = None;
        if called[id.index()] {
            let mut computation = computation.clone();
            rename(&mut computation.instructions, &moved);
            callers.push(state.callers[id.index()].clone());
            place = Some(computations.push(computation));
        }
        moved.push(place);
    }
    rename(&mut entry.instructions, &moved);
    callers.push(entry.callers.clone());
    let mut entry = entry.finish(root);
    change(&mut entry);
    let entry = computations.push(entry);
    let mut module = Module::new(name, computations, entry);
    module.config = config;
    verified(module, &callers)
}

/// Names the called computations by their new places.
pub(crate) fn rename(
    instructions: &mut Arena<Instruction>,
    moved: &[Option<hlo::ir::ComputationId>],
) {
    for (_, instruction) in instructions.iter_mut() {
        instruction.op.each_callee_mut(&mut |id| {
            if let Some(Some(place)) = moved.get(id.index()) {
                *id = *place;
            }
        });
    }
}
