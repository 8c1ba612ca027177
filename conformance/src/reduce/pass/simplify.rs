//! Instructions removed: unused ones, those whose operand can stand for them, and those that
//! another value can stand for.
use crate::reduce::draft::{At, Draft, Edit};
use crate::reduce::search::Reduction;
use hlo::Op;
use hlo::ir::rewrite::ComputationRewriter;
use hlo::ir::{ComputationId, Instruction, InstructionId};

/// Removes instructions that no result depends on.
pub(super) fn dead_code(search: &mut Reduction<'_, '_>) {
    let draft = search.draft();
    let dead = draft.dead();
    let edit = |at: At| -> Edit {
        Box::new(move |draft| {
            let found = draft.get(at).is_some();
            if at.0 == draft.rewriter.entry() && draft.remove_parameter(at.1) {
                return true;
            }
            if found {
                draft.rewriter.computation_mut(at.0).remove(at.1);
            }
            found
        })
    };
    let edits = draft.all().into_iter().filter(|at| dead.contains(at)).map(edit);
    // What is dead is kept by the other passes, so it is removed without a sweep.
    search.minimize(edits.collect());
}

/// The most operands that are tried in place of an instruction.
const OPERANDS: usize = 8;

/// Replaces instructions by operands of the same shape.
pub(super) fn forward(search: &mut Reduction<'_, '_>) {
    for k in 0..OPERANDS {
        let draft = search.draft();
        let edits: Vec<Edit> =
            draft.all().into_iter().filter_map(|at| forwarded(&draft, at, k)).collect();
        search.minimize(edits);
    }
}

fn forwarded(draft: &Draft, at: At, k: usize) -> Option<Edit> {
    let instruction = draft.get(at)?;
    let operand = *instruction.operands.get(k)?;
    let shape = &draft.rewriter.computation(at.0).get(operand)?.shape;
    if !shape.compatible(&instruction.shape) {
        return None;
    }
    Some(Box::new(move |draft| {
        // An earlier edit may have replaced the operand.
        let Some(operand) = draft.get(at).and_then(|i| i.operands.get(k).copied()) else {
            return false;
        };
        draft.substitute(at, operand);
        true
    }))
}

/// Replaces values by the first parameter of the same shape, then by equal computations.
pub(super) fn merge(search: &mut Reduction<'_, '_>) {
    let draft = search.draft();
    let by_parameter = draft.all().into_iter().filter_map(|at| -> Option<Edit> {
        let computation = draft.rewriter.computation(at.0);
        let shape = &draft.get(at)?.shape;
        let same = |&id: &InstructionId| computation.instruction(id).shape.compatible(shape);
        let first = computation.parameters().into_iter().find(same)?;
        replaced(at, first)
    });
    search.minimize(by_parameter.collect());
    let draft = search.draft();
    let all = draft.all();
    let by_equal = all.iter().enumerate().filter_map(|(n, &at)| -> Option<Edit> {
        let instruction = draft.get(at)?;
        let same = |other: &&At| {
            other.0 == at.0
                && draft.get(**other).is_some_and(|i| {
                    i.op == instruction.op
                        && i.operands == instruction.operands
                        && i.shape.compatible(&instruction.shape)
                })
        };
        let first = all[..n].iter().find(same)?;
        replaced(at, first.1)
    });
    search.minimize(by_equal.collect());
}

/// Returns the edit that uses `first` for an instruction of the same shape.
fn replaced(at: At, first: InstructionId) -> Option<Edit> {
    if at.1 == first {
        return None;
    }
    Some(Box::new(move |draft| {
        if draft.get(at).is_none() || draft.get((at.0, first)).is_none() {
            return false;
        }
        let computation = draft.rewriter.computation_mut(at.0);
        let is_used = computation.root() == Some(at.1) || !computation.users(at.1).is_empty();
        computation.replace_uses(at.1, first);
        if at.0 == draft.rewriter.entry() {
            return draft.remove_parameter(at.1) || is_used;
        }
        is_used
    }))
}

/// Removes unused parameters: of the entry with their arguments, of called computations with the
/// operands of their calls.
pub(super) fn parameters(search: &mut Reduction<'_, '_>) {
    let draft = search.draft();
    let unused = |computation: &ComputationRewriter| -> Vec<InstructionId> {
        let is_unused = |id: &InstructionId| {
            computation.root() != Some(*id) && computation.users(*id).is_empty()
        };
        computation.parameters().into_iter().filter(is_unused).collect()
    };
    let of_entry = unused(draft.entry())
        .into_iter()
        .map(|id| -> Edit { Box::new(move |draft| draft.remove_parameter(id)) });
    let mut edits: Vec<Edit> = of_entry.collect();
    for at in draft.all() {
        let Some(callee) = draft.get(at).and_then(callee) else { continue };
        for id in unused(draft.rewriter.computation(callee)) {
            edits.push(Box::new(move |draft| remove_operand(draft, at, id)));
        }
    }
    search.minimize(edits);
}

/// Returns the computation whose parameters are the operands of an instruction.
fn callee(instruction: &Instruction) -> Option<ComputationId> {
    if let Op::Call(call) = &instruction.op {
        Some(call.to_apply)
    } else if let Op::Fusion(fusion) = &instruction.op {
        Some(fusion.calls)
    } else {
        None
    }
}

/// Removes a parameter of the computation that an instruction calls; the instruction gets a copy of
/// the computation.
fn remove_operand(draft: &mut Draft, at: At, parameter: InstructionId) -> bool {
    let Some(called) = draft.get(at).and_then(callee) else { return false };
    let mut computation = draft.rewriter.computation(called).clone();
    let Some(number) = computation.parameters().iter().position(|&id| id == parameter) else {
        return false;
    };
    computation.remove_parameter(parameter);
    let copy = draft.rewriter.add_computation(computation);
    let instruction = draft.rewriter.computation_mut(at.0).instruction_mut(at.1);
    instruction.op.each_callee_mut(&mut |id| *id = copy);
    instruction.operands.remove(number);
    true
}
