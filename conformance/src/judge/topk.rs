//! Ranges of `topk`: values by rank, and indices where the order is certain.
use super::evaluate::{Evaluator, Leaves, arrays};
use super::integers;
use super::interval::Interval;
use super::open_order::OpenOrder;
use super::range::Range;
use super::range::is_whole;
use super::site::Site;
use super::{Stop, candidates};
use hlo::op::TopK;
use hlo::{ArrayShape, ElementType, Scalar};
use std::iter::repeat_n;

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
    let all: Vec<Interval> = operands[0].intervals().collect();
    let has_nan = |row: &[Interval]| row.iter().any(|x| x.is_any() || x.is_nan());
    if operands[0].is_point() && !all.iter().any(|x| x.has_open_sign()) {
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
    let (mut parts, mut ranks) = (Vec::new(), Vec::new());
    for row in all.chunks(row) {
        // A NaN that was computed has no certain sign: it may be the first or the last.
        if has_nan(row) {
            let count = k.min(row.len());
            parts.extend(repeat_n(Interval::ANY, count));
            ranks.extend(repeat_n(vec![(0, row.len() - 1)], count));
            continue;
        }
        // The largest first.
        let row: Vec<Interval> = row.iter().map(|&x| if op.largest { x } else { -x }).collect();
        let (row_values, row_ranks) = ranked(&row);
        let sign = |x: Interval| if op.largest { x } else { -x };
        parts.extend(row_values.into_iter().take(k).map(sign));
        ranks.extend(row_ranks.into_iter().take(k));
    }
    let undecided = ranks.iter().any(|rank| rank.len() > 1 || rank[0].0 != rank[0].1);
    let cause = operands[0].cause.clone().or_else(|| undecided.then(|| site.cause()));
    let index = |i: usize| Scalar::Signed(i64::try_from(i).unwrap_or(0));
    let most = ranks.iter().map(Vec::len).max().unwrap_or(1);
    let nth = |k: usize| {
        let of = |rank: &Vec<(usize, usize)>| rank[k.min(rank.len() - 1)];
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
    let values = Range::of(values, &parts).because(cause.clone());
    Ok(vec![values, indices.because(cause)])
}

/// Returns the ranks of each row that share a few indices, of which each has another one.
fn open_orders(
    ranks: &[Vec<(usize, usize)>],
    of_row: usize,
    index: impl Fn(usize) -> Scalar,
    ty: ElementType,
) -> Vec<OpenOrder> {
    let mut orders: Vec<OpenOrder> = Vec::new();
    let mut start = 0;
    for group in ranks.chunks(of_row).flat_map(|row| row.chunk_by(|a, b| a == b)) {
        let members = &group[0];
        if members.len() > 1 {
            let shape = ArrayShape::new(ty, [i64::try_from(members.len()).unwrap_or(0)].as_slice());
            let ends = members.iter().map(|&(first, last)| (index(first), index(last)));
            let members = integers::range(&shape, ends);
            orders.push(OpenOrder { positions: (start..start + group.len()).collect(), members });
        }
        start += group.len();
    }
    orders
}

/// Returns the values of a row from the largest on, and the indices that each may come from: from
/// the first to the last of each pair.
fn ranked(row: &[Interval]) -> (Vec<Interval>, Vec<Vec<(usize, usize)>>) {
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
