//! Control flow unnested: calls and fusions inlined, one branch of a conditional, one round of a
//! loop.
use crate::reduce::draft::{At, Draft, Edit};
use crate::reduce::search::Reduction;
use hlo::Op;
use hlo::ir::ComputationId;

/// Inlines callees into their callers, inner ones first.
pub(super) fn inline(search: &mut Reduction<'_, '_>) {
    loop {
        let draft = search.draft();
        let edits: Vec<Edit> =
            draft.all().into_iter().flat_map(|at| edits_of(&draft, at)).collect();
        if !search.minimize(edits) {
            return;
        }
    }
}

/// A computation that stands for an instruction, with the numbers of the operands it takes.
type Body = (ComputationId, std::ops::Range<usize>);

/// Returns the computations that can stand for the value of an instruction.
pub(super) fn bodies(draft: &Draft, at: At) -> Vec<Body> {
    let Some(instruction) = draft.get(at) else { return Vec::new() };
    let count = instruction.operands.len();
    if let Op::Call(call) = &instruction.op {
        vec![(call.to_apply, 0..count)]
    } else if let Op::Fusion(fusion) = &instruction.op {
        vec![(fusion.calls, 0..count)]
    } else if let Op::While(looped) = &instruction.op {
        vec![(looped.body, 0..count)]
    } else if let Op::Conditional(conditional) = &instruction.op {
        let branches = conditional.branches.iter().enumerate();
        branches.map(|(i, &branch)| (branch, i + 1..i + 2)).collect()
    } else {
        Vec::new()
    }
}

fn edits_of(draft: &Draft, at: At) -> Vec<Edit> {
    let edit = |(body, operands): Body| -> Edit {
        Box::new(move |draft| {
            let Some(instruction) = draft.get(at) else { return false };
            let operands = instruction.operands[operands.clone()].to_vec();
            match draft.rewriter.inline(at.0, body, &operands) {
                Some(result) => {
                    draft.substitute(at, result);
                    true
                }
                None => false,
            }
        })
    };
    let mut edits: Vec<Edit> = bodies(draft, at).into_iter().map(edit).collect();
    // A started computation becomes a call where it ends.
    if let Some(instruction) = draft.get(at).filter(|i| matches!(i.op, Op::AsyncDone(_))) {
        let mut start = instruction.operands[0];
        let computation = draft.rewriter.computation(at.0);
        while let Op::AsyncUpdate(_) = computation.instruction(start).op {
            start = computation.instruction(start).operands[0];
        }
        if let Op::AsyncStart(started) = &computation.instruction(start).op {
            let (body, operands) =
                (started.calls, computation.instruction(start).operands.to_vec());
            edits.push(Box::new(move |draft| {
                let Some(result) = draft.rewriter.inline(at.0, body, &operands) else {
                    return false;
                };
                draft.substitute(at, result);
                true
            }));
        }
    }
    edits
}
