//! Selections by a comparison of a number with a known one: what is selected is the number that was
//! compared, or is computed from it.
//!
//! - `select(i < 0, i + n, i)` of whole numbers, where the comparison and what it selects have no other
//!   users: they are one expression, in which the number has one value.
//! - `select(x > 0, x, 1)`, a guard: the number that is selected satisfies the comparison.
use super::elementwise::{broadcast, selected};
use super::integers::{self, Ends, number};
use super::interval::Interval;
use super::modes::Modes;
use super::range::{Range, is_whole};
use super::rewrites::Values;
use super::site::Site;
use hlo::ir::{Computation, Instruction, InstructionId};
use hlo::op::value::{ComparisonType, Direction};
use hlo::op::{Compare, Op};

/// Returns what the rule of an instruction reads: its operands, and of a selection theirs.
pub(super) fn read(computation: &Computation, instruction: &Instruction) -> Vec<InstructionId> {
    let mut read = instruction.operands.to_vec();
    if matches!(instruction.op, Op::Select(_)) {
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

/// Returns the legal values of a selection by a number; `None` of another instruction.
pub(super) fn narrowed(modes: Modes, site: Site<'_>, values: Values<'_>) -> Option<Range> {
    let instruction = site.instruction();
    let Op::Select(_) = &instruction.op else { return None };
    match is_of_whole_numbers(instruction) {
        true => narrowed_whole(site, values),
        false => guarded(modes, site, values),
    }
}

/// Returns the values of a selection of the number that is compared, in which it satisfies the
/// comparison, or does not.
fn guarded(modes: Modes, site: Site<'_>, values: Values<'_>) -> Option<Range> {
    let [decision, branches @ ..] = &*site.instruction().operands else { return None };
    let ty = site.shape().ok()?.ty;
    let compare = &site.computation.instructions[*decision];
    let (Op::Compare(Compare { direction, ty: order }), [x, y]) = (&compare.op, &*compare.operands)
    else {
        return None;
    };
    let value = |id: InstructionId| match values(id)?.as_slice() {
        [range] => Some(range),
        _ => None,
    };
    let is_known = |id: &InstructionId| {
        let mut limits = value(*id).into_iter().flat_map(Range::intervals);
        limits.all(|limit| limit.is_point() && limit.is_finite())
    };
    let (number, limit, direction) = match [is_known(x), is_known(y)] {
        [false, true] => (*x, *y, *direction),
        [true, false] => (*y, *x, swapped(*direction)),
        [true, true] | [false, false] => return None,
    };
    let (range, limit, decided) = (value(number)?, value(limit)?, value(*decision)?);
    let is_plain = ty.is_float() && order.is_none_or(|order| order == ComparisonType::Float);
    let is_guard = branches.contains(&number) && !decided.is_point();
    if !is_plain || !is_guard || range.origin.is_some() {
        return None;
    }
    let limits: Vec<f64> = limit.intervals().map(|limit| limit.lo).collect();
    let operands = [0, 1].map(|k| {
        if branches[k] != number {
            return value(branches[k]).cloned();
        }
        let direction = if k == 0 { direction } else { opposite(direction) };
        let shape = range.shape()?;
        // A NaN satisfies no comparison but that it is another number.
        let may_be_nan = k == 1 || direction == Direction::Ne;
        let columns: Vec<Vec<Interval>> =
            range.candidates().iter().map(|range| range.intervals().collect()).collect();
        let set = |i: usize| {
            let all = columns.iter().map(|column| column[i]);
            let parts = |x: Interval| match x.is_any() || x.is_nan() {
                true if may_be_nan => vec![x],
                // Denormals may be compared as 0.
                _ if modes.flushed(ty, x).is_some() => vec![x],
                true | false => cut(x, direction, broadcast(&limits, i)),
            };
            let own: Vec<Interval> = all.clone().flat_map(parts).collect();
            if own.is_empty() { all.collect() } else { own }
        };
        let all = Range::of_sets(shape, &(0..range.lo.len()).map(set).collect::<Vec<_>>());
        Some(all.flushed(ty, modes, true).unwrap_or(all))
    });
    let [Some(on_true), Some(on_false)] = &operands else { return None };
    Some(selected(decided, on_true, on_false))
}

/// Returns the values of which a comparison with a limit holds.
fn cut(x: Interval, direction: Direction, limit: f64) -> Vec<Interval> {
    // Rounded numbers may be the limit, of which the ends of an interval are none.
    let (down, up) = match direction {
        Direction::Lt | Direction::Gt | Direction::Ne => (limit, limit),
        Direction::Le | Direction::Ge | Direction::Eq => (limit.next_down(), limit.next_up()),
    };
    let above = (x.hi > down).then(|| Interval { lo: x.lo.max(down), hi: x.hi });
    let below = (x.lo < up).then(|| Interval { lo: x.lo, hi: x.hi.min(up) });
    match direction {
        Direction::Gt | Direction::Ge => above.into_iter().collect(),
        Direction::Lt | Direction::Le => below.into_iter().collect(),
        Direction::Ne => below.into_iter().chain(above).collect(),
        Direction::Eq => vec![x],
    }
}

fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Eq => Direction::Ne,
        Direction::Ne => Direction::Eq,
        Direction::Lt => Direction::Ge,
        Direction::Ge => Direction::Lt,
        Direction::Gt => Direction::Le,
        Direction::Le => Direction::Gt,
    }
}

/// Returns the legal values of a selection by a whole number; `None` of another instruction.
fn narrowed_whole(site: Site<'_>, values: Values<'_>) -> Option<Range> {
    let instruction = site.instruction();
    let (Op::Select(_), [decision, branches @ ..]) = (&instruction.op, &*instruction.operands)
    else {
        return None;
    };
    if !is_used_once(site.computation, *decision) {
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
