//! Loops cut to one round, from the values that the loop carries when that round begins.
use super::inline::bodies;
use crate::reduce::draft::{At, Draft, Edit, has_values};
use crate::reduce::limited_run;
use crate::reduce::search::Reduction;
use hlo::ir::ComputationId;
use hlo::ir::rewrite::ModuleRewriter;
use hlo::{Literal, Op, Scalar, Verified};
use std::sync::Arc;

/// The rounds of a loop that are recorded.
const ROUNDS: usize = 64;

/// Replaces a loop of the entry by its body, which gets the recorded values of one round.
pub(super) fn one_round(search: &mut Reduction<'_, '_>) {
    let Some((ids, values)) = search.recorded() else { return };
    let [values] = values.as_slice() else { return };
    let draft = search.draft();
    let entry = draft.rewriter.entry();
    for id in draft.entry().ids() {
        let instruction = draft.entry().instruction(id);
        let Op::While(looped) = &instruction.op else { continue };
        let init = ids.iter().position(|&recorded| recorded == instruction.operands[0]);
        let Some(init) = init.filter(|_| has_values(&instruction.shape)) else { continue };
        let (condition, body) = (looped.condition, looped.body);
        let rounds = carried(&draft, condition, body, values[init].clone(), search.fuel());
        // The last rounds have seen most.
        let edits = rounds.into_iter().rev().map(|carried| round((entry, id), carried));
        if search.first(edits.collect()) {
            return;
        }
    }
}

/// Returns the values at the start of each round.
fn carried(
    draft: &Draft,
    condition: ComputationId,
    body: ComputationId,
    init: Literal,
    fuel: u64,
) -> Vec<Literal> {
    let (Some(condition), Some(body)) =
        (computation(&draft.rewriter, condition), computation(&draft.rewriter, body))
    else {
        return Vec::new();
    };
    let run = |module: &Arc<Verified>, value: &Literal| {
        let results = limited_run::run(Arc::clone(module), &[vec![value.clone()]], fuel)?;
        results.into_iter().next()
    };
    let mut rounds = vec![init];
    while let (true, Some(last)) = (rounds.len() < ROUNDS, rounds.last()) {
        let goes_on = run(&condition, last).is_some_and(|go| go.get(0) == Scalar::Pred(true));
        match run(&body, last) {
            Some(next) if goes_on => rounds.push(next),
            _ => break,
        }
    }
    rounds.pop();
    rounds
}

/// Returns a module of a computation.
fn computation(rewriter: &ModuleRewriter, id: ComputationId) -> Option<Arc<Verified>> {
    let mut rewriter = rewriter.clone();
    rewriter.set_entry(id);
    rewriter.remove_unused_computations();
    rewriter.finish().ok()?.verify().ok().map(Arc::new)
}

/// Returns the edit that replaces a loop by one round from this value.
fn round(at: At, value: Literal) -> Edit {
    Box::new(move |draft| {
        let Some((body, _)) = bodies(draft, at).into_iter().next() else { return false };
        let Some(instruction) = draft.get(at) else { return false };
        let like = instruction.operands[0];
        let copy = draft.entry().instruction(like).clone();
        let carried = draft.entry_mut().push("carried", copy);
        if !draft.replace_by_parameter(carried, std::slice::from_ref(&value)) {
            return false;
        }
        let Some(result) = draft.rewriter.inline(at.0, body, &[carried]) else { return false };
        draft.substitute(at, result);
        true
    })
}
