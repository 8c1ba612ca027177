//! Ranges of `sort`: elements whose order rounding errors, or ties, leave open share their values.
use super::alone::alone;
use super::evaluate::{Evaluator, Leaves, arrays};
use super::fold::{offsets, picked, reshaped};
use super::open_order::OpenOrder;
use super::range::is_whole;
use super::range::{Range, converted};
use super::runner::Form;
use super::site::Site;
use super::sorted::{Order, Sorted};
use super::{Stop, candidates};
use hlo::ir::{Computation, ComputationId, Instruction, InstructionSpans};
use hlo::op::value::{ComparisonType, Direction};
use hlo::op::{Compare, Parameter, Sort};
use hlo::{ElementType, Literal, Module, Op, Scalar, Shape};
use std::sync::Arc;

pub(super) fn sort<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &Sort,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    let Some(comparator) = op.to_apply else {
        return ascending(ev, site, &operands);
    };
    let shape = operands[0].shape().ok_or_else(|| site.unsupported("a tuple"))?;
    let dim = op.dimension(shape.rank());
    let Some(&size) = shape.dims.get(dim) else { return Err(site.unsupported("a scalar")) };
    let rows = offsets(shape, |d| d != dim);
    let steps = offsets(shape, |d| d == dim);
    // The position of each element of the result: sorted by the middles, with their positions
    // beside them.
    let order = order(ev, site, &operands, &rows, &steps)?;
    let mut sorted: Leaves = operands
        .iter()
        .map(|range| {
            reshaped(&picked(range, shape.dims.iter().product(), order.iter().copied()), shape)
        })
        .collect();
    if size < 2 || rows.is_empty() {
        return Ok(sorted);
    }
    let gaps = Gaps { rows: &rows, steps: &steps, comparator, is_stable: op.is_stable };
    let pairs = steps.len() - 1;
    let mut joined = vec![false; rows.len() * pairs];
    // A NaN is equal to all numbers, of which none is equal to another: it has no place.
    // In the total order the bits of several decide, which are open.
    let total = compares_in_total_order(ev.module, comparator);
    let nan = compared_nan(ev, comparator, &sorted);
    for (joined, &row) in joined.chunks_mut(pairs).zip(&rows) {
        let is_nan = |step: &usize| nan[row + step];
        let any = !total && steps.iter().any(is_nan);
        for (joined, pair) in joined.iter_mut().zip(steps.windows(2)) {
            *joined = any || (total && pair.iter().all(is_nan));
        }
    }
    let grouped = |sorted: &Leaves, joined: &[bool]| match joined.contains(&true) {
        true => sorted.iter().map(|range| shared(range, &rows, &steps, joined)).collect(),
        false => sorted.clone(),
    };
    let mut groups = grouped(&sorted, &joined);
    // Elements whose order is open are a group, whose order to its neighbors is that of all its
    // members.
    for round in 0.. {
        let open = gaps.open(ev, site, &groups)?;
        let mut grew = false;
        for (joined, open) in joined.chunks_mut(pairs).zip(open.chunks(pairs)) {
            if joined.iter().zip(open).all(|(&joined, &open)| joined || !open) {
                continue;
            }
            grew = true;
            for (joined, &open) in joined.iter_mut().zip(open) {
                *joined |= open || round >= ROUNDS;
            }
        }
        if !grew {
            break;
        }
        groups = grouped(&sorted, &joined);
    }
    if joined.contains(&true) {
        let cause = Some(site.cause());
        let decision = ev.decisions.next();
        let (all_rows, all_steps): (Arc<[usize]>, Arc<[usize]>) =
            (rows.as_slice().into(), steps.as_slice().into());
        let open = |(operand, (group, own)): (usize, (Range, &Range))| {
            let orders = open_orders(own, &rows, &steps, &joined);
            let (rows, steps) = (Arc::clone(&all_rows), Arc::clone(&all_steps));
            let order = Order::Comparator(comparator);
            let sorted = Sorted { decision, operand, order, rows, steps };
            // Computations have other numbers in another module.
            let sorted = (!ev.is_inner).then_some(sorted);
            Range { orders, sorted, ..group.because(cause.clone()) }
        };
        sorted = groups.into_iter().zip(&sorted).enumerate().map(open).collect();
    }
    Ok(sorted)
}

