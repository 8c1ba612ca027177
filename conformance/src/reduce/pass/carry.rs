//! Fewer values carried by loops, and sorted.
use crate::reduce::draft::{At, Draft, Edit};
use crate::reduce::search::Reduction;
use hlo::ir::rewrite::ComputationRewriter;
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::op::{GetTupleElement, Parameter, Sort, While};
use hlo::{Op, Shape};

/// Removes elements of the tuples that loops carry, and operands of sorts that the comparator does
/// not read; a tuple of one element becomes that element.
pub(super) fn carries(search: &mut Reduction<'_, '_>) {
    loop {
        let draft = search.draft();
        let edits = draft.all().into_iter().flat_map(|at| {
            let carries = |i: &&Instruction| matches!(i.op, Op::While(_) | Op::Sort(_));
            let shape = draft.get(at).filter(carries).map(|i| &i.shape);
            let count = shape.and_then(Shape::tuple).map_or(0, <[Shape]>::len);
            (0..count)
                .map(move |k| -> Edit { Box::new(move |draft| remove(draft, at, k).is_some()) })
        });
        if !search.first(edits.collect()) {
            return;
        }
    }
}

/// Removes element `k` from the value of a loop, if nothing but the loop itself needs it. `None`,
/// and a draft that is not to be used, if something does.
fn remove(draft: &mut Draft, at: At, k: usize) -> Option<()> {
    if let Op::Sort(sort) = &draft.get(at)?.op {
        let sort = sort.clone();
        return remove_sorted(draft, at, *sort, k);
    }
    let Op::While(looped) = &draft.get(at)?.op else { return None };
    let looped = looped.clone();
    let condition = without(draft, looped.condition, k, false)?;
    let body = without(draft, looped.body, k, true)?;
    let caller = draft.rewriter.computation_mut(at.0);
    let init = caller.instruction(at.1).operands[0];
    let init = smaller_tuple(caller, init, k)?;
    let users = elements_of(caller, at.1)?;
    let shape = caller.instruction(init).shape.clone();
    let instruction = caller.instruction_mut(at.1);
    (instruction.shape, instruction.common) = (shape, None);
    instruction.operands[0] = init;
    instruction.op = While { condition, body }.into();
    renumber(caller, at.1, users, k)
}

/// Removes operand `k` of a sort with its result, unless the comparator or an instruction reads it.
fn remove_sorted(draft: &mut Draft, at: At, mut sort: Sort, k: usize) -> Option<()> {
    let mut comparator = draft.rewriter.computation(sort.to_apply?).clone();
    comparator.remove_dead_code(|_| false);
    let parameters = comparator.parameters();
    for &parameter in parameters.get(2 * k..2 * k + 2)? {
        if comparator.root() == Some(parameter) || !comparator.users(parameter).is_empty() {
            return None;
        }
        comparator.remove_parameter(parameter);
    }
    sort.to_apply = Some(draft.rewriter.add_computation(comparator));
    let caller = draft.rewriter.computation_mut(at.0);
    let users = elements_of(caller, at.1)?;
    let shape = without_part(&caller.instruction(at.1).shape, k)?;
    let instruction = caller.instruction_mut(at.1);
    instruction.operands.remove(k);
    (instruction.shape, instruction.common, instruction.op) = (shape, None, sort.into());
    renumber(caller, at.1, users, k)
}

/// Returns the shape of a tuple without element `k`; the other element if there is only one.
fn without_part(tuple: &Shape, k: usize) -> Option<Shape> {
    let mut parts = tuple.tuple()?.to_vec();
    parts.remove(k);
    Some(match parts.as_slice() {
        [only] => only.clone(),
        _ => Shape::Tuple(parts),
    })
}

/// Adds a copy of a computation whose parameter, and if `result` its root, has no element `k`.
fn without(draft: &mut Draft, id: ComputationId, k: usize, result: bool) -> Option<ComputationId> {
    let mut computation = draft.rewriter.computation(id).clone();
    let parameter = *computation.parameters().first()?;
    if result {
        let root = computation.root()?;
        let root = smaller_tuple(&mut computation, root, k)?;
        computation.set_root(root);
    }
    computation.remove_dead_code(|_| false);
    let users = elements_of(&computation, parameter)?;
    let shape = without_part(&computation.instruction(parameter).shape, k)?;
    let op = Parameter { number: 0 };
    computation.replace(parameter, Instruction::new(op, shape, []));
    renumber(&mut computation, parameter, users, k)?;
    Some(draft.rewriter.add_computation(computation))
}

/// Adds the tuple without element `k`; the other element if there is only one.
fn smaller_tuple(
    computation: &mut ComputationRewriter,
    tuple: InstructionId,
    k: usize,
) -> Option<InstructionId> {
    let instruction = computation.instruction(tuple);
    if !matches!(instruction.op, Op::Tuple(_)) || instruction.operands.len() < 2 {
        return None;
    }
    let mut parts = instruction.operands.to_vec();
    parts.remove(k);
    Some(match parts.as_slice() {
        &[only] => only,
        _ => computation.add_tuple(tuple, parts),
    })
}

/// Returns the users of a tuple and the elements they take; `None` if one of them takes the whole
/// tuple.
fn elements_of(
    computation: &ComputationRewriter,
    tuple: InstructionId,
) -> Option<Vec<(InstructionId, usize)>> {
    let element = |user: InstructionId| {
        let Op::GetTupleElement(element) = &computation.instruction(user).op else { return None };
        Some((user, usize::try_from(element.index).ok()?))
    };
    computation.users(tuple).into_iter().map(element).collect()
}

/// Gives the users of a tuple without element `k` the new numbers; `None` if one of them takes
/// element `k`.
fn renumber(
    computation: &mut ComputationRewriter,
    tuple: InstructionId,
    users: Vec<(InstructionId, usize)>,
    k: usize,
) -> Option<()> {
    let is_tuple = computation.instruction(tuple).shape.tuple().is_some();
    for (user, element) in users {
        match element {
            taken if taken == k => return None,
            _ if !is_tuple => {
                computation.replace_uses(user, tuple);
                computation.remove(user);
            }
            earlier if earlier < k => {}
            later => {
                let index = i64::try_from(later - 1).unwrap_or(i64::MAX);
                computation.instruction_mut(user).op = GetTupleElement { index }.into();
            }
        }
    }
    Some(())
}
