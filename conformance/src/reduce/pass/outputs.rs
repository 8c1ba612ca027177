//! Fewer results of the entry, and results nearer to the parameters.
use crate::reduce::draft::{Draft, Edit};
use crate::reduce::search::Reduction;
use hlo::ir::InstructionId;
use hlo::{Op, Shape};

/// Keeps one element of the result, or removes as many as it can.
pub(super) fn outputs(search: &mut Reduction<'_, '_>) {
    loop {
        let draft = search.draft();
        let entry = draft.entry();
        let Some(root) = entry.root() else { return };
        let Some(count) = entry.instruction(root).shape.tuple().map(<[Shape]>::len) else { return };
        let operands = entry.instruction(root).operands.clone();
        let is_tuple = matches!(entry.instruction(root).op, Op::Tuple(_));
        let only = (0..count).map(|k| -> Edit {
            Box::new(move |draft| {
                let entry = draft.entry_mut();
                let element = entry.element(root, k);
                let element = if is_tuple {
                    operands_of(draft, root)[k]
                } else {
                    entry.push("element", element)
                };
                draft.entry_mut().set_root(element);
                true
            })
        });
        if search.first(only.collect()) {
            continue;
        }
        if is_tuple {
            let without = operands.into_iter().map(|operand| -> Edit {
                Box::new(move |draft| remove_element(draft, root, operand))
            });
            search.minimize(without.collect());
        }
        return;
    }
}

fn operands_of(draft: &Draft, id: InstructionId) -> Vec<InstructionId> {
    draft.entry().instruction(id).operands.to_vec()
}

/// Removes an operand of the root, a tuple, unless it is the last one.
fn remove_element(draft: &mut Draft, root: InstructionId, operand: InstructionId) -> bool {
    let mut parts = operands_of(draft, root);
    let Some(at) = parts.iter().position(|&part| part == operand).filter(|_| parts.len() > 1)
    else {
        return false;
    };
    parts.remove(at);
    let entry = draft.entry_mut();
    let tuple = entry.tuple(parts);
    entry.replace(root, tuple);
    true
}

/// Makes an earlier instruction the result: first by bisection of the text order, then operand by
/// operand.
pub(super) fn cone(search: &mut Reduction<'_, '_>) {
    let draft = search.draft();
    let dead = draft.dead();
    let entry = draft.entry();
    let computation = draft.rewriter.entry();
    let can_be_root = |&id: &InstructionId| {
        let instruction = entry.instruction(id);
        let has_array = instruction.shape.leaves().iter().any(|leaf| leaf.array().is_some());
        has_array && !instruction.operands.is_empty() && !dead.contains(&(computation, id))
    };
    let roots: Vec<InstructionId> = entry.ids().into_iter().filter(can_be_root).collect();
    let (mut low, mut high) = (0, roots.len().saturating_sub(1));
    while low < high {
        let middle = low.midpoint(high);
        // Ids change with each success.
        let name = entry.instruction_name(roots[middle]).to_owned();
        let by_name: Edit = Box::new(move |draft| {
            let Some(id) = draft.entry().find(&name) else { return false };
            draft.entry_mut().set_root(id);
            true
        });
        if search.first(vec![by_name]) { high = middle } else { low = middle + 1 }
    }
    while search.first(operands_as_root(&search.draft())) {}
}

fn operands_as_root(draft: &Draft) -> Vec<Edit> {
    let Some(root) = draft.entry().root() else { return Vec::new() };
    let operands = operands_of(draft, root).into_iter();
    let edit = |operand: InstructionId| -> Edit {
        Box::new(move |draft| {
            draft.entry_mut().set_root(operand);
            true
        })
    };
    operands.map(edit).collect()
}
