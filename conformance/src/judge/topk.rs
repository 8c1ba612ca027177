//! Ranges of `topk`: values by rank, and indices where the order is certain.
use super::evaluate::{Evaluator, Leaves, arrays};
use super::integers;
use super::interval::Interval;
use super::open_order::OpenOrder;
use super::range::Range;
use super::range::is_whole;
use super::site::Site;
use super::sorted::{Order, Sorted};
use super::{Stop, candidates};
use hlo::op::TopK;
use hlo::{ArrayShape, ElementType, Scalar};

pub(super) fn topk<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &TopK,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    if operands[0].shape().is_some_and(|shape| is_whole(shape.ty)) {
        return ev.stated(site, &operands);
    }
    // Denormals may be compared as 0.
    let ty = site.operand(0).element_type().ok_or_else(|| site.unsupported("this op"))?;
    let flushed = operands[0].flushed(ty, ev.modes, false);
    let operand = flushed.as_ref().unwrap_or(operands[0]);
    let all: Vec<Interval> = operand.intervals().collect();
    if operand.is_point() && !all.iter().any(|x| x.has_open_sign()) {
        return ev.stated(site, &operands);
    }
    let [values, indices] = site.instruction().shape.tuple().unwrap_or_default() else {
        return Err(site.unsupported("this op"));
    };
    let [Some(values), Some(indices)] = [values.array(), indices.array()] else {
        return Err(site.unsupported("this op"));
    };
    let k = usize::try_from(op.k).unwrap_or(0);
    let row = operands[0].shape().and_then(|shape| shape.dims.last().copied()).unwrap_or(1);
    let row = usize::try_from(row).unwrap_or(1).max(1);
    let (mut sets, mut ranks) = (Vec::new(), Vec::new());
    for row in all.chunks(row) {
        // The largest first.
        let sign = |x: Interval| if op.largest { x } else { -x };
        let row: Vec<Interval> = row.iter().map(|&x| sign(x)).collect();
        let (values, row_ranks) = ranked_or_loose(&row);
        let signed = |set: Vec<Interval>| set.into_iter().map(sign).collect::<Vec<_>>();
        sets.extend(values.into_iter().take(k).map(signed));
        ranks.extend(row_ranks.into_iter().take(k));
    }
    let undecided = ranks.iter().any(|rank| rank.len() > 1 || rank[0].0 != rank[0].1);
    let cause = operands[0].cause.clone().or_else(|| undecided.then(|| site.cause()));
    let index = |i: usize| Scalar::Signed(i64::try_from(i).unwrap_or(0));
    let most = ranks.iter().map(Vec::len).max().unwrap_or(1);
    let nth = |k: usize| {
        let of = |rank: &Vec<Span>| rank[k.min(rank.len() - 1)];
        let ends = ranks.iter().map(of).map(|(first, last)| (index(first), index(last)));
        integers::range(indices, ends)
    };
    let ty = indices.ty;
    let orders = open_orders(&ranks, k.min(row).max(1), index, ty);
    // The indices of a rank differ: each is a candidate.
    let candidates = if most > 1 { (0..most).map(nth).collect() } else { Vec::new() };
    let hull = ranks.iter().map(|rank| {
        let first = rank.iter().map(|&(first, _)| first).min().unwrap_or(0);
        let last = rank.iter().map(|&(_, last)| last).max().unwrap_or(0);
        (index(first), index(last))
    });
    let indices = Range { candidates, orders, ..integers::range(indices, hull) };
    let of_row = k.min(row).max(1);
    let sorted = Sorted {
        decision: ev.decisions.next(),
        operand: 0,
        order: Order::Larger(op.largest),
        rows: (0..sets.len()).step_by(of_row).collect(),
        steps: (0..of_row).collect(),
    };
    let values = Range::of_sets(values, &sets).because(cause.clone());
    Ok(vec![Range { sorted: Some(sorted), ..values }, indices.because(cause)])
}

/// The most pairs of a rank and an index that it may have, of which each index is one's at most.
const MOST_PLACES: usize = 1 << 16;

/// Returns the ranks of each row that share a few indices, or those of a short span, of which each has
/// another one.
fn open_orders(
    ranks: &[Vec<Span>],
    of_row: usize,
    index: impl Fn(usize) -> Scalar,
    ty: ElementType,
) -> Vec<OpenOrder> {
    let mut orders: Vec<OpenOrder> = Vec::new();
    let mut start = 0;
    for group in ranks.chunks(of_row).flat_map(|row| row.chunk_by(|a, b| a == b)) {
        let members: Vec<usize> = match group[0].as_slice() {
            &[(first, last)] if (last - first) * group.len() < MOST_PLACES => {
                (first..=last).collect()
            }
            few if few.len() > 1 && few.iter().all(|(first, last)| first == last) => {
                few.iter().map(|&(first, _)| first).collect()
            }
            _ => Vec::new(),
        };
        if members.len() > 1 {
            let shape = ArrayShape::new(ty, [i64::try_from(members.len()).unwrap_or(0)].as_slice());
            let ends = members.iter().map(|&i| (index(i), index(i)));
            let members = integers::range(&shape, ends);
            orders.push(OpenOrder { positions: (start..start + group.len()).collect(), members });
        }
        start += group.len();
    }
    orders
}

