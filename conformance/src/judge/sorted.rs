//! Results of sorts that a module returns: whatever the errors of the keys, a backend sorts its own
//! values, and those that it returns are in their order.
use super::Stop;
use super::evaluate::{Evaluator, Leaves};
use super::fold::picked;
use super::modes::smallest_normal;
use super::range::Range;
use super::verdict::same;
use hlo::ir::{Computation, ComputationId, InstructionId};
use hlo::{Literal, Module, Op, Scalar};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// An operand of a sort, in the order of its comparator.
#[derive(Debug, Clone)]
pub(super) struct Sorted {
    /// The number of the sort, which its operands share.
    pub(super) decision: u32,
    pub(super) operand: usize,
    pub(super) order: Order,
    pub(super) rows: Arc<[usize]>,
    pub(super) steps: Arc<[usize]>,
}

/// Which of two elements is the first.
#[derive(Debug, Clone, Copy)]
pub(super) enum Order {
    /// The one of which a comparator says so.
    Comparator(ComputationId),
    /// The larger number, or the smaller one.
    Larger(bool),
}

/// Returns for each leaf of a result the positions of elements that are certainly in the wrong order.
pub(super) fn disordered(
    ev: &mut Evaluator<'_>,
    ranges: &[Range],
    result: &Literal,
) -> Vec<HashSet<usize>> {
    let mut sorts: BTreeMap<u32, Vec<(usize, &Sorted)>> = BTreeMap::new();
    for (leaf, range) in ranges.iter().enumerate() {
        if let Some(sorted) = &range.sorted {
            sorts.entry(sorted.decision).or_default().push((leaf, sorted));
        }
    }
    let mut disordered = vec![HashSet::new(); ranges.len()];
    let leaves = result.leaves();
    for operands in sorts.values() {
        let wrong = exchanged(ev, operands, &leaves).ok().flatten().unwrap_or_default();
        for &(leaf, _) in operands {
            disordered[leaf].extend(wrong.iter().copied());
        }
    }
    disordered
}

/// Adds the positions of elements of a value that the result of a module of one device has twice, as
/// different ones.
pub(super) fn add_unequal(module: &Module, result: &Literal, found: &mut [HashSet<usize>]) {
    let entry = module.entry();
    let root = &entry.instructions[entry.root];
    let places = root.shape.leaves().len();
    let mut first: HashMap<(InstructionId, usize), usize> = HashMap::new();
    let leaves = result.leaves();
    if !matches!(root.op, Op::Tuple(_)) || leaves.len() != places {
        return;
    }
    let parts = root.operands.iter().flat_map(|&part| {
        (0..entry.instructions[part].shape.leaves().len()).map(move |leaf| (part, leaf))
    });
    for (leaf, part) in parts.enumerate() {
        let twin = *first.entry(part).or_insert(leaf);
        let (own, other) = (leaves[leaf], leaves[twin]);
        if own.len() == other.len() {
            let differs = |&at: &usize| !same(own.get(at), other.get(at));
            let positions: Vec<usize> = (0..own.len()).filter(differs).collect();
            found[leaf].extend(&positions);
            found[twin].extend(&positions);
        }
    }
}

/// Returns the positions of neighbors of which the second is certainly before the first one; `None` if
/// the comparator reads what is not in the result.
fn exchanged(
    ev: &mut Evaluator<'_>,
    operands: &[(usize, &Sorted)],
    leaves: &[&Literal],
) -> Result<Option<Vec<usize>>, Stop> {
    let Some((leaf, first)) = operands.first() else { return Ok(None) };
    let (rows, steps) = (&first.rows, &first.steps);
    let at = |from: usize| {
        let steps = &steps[from..steps.len() - 1 + from];
        rows.iter().flat_map(move |&row| steps.iter().map(move |&step| row + step))
    };
    let comparator = match first.order {
        Order::Comparator(comparator) => comparator,
        Order::Larger(is_larger) => {
            let Some(values) = leaves.get(*leaf) else { return Ok(None) };
            let number = |at: usize| values.get(at).as_f64();
            let least = values.array_shape().map_or(0.0, |shape| smallest_normal(shape.ty));
            // A NaN is before or after all numbers, and denormals may be compared as 0.
            let is_other = |&(a, b): &(usize, usize)| {
                let (a, b) =
                    if is_larger { (number(b), number(a)) } else { (number(a), number(b)) };
                a > b && a.abs().max(b.abs()) >= least
            };
            let pairs = at(0).zip(at(1)).filter(is_other);
            return Ok(Some(pairs.flat_map(|(a, b)| [a, b]).collect()));
        }
    };
    let lanes = i64::try_from(at(0).count()).unwrap_or(0);
    let computation = &ev.module.computations[comparator];
    let mut pairs: Vec<[Leaves; 2]> = Vec::new();
    for operand in 0..computation.parameters().len() / 2 {
        let shown = operands.iter().find(|(_, sorted)| sorted.operand == operand);
        let values = match shown.and_then(|(leaf, _)| leaves.get(*leaf)) {
            Some(values) => Range::exact(values),
            None if !reads(computation, operand) => {
                pairs.push([(); 2].map(|()| vec![Range::nothing()]));
                continue;
            }
            None => return Ok(None),
        };
        pairs.push([0, 1].map(|from| vec![picked(&values, lanes, at(from))]));
    }
    let exchanged = pairs.iter().flat_map(|[a, b]| [b.clone(), a.clone()]).collect();
    let backward = ev.call(comparator, exchanged, Some(lanes))?;
    let forward = ev.call(comparator, pairs.into_iter().flatten().collect(), Some(lanes))?;
    // A comparator that is no strict order, such as `<=`, may say that each is before the other.
    let is_certain = |i: usize| {
        backward[0].ends(i).0 == Scalar::Pred(true) && forward[0].ends(i).1 == Scalar::Pred(false)
    };
    let pairs = at(0).zip(at(1)).enumerate().filter(|&(i, _)| is_certain(i));
    Ok(Some(pairs.flat_map(|(_, (a, b))| [a, b]).collect()))
}

/// Returns whether a comparator reads the elements of an operand.
fn reads(computation: &Computation, operand: usize) -> bool {
    let of =
        |op: &Op| matches!(op, Op::Parameter(p) if usize::try_from(p.number / 2) == Ok(operand));
    let mut all = computation.instructions.iter().flat_map(|(_, user)| user.operands.iter());
    all.any(|&id| of(&computation.instructions[id].op))
}