/// Returns the legal values of a sort without a comparator, by which the elements of the first operand
/// ascend. No text says where NaN is, or that zeros of two signs differ.
fn ascending<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Range],
) -> Result<Leaves, Stop> {
    let shapes: Vec<Shape> = (0..operands.len()).map(|i| site.operand(i).clone()).collect();
    let types: Option<Vec<ElementType>> = shapes.iter().map(Shape::element_type).collect();
    let types = types.filter(|types| types.first().is_some_and(|ty| !ty.is_complex()));
    let types = types.ok_or_else(|| site.unsupported("these keys"))?;
    let mut comparator = Computation::new("ascending");
    let mut keys = Vec::new();
    for (number, &ty) in (0..).zip(types.iter().flat_map(|ty| [ty, ty])) {
        let op = Parameter { number };
        let parameter = Instruction::new(op, Shape::scalar(ty), []);
        let name = format!("p{number}").into();
        keys.push(comparator.push(parameter, name, InstructionSpans::default()));
    }
    let less = Compare { direction: Direction::Lt, ty: None };
    let less = Instruction::new(less, Shape::scalar(ElementType::Pred), [keys[0], keys[1]]);
    comparator.root = comparator.push(less, "less".into(), InstructionSpans::default());
    let (mut module, id) = alone(ev.module, site, &shapes, site.instruction().shape.clone());
    let comparator = module.computations.push(comparator);
    let root = module.computations[id].root;
    if let Op::Sort(op) = &mut module.computations[id].instructions[root].op {
        op.to_apply = Some(comparator);
    }
    let arguments = operands.iter().map(|&range| vec![range.clone()]).collect();
    ev.in_module(&module, None, |inner| inner.call(id, arguments, None))
}

/// Returns whether a computation, or one that it calls, compares in the total order.
fn compares_in_total_order(module: &Module, id: ComputationId) -> bool {
    module.computations[id].instructions.iter().any(|(_, instruction)| {
        let mut found = matches!(&instruction.op,
            Op::Compare(compare) if compare.ty == Some(ComparisonType::TotalOrder));
        instruction.op.each_callee(&mut |callee| found |= compares_in_total_order(module, callee));
        found
    })
}

/// Returns which elements are NaN in an operand that the comparator reads.
fn compared_nan(ev: &Evaluator<'_>, comparator: ComputationId, operands: &[Range]) -> Vec<bool> {
    let mut unordered = vec![false; operands[0].lo.len()];
    let computation = &ev.module.computations[comparator];
    for (_, instruction) in computation.instructions.iter() {
        for &read in &instruction.operands {
            let Op::Parameter(parameter) = &computation.instructions[read].op else { continue };
            let operand = usize::try_from(parameter.number / 2).ok();
            let Some(range) = operand.and_then(|k| operands.get(k)) else { continue };
            let real = range.intervals().count() == unordered.len();
            for (unordered, x) in unordered.iter_mut().zip(range.intervals()).filter(|_| real) {
                *unordered |= x.is_nan();
            }
        }
    }
    unordered
}

/// After so many rounds all elements of a row whose groups still grow are one group.
const ROUNDS: usize = 32;

/// The pairs of neighbors in the rows of a sorted array.
struct Gaps<'a> {
    rows: &'a [usize],
    steps: &'a [usize],
    comparator: ComputationId,
    is_stable: bool,
}

impl Gaps<'_> {
    /// Returns whether the order of each pair is open.
    fn open<'m>(
        &self,
        ev: &mut Evaluator<'m>,
        site: Site<'m>,
        elements: &Leaves,
    ) -> Result<Vec<bool>, Stop> {
        let pairs = self.steps.len() - 1;
        let count = self.rows.len() * pairs;
        let lanes = i64::try_from(count).map_err(|_| site.unsupported("its size"))?;
        let at = |from: usize| {
            let steps = &self.steps[from..pairs + from];
            self.rows.iter().flat_map(move |&row| steps.iter().map(move |&step| row + step))
        };
        let [left, right]: [Leaves; 2] = [0, 1]
            .map(|from| elements.iter().map(|range| picked(range, lanes, at(from))).collect());
        let mut before = |a: &Leaves, b: &Leaves| {
            let pairs = a.iter().zip(b).flat_map(|(a, b)| [vec![a.clone()], vec![b.clone()]]);
            ev.call(self.comparator, pairs.collect(), Some(lanes))
        };
        let (forward, backward) = (before(&left, &right)?, before(&right, &left)?);
        let is_certain = |i: usize| match (forward[0].ends(i), backward[0].ends(i)) {
            ((Scalar::Pred(true), _), (_, Scalar::Pred(false))) => true,
            // A tie keeps its order if the sort is stable.
            ((_, Scalar::Pred(false)), (_, Scalar::Pred(false))) => self.is_stable,
            _ => false,
        };
        Ok((0..count).map(|i| !is_certain(i)).collect())
    }
}