/// Indices from the first to the last.
type Span = (usize, usize);

/// As [`ranked`], of a row that may have NaNs: one that was computed has no certain sign, and is
/// before or after all numbers. An element of which nothing is known is anywhere.
fn ranked_or_loose(row: &[Interval]) -> (Vec<Vec<Interval>>, Vec<Vec<Span>>) {
    let is_loose = |x: &Interval| x.is_any() || x.is_nan();
    let of = |loose: bool| (0..row.len()).filter(|&i| is_loose(&row[i]) == loose).collect();
    let (loose, known): (Vec<usize>, Vec<usize>) = (of(true), of(false));
    let numbers: Vec<Interval> = known.iter().map(|&i| row[i]).collect();
    let (values, ranks) = ranked(&numbers);
    if loose.is_empty() {
        return (values.into_iter().map(|x| vec![x]).collect(), ranks);
    }
    if loose.len() > candidates::MOST {
        let any = (vec![Interval::ANY], vec![(0, row.len() - 1)]);
        return row.iter().map(|_| any.clone()).unzip();
    }
    let (mut sets, mut all_ranks) = (Vec::new(), Vec::new());
    let anywhere = loose.iter().any(|&i| row[i].is_any());
    for rank in 0..row.len() {
        // As many of the others as may be before it.
        let first = rank.saturating_sub(loose.len());
        let last = (rank + 1).min(known.len());
        let is_end = rank < loose.len() || rank + loose.len() >= row.len();
        let near = &values[first.min(last)..last];
        let mut set = near.to_vec();
        let hull = near.iter().copied().reduce(Interval::hull);
        match (anywhere, is_end) {
            (true, true) => set = vec![Interval::ANY],
            (true, false) => set = hull.into_iter().collect(),
            (false, true) => set.push(Interval::NAN),
            (false, false) => {}
        }
        if set.len() > candidates::MOST {
            set = vec![Interval::ANY];
        }
        let spans = ranks[first.min(last)..last].iter().flatten();
        let mut spans: Vec<Span> = spans.map(|&(a, b)| (known[a], known[b])).collect();
        if anywhere || is_end {
            spans.extend(loose.iter().map(|&i| (i, i)));
        }
        spans.sort_unstable();
        spans.dedup();
        if spans.len() > candidates::MOST {
            let last = spans.iter().map(|&(_, last)| last).max().unwrap_or(0);
            spans = vec![(spans[0].0, last)];
        }
        sets.push(set);
        all_ranks.push(spans);
    }
    (sets, all_ranks)
}

/// Returns the values of a row from the largest on, and the indices that each may come from: from
/// the first to the last of each pair.
fn ranked(row: &[Interval]) -> (Vec<Interval>, Vec<Vec<Span>>) {
    let by = |key: fn(&Interval) -> f64| {
        let mut keys: Vec<f64> = row.iter().map(key).collect();
        keys.sort_by(|a, b| b.total_cmp(a));
        keys
    };
    // Each value by rank changes by no more than the values do.
    let ends = by(|x| x.lo).into_iter().zip(by(|x| x.hi));
    let values = ends.map(|(lo, hi)| Interval::closed(lo, hi)).collect();
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|&a, &b| row[b].mid().total_cmp(&row[a].mid()));
    // The greatest value of each element and those after it.
    let mut greatest: Vec<f64> = order.iter().map(|&i| row[i].hi).collect();
    for k in (1..greatest.len()).rev() {
        greatest[k - 1] = greatest[k - 1].max(greatest[k]);
    }
    let mut ranks = Vec::with_capacity(row.len());
    while ranks.len() < order.len() {
        // Elements that overlap, directly or through others, may be in any order.
        let start = ranks.len();
        let (mut end, mut least) = (start + 1, row[order[start]].lo);
        while end < order.len() && greatest[end] >= least {
            least = least.min(row[order[end]].lo);
            end += 1;
        }
        let group = &order[start..end];
        let tie = group.iter().all(|&i| row[i].is_point() && row[i].same(row[group[0]]));
        let bounds =
            (group.iter().min().copied().unwrap_or(0), group.iter().max().copied().unwrap_or(0));
        let each = || group.iter().map(|&i| (i, i)).collect();
        let any = if group.len() > candidates::MOST { vec![bounds] } else { each() };
        // Equal elements keep their order.
        ranks.extend(group.iter().map(|&i| if tie { vec![(i, i)] } else { any.clone() }));
    }
    (values, ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_elements_have_no_certain_rank() {
        let of = |lo: f64, hi: f64| Interval { lo, hi };
        let row =
            [of(1.0, 1.2), of(5.0, 5.1), of(1.1, 1.4), Interval::point(0.5), Interval::point(0.5)];
        let (values, ranks) = ranked(&row);
        let point = |i| vec![(i, i)];
        let open = vec![(2, 2), (0, 0)];
        assert_eq!(ranks, [point(1), open.clone(), open, point(3), point(4)]);
        assert!(values[1].lo < 1.1 && values[1].hi > 1.4 && values[3].is_point());
    }
}
