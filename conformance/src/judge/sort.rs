//! Ranges of `sort`: elements whose order rounding errors, or ties, leave open share their values.
use super::Stop;
use super::evaluate::{Evaluator, Leaves, Site, arrays};
use super::fold::{offsets, picked, reshaped};
use super::interval::Interval;
use super::range::is_whole;
use super::range::{Range, converted};
use super::runner::Form;
use hlo::op::Sort;
use hlo::{Literal, Scalar};

pub(super) fn sort<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &Sort,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    let Some(comparator) = op.to_apply else {
        return Err(site.unsupported("a sort without a comparator"));
    };
    let shape = operands[0].shape().ok_or_else(|| site.unsupported("a tuple"))?;
    let dim = op.dimension(shape.rank());
    let Some(&size) = shape.dims.get(dim) else { return Err(site.unsupported("a scalar")) };
    let rows = offsets(shape, |d| d != dim);
    let steps = offsets(shape, |d| d == dim);
    // The position of each element of the result: sorted by the middles, with their positions beside them.
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
    let count = rows.len() * (steps.len() - 1);
    let lanes = i64::try_from(count).map_err(|_| site.unsupported("its size"))?;
    let at = |from: usize| {
        let (rows, steps) = (&rows, &steps);
        rows.iter().flat_map(move |&row| {
            steps[from..steps.len() - 1 + from].iter().map(move |&step| row + step)
        })
    };
    let [left, right]: [Leaves; 2] =
        [0, 1].map(|from| sorted.iter().map(|range| picked(range, lanes, at(from))).collect());
    let mut before = |a: &Leaves, b: &Leaves| {
        let pairs = a.iter().zip(b).flat_map(|(a, b)| [vec![a.clone()], vec![b.clone()]]);
        ev.call(comparator, pairs.collect(), Some(lanes))
    };
    let forward = before(&left, &right)?;
    let backward = before(&right, &left)?;
    let [forward, backward] = [&forward[0], &backward[0]];
    let certain = |i: usize| match (forward.ends(i), backward.ends(i)) {
        ((Scalar::Pred(true), _), (_, Scalar::Pred(false))) => true,
        // A tie keeps its order if the sort is stable.
        ((_, Scalar::Pred(false)), (_, Scalar::Pred(false))) => op.is_stable,
        _ => false,
    };
    let joined: Vec<bool> = (0..count).map(|i| !certain(i)).collect();
    if joined.contains(&true) {
        let cause = Some(site.cause());
        for range in &mut sorted {
            *range = shared(range, &rows, &steps, &joined).because(cause.clone());
        }
    }
    Ok(sorted)
}

/// The position, in the operands, of each element of the result.
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

/// Gives the elements of each group of a row the values of all of them.
fn shared(range: &Range, rows: &[usize], steps: &[usize], joined: &[bool]) -> Range {
    let mut result = range.clone();
    let gaps = steps.len() - 1;
    let Some(shape) = range.shape() else { return result };
    let floats = !is_whole(shape.ty);
    let parts: Vec<Interval> = range.intervals().collect();
    let width = if shape.ty.is_complex() { 2 } else { 1 };
    let mut real = parts.clone();
    let mut whole: Vec<(Scalar, Scalar)> =
        if floats { Vec::new() } else { (0..range.lo.len()).map(|i| range.ends(i)).collect() };
    for (r, &row) in rows.iter().enumerate() {
        let joined = &joined[r * gaps..(r + 1) * gaps];
        let mut start = 0;
        while start < steps.len() {
            let length = joined[start..].iter().take_while(|&&joined| joined).count();
            let group = &steps[start..=start + length];
            start += length + 1;
            if length == 0 {
                continue;
            }
            let members = || group.iter().map(|step| row + step);
            if floats {
                for part in 0..width {
                    let hull = members().map(|i| parts[i * width + part]).reduce(Interval::hull);
                    members().for_each(|i| real[i * width + part] = hull.unwrap_or(Interval::ANY));
                }
            } else {
                let hull = members().map(|i| range.ends(i)).reduce(super::integers::hull);
                let Some(hull) = hull else { continue };
                members().for_each(|i| whole[i] = hull);
            }
        }
    }
    let shape = shape.clone();
    result = if floats {
        Range::of(&shape, &real)
    } else {
        super::integers::range(&shape, whole.into_iter())
    };
    result.because(range.cause.clone())
}