/// Returns the position, in the operands, of each element of the result.
fn order<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Range],
    rows: &[usize],
    steps: &[usize],
) -> Result<Vec<usize>, Stop> {
    let mut values = Vec::with_capacity(operands.len() + 1);
    for (i, range) in operands.iter().enumerate() {
        let ty = site.operand(i).element_type().ok_or_else(|| site.unsupported("a tuple"))?;
        let middle = if is_whole(ty) { range.lo.clone() } else { range.mids() };
        values.push(converted(&middle, ty));
    }
    let count = operands[0].lo.len();
    let dims = operands[0].shape().map(|shape| shape.dims.clone()).unwrap_or_default();
    let positions =
        (0..i32::try_from(count).map_err(|_| site.unsupported("its size"))?).collect::<Vec<_>>();
    values.push(Literal::from_slice(&dims, &positions));
    let result = ev.runner.run(ev.module, &site.key(Form::WithPositions), &values)?;
    let leaves = result.leaves();
    let last = leaves.last().and_then(|leaf| leaf.as_slice::<i32>()).unwrap_or_default();
    debug_assert_eq!(last.len(), rows.len() * steps.len());
    Ok(last.iter().map(|&i| usize::try_from(i).unwrap_or(0)).collect())
}

/// An element of a row, and the group of elements of the row whose order is open.
#[derive(Clone, Copy, Default)]
struct Member {
    row: usize,
    own: usize,
    first: usize,
    last: usize,
}

/// Returns the groups of elements of a row, of few elements or of known ones.
fn open_orders(own: &Range, rows: &[usize], steps: &[usize], joined: &[bool]) -> Vec<OpenOrder> {
    let gaps = steps.len() - 1;
    let mut orders = Vec::new();
    for (&row, joined) in rows.iter().zip(joined.chunks(gaps)) {
        let mut first = 0;
        while first < steps.len() {
            let last = first + joined[first..].iter().take_while(|&&joined| joined).count();
            let count = last - first + 1;
            let few = count <= candidates::MOST;
            if count > 1 && (few || own.is_point()) {
                let positions: Vec<usize> = steps[first..=last].iter().map(|s| row + s).collect();
                let lanes = i64::try_from(count).unwrap_or(0);
                let members = picked(own, lanes, positions.iter().copied());
                orders.push(OpenOrder { positions, members });
            }
            first = last + 1;
        }
    }
    orders
}

/// Gives the elements of each group of a row the values of all of them.
fn shared(range: &Range, rows: &[usize], steps: &[usize], joined: &[bool]) -> Range {
    let gaps = steps.len() - 1;
    let mut members = vec![Member::default(); range.lo.len()];
    let mut most = 1;
    for (r, &row) in rows.iter().enumerate() {
        let joined = &joined[r * gaps..(r + 1) * gaps];
        let mut first = 0;
        while first < steps.len() {
            let last = first + joined[first..].iter().take_while(|&&joined| joined).count();
            for own in first..=last {
                members[row + steps[own]] = Member { row, own, first, last };
            }
            most = most.max(last - first + 1);
            first = last + 1;
        }
    }
    let Some(shape) = range.shape() else { return range.clone() };
    let taken = |from: &Range, member: &dyn Fn(Member) -> usize| {
        let at = members.iter().map(|&m| m.row + steps[member(m).min(m.last)]);
        reshaped(&picked(from, shape.dims.iter().product(), at), shape)
    };
    if most <= candidates::MOST {
        let ranges = (0..most).map(|k| taken(range, &|m| m.first + k));
        return Range::any_of(&ranges.collect::<Vec<_>>());
    }
    // The values of each element and those that follow it, twice as many in each round.
    let (mut hull, mut reach) = (range.clone(), 1);
    while reach < most {
        hull = hull.hull(&taken(&hull, &|m| m.own + reach));
        reach *= 2;
    }
    taken(&hull, &|m| m.first)
}
