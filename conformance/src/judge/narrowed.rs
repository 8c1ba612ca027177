//! Selections by a comparison of a whole number with a known one, as in `select(i < 0, i + n, i)`:
//! what is selected is computed from the number that was compared.
//!
//! The comparison and what it selects have no other users: they are one expression, in which the
//! number has one value.
use super::elementwise::broadcast;
use super::integers::{self, Ends, number};
use super::range::{Range, is_whole};
use super::rewrites::Values;
use super::site::Site;
use hlo::ir::{Computation, Instruction, InstructionId};
use hlo::op::value::Direction;
use hlo::op::{Compare, Op};

/// Returns what the rule of an instruction reads: its operands, and of a selection of whole numbers
/// theirs.
pub(super) fn read(computation: &Computation, instruction: &Instruction) -> Vec<InstructionId> {
    let mut read = instruction.operands.to_vec();
    if matches!(instruction.op, Op::Select(_)) && is_of_whole_numbers(instruction) {
        let operands = instruction.operands.iter();
        read.extend(operands.flat_map(|&id| computation.instructions[id].operands.to_vec()));
    }
    read
}

fn is_of_whole_numbers(instruction: &Instruction) -> bool {
    instruction.shape.element_type().is_some_and(is_whole)
}

/// A selection that a comparison of an open number decides.
struct Selection<'a, 'v> {
    site: Site<'a>,
    values: Values<'v>,
    /// The number that is compared.
    number: InstructionId,
}

/// Returns the legal values of a selection by a whole number; `None` of another instruction.
pub(super) fn narrowed(site: Site<'_>, values: Values<'_>) -> Option<Range> {
    let instruction = site.instruction();
    let (Op::Select(_), [decision, branches @ ..]) = (&instruction.op, &*instruction.operands)
    else {
        return None;
    };
    if !is_of_whole_numbers(instruction) || !is_used_once(site.computation, *decision) {
        return None;
    }
    let decision = &site.computation.instructions[*decision];
    let (Op::Compare(Compare { direction, .. }), [x, y]) = (&decision.op, &*decision.operands)
    else {
        return None;
    };
    let value = |id: InstructionId| match values(id)?.as_slice() {
        [range] if range.shape().is_some_and(|shape| is_whole(shape.ty)) => Some(range),
        _ => None,
    };
    let (compared, limit, direction) = match (value(*x)?, value(*y)?) {
        (range, limit) if limit.is_point() && !range.is_point() => (*x, limit, *direction),
        (limit, range) if limit.is_point() && !range.is_point() => (*y, limit, swapped(*direction)),
        _ => return None,
    };
    let selection = Selection { site, values, number: compared };
    if !branches.iter().any(|&branch| selection.is_narrowed(branch)) {
        return None;
    }
    let range = value(compared)?;
    let mut results = Vec::new();
    for candidate in range.each_value() {
        let parts = (0..candidate.lo.len()).map(|i| {
            let limit = limit.ends(if limit.lo.len() == 1 { 0 } else { i });
            split(direction, candidate.ends(i), number(limit.0))
        });
        let parts: Vec<[Option<Ends>; 2]> = parts.collect();
        let mut chosen = [None, None];
        for (k, &branch) in branches.iter().enumerate() {
            let shape = candidate.shape()?;
            let part = |i: usize| parts[i][k].unwrap_or_else(|| candidate.ends(i));
            let part = integers::range(shape, (0..parts.len()).map(part));
            chosen[k] = Some(selection.branch(branch, &part)?);
        }
        let [Some(on_true), Some(on_false)] = &chosen else { return None };
        let is_possible = |k: usize| move |parts: &[Option<Ends>; 2]| parts[k].is_some();
        let [may, may_not] = [0, 1].map(|k| parts.iter().map(is_possible(k)).collect::<Vec<_>>());
        results.push(on_true.where_else(on_false, |i| broadcast(&may, i)));
        results.push(on_false.where_else(on_true, |i| broadcast(&may_not, i)));
    }
    Some(Range::any_of(&results))
}

impl Selection<'_, '_> {
    /// Returns whether a branch is computed from the number alone.
    fn is_narrowed(&self, branch: InstructionId) -> bool {
        let instruction = &self.site.computation.instructions[branch];
        let computes = matches!(instruction.op, Op::Unary(_) | Op::Binary(_));
        let reads = instruction.operands.contains(&self.number) && is_of_whole_numbers(instruction);
        branch == self.number || (computes && reads && is_used_once(self.site.computation, branch))
    }
    /// Returns the values of a branch for some values of the number.
    fn branch(&self, branch: InstructionId, part: &Range) -> Option<Range> {
        let value = |id: InstructionId| match (self.values)(id)?.as_slice() {
            [range] => Some(range),
            _ => None,
        };
        if branch == self.number {
            return Some(part.clone());
        }
        if !self.is_narrowed(branch) {
            return value(branch).cloned();
        }
        let instruction = &self.site.computation.instructions[branch];
        let operand = |&id: &InstructionId| if id == self.number { Some(part) } else { value(id) };
        let operands: Vec<&Range> =
            instruction.operands.iter().map(operand).collect::<Option<_>>()?;
        let shape = self.site.lane_shape(instruction.shape.array()?);
        let from = operands.first()?.shape()?.ty;
        let undefined = integers::divides_undefined(&instruction.op, from, &operands);
        (!undefined).then(|| integers::evaluate(&instruction.op, from, &shape, &operands))
    }
}

/// Returns whether an instruction has one user, and is not the result.
fn is_used_once(computation: &Computation, id: InstructionId) -> bool {
    let all = computation.instructions.iter();
    let uses = all.flat_map(|(_, user)| user.operands.iter()).filter(|&&operand| operand == id);
    uses.count() == 1 && computation.root != id
}

fn swapped(direction: Direction) -> Direction {
    match direction {
        Direction::Eq | Direction::Ne => direction,
        Direction::Lt => Direction::Gt,
        Direction::Le => Direction::Ge,
        Direction::Gt => Direction::Lt,
        Direction::Ge => Direction::Le,
    }
}

/// Returns the numbers of which a comparison with a limit holds, and those of which it does not.
fn split(direction: Direction, (lo, hi): Ends, limit: i128) -> [Option<Ends>; 2] {
    let part = |least: i128, greatest: i128| {
        let (least, greatest) = (number(lo).max(least), number(hi).min(greatest));
        (least <= greatest).then(|| (integers::of_kind(lo, least), integers::of_kind(lo, greatest)))
    };
    let (below, above) = (part(i128::MIN, limit - 1), part(limit + 1, i128::MAX));
    let (equal, others) = (
        part(limit, limit),
        match (below, above) {
            (Some(below), Some(above)) => Some((below.0, above.1)),
            (one, other) => one.or(other),
        },
    );
    match direction {
        Direction::Lt => [below, part(limit, i128::MAX)],
        Direction::Ge => [part(limit, i128::MAX), below],
        Direction::Gt => [above, part(i128::MIN, limit)],
        Direction::Le => [part(i128::MIN, limit), above],
        Direction::Eq => [equal, others],
        Direction::Ne => [others, equal],
    }
}
