//! Ranges of scatters, whatever the order of the updates of one element.
use super::candidates::MOST;
use super::combine::Combine;
use super::control::any_of;
use super::evaluate::{Evaluator, Leaves, arrays, unknown};
use super::fold::{Fold, check_size, element_at, lanes_of, picked, repeated, reshaped};
use super::initial::Initial;
use super::interval::Interval;
use super::modes::Mode;
use super::open_indices::{Choices, choices};
use super::product::product;
use super::range::{Range, array, is_whole};
use super::site::Site;
use super::sum::{Sum, Terms};
use super::sums::{all_points, coarser, leaf_shape, rounded_selection, total};
use super::{Stop, initial};
use crate::error_model::roundoff;
use hlo::op::{Binary, Scatter, SelectAndScatter};
use hlo::{ArrayShape, Dims, ElementType, IndexSpace, Literal, Op, Scalar};
use std::collections::HashSet;

pub(super) fn scatter<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &Scatter,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    let count = operands.len() / 2;
    let indices = operands[count];
    if indices.is_point() {
        return of_indices(ev, site, op, &operands);
    }
    let shapes = operands[0].shape().zip(operands[count + 1].shape());
    let choices = shapes.and_then(|(target, source)| choices(op, target, indices, source));
    let cause = indices.cause.clone().or_else(|| Some(site.cause()));
    let Some(Choices { indices, unknown: open, touched }) = choices else {
        return Ok(unknown(site, cause));
    };
    let each = |indices: Literal| {
        let indices = Range::point(indices);
        let chosen = (0..).zip(&operands).map(|(i, &x)| if i == count { &indices } else { x });
        of_indices(ev, site, op, &chosen.collect::<Vec<_>>())
    };
    let results: Vec<Leaves> = indices.into_iter().map(each).collect::<Result<_, _>>()?;
    let known = |(leaf, range): (usize, Range)| {
        let any = Range::any(&leaf_shape(site, leaf)?);
        Ok(any.where_else(&range, |at| open.contains(&at)).because(cause.clone()))
    };
    let any: Leaves =
        any_of(&results).into_iter().enumerate().map(known).collect::<Result<_, _>>()?;
    // An update is made at one of its places.
    let results = results.into();
    let places = touched.into_iter().map(|places| places.difference(&open).copied().collect());
    Ok(places.fold(any, |any, places| ev.decisions.decided(any, &results, Some(places))))
}

/// Returns the legal values of a scatter whose indices are known.
fn of_indices<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &Scatter,
    operands: &[&Range],
) -> Result<Leaves, Stop> {
    let targets = targets(site, op, operands)?;
    let results = of_targets(ev, site, op, operands, &targets)?;
    // Of a window that is partly outside, XLA skips all elements, StableHLO those outside.
    let partly: HashSet<usize> = targets.iter().filter_map(|target| target.partly()).collect();
    if partly.is_empty() {
        return Ok(results);
    }
    let open = |(leaf, range): (usize, Range)| {
        let any = Range::any(&leaf_shape(site, leaf)?).because(Some(site.cause()));
        Ok(any.where_else(&range, |at| partly.contains(&at)))
    };
    results.into_iter().enumerate().map(open).collect()
}

/// Where the element of an update goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    /// To this element.
    At(usize),
    /// To this element, but other elements of its window are outside.
    Partly(usize),
    Outside,
}

impl Target {
    fn at(self) -> Option<usize> {
        if let Self::At(at) = self { Some(at) } else { None }
    }
    /// Returns the element that it may go to.
    pub(super) fn place(self) -> Option<usize> {
        self.at().or(self.partly())
    }
    fn partly(self) -> Option<usize> {
        if let Self::Partly(at) = self { Some(at) } else { None }
    }
}

/// Returns the legal values of a scatter in which the windows that are partly outside are skipped.
fn of_targets<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &Scatter,
    operands: &[&Range],
    targets: &[Target],
) -> Result<Leaves, Stop> {
    let count = operands.len() / 2;
    let indices = operands[count];
    let combines = Combine::of(ev.module, op.to_apply);
    let exact = |op: &Combine| match *op {
        Combine::Op(op, ty) => op.opcode().associates(ty),
        Combine::Less(_) => true,
        Combine::Second | Combine::Selects | Combine::Other => false,
    };
    let whole = |range: &&Range| range.shape().is_some_and(|shape| is_whole(shape.ty));
    if operands.iter().all(whole) && all_points(operands) && combines.iter().all(exact) {
        return ev.stated(site, operands);
    }
    let targets: Vec<Option<usize>> = targets.iter().map(|target| target.at()).collect();
    let mut counts = vec![0.0; operands[0].lo.len()];
    targets.iter().flatten().for_each(|&lane| counts[lane] += 1.0);
    let most = counts.iter().copied().fold(0.0, f64::max);
    let mut applied: Option<Leaves> = None;
    let mut results = Vec::with_capacity(count);
    for (leaf, &combine) in combines.iter().enumerate().take(count) {
        let shape = leaf_shape(site, leaf)?;
        let own = [operands[leaf], indices, operands[count + 1 + leaf]];
        let real = shape.ty.is_float();
        let range = match combine {
            Combine::Op(Binary::Add, ty) if !is_whole(shape.ty) => {
                total(ev, site, leaf, ty, &own, [most, 1.0])?
            }
            Combine::Less(ty) if !is_whole(shape.ty) => {
                let updates = negated(own[2]);
                total(ev, site, leaf, ty, &[own[0], indices, &updates], [most, 1.0])?
            }
            Combine::Op(Binary::Multiply, ty)
                if !is_whole(shape.ty) && ev.modes.has(Mode::SummationOrder) =>
            {
                let fold = updates(site, operands, &targets)?;
                reshaped(&product(ev, &fold, leaf, coarser(ty, shape.ty), shape.ty), &shape)
            }
            Combine::Op(op @ (Binary::Maximum | Binary::Minimum), ty) if real => {
                let selected = ev.monotone(site, op, leaf, &own)?;
                rounded_selection(ev, (ty, &shape), selected, |_| Ok(counts.clone()))?
            }
            Combine::Op(..)
            | Combine::Second
            | Combine::Selects
            | Combine::Less(_)
            | Combine::Other => {
                if applied.is_none() {
                    let fold = updates(site, operands, &targets)?;
                    applied = Some(in_any_order(ev, site, op, &fold, &combines, &counts)?);
                }
                let all = applied.as_ref().map_or_else(Range::nothing, |all| all[leaf].clone());
                reshaped(&all, &shape)
            }
        };
        let cause = own.iter().find_map(|range| range.cause.clone());
        results.push(range.because(cause));
    }
    Ok(results)
}

/// Returns the result of the computation for all updates of each element.
///
/// Their order is implementation-defined: of overwriting updates any may be the last one, and of
/// those of a computation that rounds nothing is known.
fn in_any_order<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &Scatter,
    fold: &Fold<'_>,
    combines: &[Combine],
    counts: &[f64],
) -> Result<Leaves, Stop> {
    let several = |lane: usize| counts[lane] > 1.0;
    let open = (0..counts.len()).any(several).then(|| site.cause());
    let because = |leaves: Leaves| -> Leaves {
        leaves.into_iter().map(|range| range.because(open.clone())).collect()
    };
    if combines.iter().all(|&combine| combine == Combine::Second) {
        let mut results = Vec::new();
        for at in &fold.steps {
            let step = fold.step(ev, op.to_apply, &fold.initial, at, false)?;
            // An element without this update has the first one, or its own value.
            let others = results.first().unwrap_or(&fold.initial);
            let taken = step
                .iter()
                .zip(others)
                .map(|(new, old)| new.where_else(old, |lane| at[lane].is_some()));
            results.push(taken.collect());
        }
        return Ok(if results.is_empty() {
            fold.initial.clone()
        } else {
            because(any_of(&results))
        });
    }
    if combines.iter().any(|combine| combine.has_a_tree()) {
        return fold.run_rounding(ev, op.to_apply, &site.cause());
    }
    Ok(because(fold.run(ev, op.to_apply, open.is_some())?))
}

/// Returns the negative numbers.
fn negated(range: &Range) -> Range {
    let Some(shape) = range.shape() else { return range.clone() };
    Range::given(shape, &range.intervals().map(|x| -x).collect::<Vec<_>>())
}

/// Returns the element of the operands that each update goes to.
fn targets(site: Site<'_>, op: &Scatter, operands: &[&Range]) -> Result<Vec<Target>, Stop> {
    let count = operands.len() / 2;
    let (Some(target), Some(source)) = (operands[0].shape(), operands[count + 1].shape()) else {
        return Err(site.unsupported("a tuple"));
    };
    let updates = 0..operands[count + 1].lo.len();
    let of = |update| target_of(op, target, &operands[count].lo, source, update);
    Ok(updates.map(|update| of(update).unwrap_or(Target::Outside)).collect())
}

/// Returns the updates as a fold over the elements of the operands: step k takes the k-th update of
/// each element.
fn updates<'a>(
    site: Site<'_>,
    operands: &[&'a Range],
    targets: &[Option<usize>],
) -> Result<Fold<'a>, Stop> {
    let count = operands.len() / 2;
    let lanes = operands[0].shape().map_or(0, lanes_of);
    let vector = |range: &&Range| match range.shape() {
        Some(shape) => reshaped(range, &ArrayShape::new(shape.ty, [lanes].as_slice())),
        None => (*range).clone(),
    };
    let mut taken = vec![0usize; operands[0].lo.len()];
    let mut steps: Vec<Vec<Option<usize>>> = Vec::new();
    for (update, &target) in targets.iter().enumerate() {
        let Some(lane) = target else { continue };
        let step = taken[lane];
        taken[lane] += 1;
        if step == steps.len() {
            check_size(site, [lanes, i64::try_from(step).unwrap_or(i64::MAX)])?;
            steps.push(vec![None; taken.len()]);
        }
        steps[step][lane] = Some(update);
    }
    let initial = operands[..count].iter().map(vector).collect();
    Ok(Fold { initial, sources: operands[count + 1..].to_vec(), lanes, steps })
}

fn place(dim: i64) -> Option<usize> {
    usize::try_from(dim).ok()
}

/// Returns the index of an update without the dimensions of its window.
fn batch_of(op: &Scatter, source: &ArrayShape, update: usize) -> Vec<i64> {
    let index = source.dims.index_of(update);
    let is_window = |d: &usize| op.update_window_dims.iter().any(|&w| place(w) == Some(*d));
    (0..index.len()).filter(|d| !is_window(d)).map(|d| index[d]).collect()
}

/// Returns where the indices of an update are.
pub(super) fn index_positions(
    op: &Scatter,
    indices: &ArrayShape,
    source: &ArrayShape,
    update: usize,
) -> Option<Vec<usize>> {
    let (batch, vector) = (batch_of(op, source, update), place(op.index_vector_dim)?);
    let position = |(k, _)| {
        let mut at = batch.clone();
        if vector < indices.rank() {
            at.insert(vector, k);
        }
        indices.dims.position(&at)
    };
    Some((0..).zip(&op.scatter_dims_to_operand_dims).map(position).collect())
}

/// Returns the size of a window in each dimension of the operand, and the dimension of the updates
/// along which it lies, if it does along one.
pub(super) fn windows(
    op: &Scatter,
    target: &ArrayShape,
    source: &ArrayShape,
) -> Option<Vec<(Option<usize>, i64)>> {
    let mut windows = vec![(None, 1i64); target.rank()];
    let outside =
        |d: i64| op.inserted_window_dims.contains(&d) || op.input_batching_dims.contains(&d);
    let dims = (0..i64::try_from(target.rank()).ok()?).filter(|&d| !outside(d));
    for (d, &from) in dims.zip(&op.update_window_dims) {
        windows[place(d)?] = (Some(place(from)?), source.dims[place(from)?]);
    }
    Some(windows)
}

/// Returns the element of the operand that an update goes to; `None` if its window is out of
/// bounds.
pub(super) fn target_of(
    op: &Scatter,
    target: &ArrayShape,
    indices: &Literal,
    source: &ArrayShape,
    update: usize,
) -> Option<Target> {
    let (index, batch) = (source.dims.index_of(update), batch_of(op, source, update));
    let mut corner = vec![0i64; target.rank()];
    let positions = index_positions(op, indices.array_shape()?, source, update)?;
    for (&dim, at) in op.scatter_dims_to_operand_dims.iter().zip(positions) {
        corner[place(dim)?] = indices.get(at).as_i64()?;
    }
    for (&dim, &paired) in op.input_batching_dims.iter().zip(&op.scatter_indices_batching_dims) {
        let at = place(if paired > op.index_vector_dim { paired - 1 } else { paired })?;
        corner[place(dim)?] = batch[at];
    }
    let windows = windows(op, target, source)?;
    let fits = |d: usize| (0..=target.dims[d] - windows[d].1).contains(&corner[d]);
    let offset = |from: Option<usize>| from.map_or(0, |from| index[from]);
    let to: Dims = corner.iter().zip(&windows).map(|(at, &(from, _))| at + offset(from)).collect();
    let is_inside = to.iter().zip(&target.dims).all(|(at, size)| (0..*size).contains(at));
    let at = is_inside.then(|| target.dims.position(&to))?;
    Some(if (0..target.rank()).all(fits) { Target::At(at) } else { Target::Partly(at) })
}

/// Returns for each element of the source the elements of the operand that its window may select.
fn selections<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &SelectAndScatter,
    operand: &Range,
    source: &ArrayShape,
) -> Result<Vec<Vec<usize>>, Stop> {
    let Some(shape) = operand.shape() else { return Err(site.unsupported("a tuple")) };
    let sizes: Dims = op.window.dims.iter().map(|dim| dim.size).collect();
    check_size(site, sizes.iter().chain(&source.dims).copied())?;
    let positions: Vec<Dims> = source.dims.indices().collect();
    let mut kept: Vec<Vec<usize>> = vec![Vec::new(); positions.len()];
    for offset in sizes.indices() {
        let at = |position| element_at(&op.window.dims, shape, position, &offset);
        let elements: Vec<Option<usize>> = positions.iter().map(|p| at(p)).collect();
        let steps = kept.iter().zip(&elements);
        let pairs = steps.flat_map(|(kept, &later)| {
            kept.iter().filter_map(move |&kept| later.map(|later| (kept, later)))
        });
        let pairs: Vec<(usize, usize)> = pairs.collect();
        let lanes = i64::try_from(pairs.len()).map_err(|_| site.unsupported("its size"))?;
        check_size(site, [lanes])?;
        let keeps = if pairs.is_empty() {
            Vec::new()
        } else {
            let first = picked(operand, lanes, pairs.iter().map(|pair| pair.0));
            let later = picked(operand, lanes, pairs.iter().map(|pair| pair.1));
            ev.call(op.select, vec![vec![first], vec![later]], Some(lanes))?
        };
        let may = |pair: usize, keep| keeps[0].holds_whole(pair, Scalar::Pred(keep));
        let mut pair = 0..pairs.len();
        for (kept, later) in kept.iter_mut().zip(elements) {
            let Some(later) = later else { continue };
            let mut replaced = kept.is_empty();
            kept.retain(|_| {
                let pair = pair.next().unwrap_or(0);
                replaced |= may(pair, false);
                may(pair, true)
            });
            if replaced {
                kept.push(later);
            }
        }
    }
    Ok(kept)
}

/// Returns the legal values of the gradient of pooling: the elements are selected by comparisons,
/// and the sources are added.
pub(super) fn select_and_scatter<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    let Op::SelectAndScatter(op) = &site.instruction().op else {
        return Err(site.unsupported("this op"));
    };
    let real = site.shape()?.ty.is_float();
    let combine = Combine::of(ev.module, op.scatter).first().copied().unwrap_or(Combine::Other);
    let kind = Initial::of(combine, operands[2]);
    // Where an element is in the computation decides, of an initial value as of a source.
    let once = matches!(kind, Initial::Neutral) && !combine.has_a_tree();
    let adds = matches!(combine, Combine::Op(Binary::Add, _));
    let whole = |range: &&Range| range.shape().is_some_and(|shape| is_whole(shape.ty));
    if !real && once && operands.iter().all(whole) {
        return ev.stated(site, &operands);
    }
    let Some(windows) = operands[1].shape() else { return Err(site.unsupported("a tuple")) };
    let selections = match selections(ev, site, op, operands[0], windows) {
        Err(Stop::NoRule(_)) => return Ok(unknown(site, Some(site.cause()))),
        selections => selections?,
    };
    let mut selected = vec![false; operands[0].lo.len()];
    selections.iter().flatten().for_each(|&at| selected[at] = true);
    let lanes = i64::try_from(selected.len()).map_err(|_| site.unsupported("its size"))?;
    let shape = site.shape()?;
    let alone = reshaped(&repeated(operands[2], lanes), &shape);
    let added =
        |initial: Interval, count: u32| added(ev, site, &selections, initial, count, operands[1]);
    let initial = operands[2].intervals().next().unwrap_or(Interval::ANY);
    let results = match kind {
        Initial::Neutral if real && adds => vec![added(initial, 1)?],
        Initial::Added if real => {
            let sums = (0..).take(MOST).map(|count| {
                let term = initial::times(operands[2], count);
                added(term.intervals().next().unwrap_or(Interval::ANY), count)
            });
            let mut sums: Vec<Range> = sums.collect::<Result<_, _>>()?;
            let last = sums.pop().map(|last| initial::and_more(&last, operands[2]));
            sums.extend(last);
            sums
        }
        Initial::Neutral if adds => return Err(site.unsupported("these elements")),
        // Nothing is known of the order in which an element takes its sources, or of how often it
        // takes the initial value.
        Initial::Neutral | Initial::Added | Initial::Few(_) | Initial::Repeated => {
            vec![Range::any(&shape)]
        }
    };
    let is_open = results.len() > 1 || selections.iter().any(|selected| selected.len() > 1);
    let cause = operands.iter().find_map(|range| range.cause.clone());
    let any = Range::any_of(&results);
    let any = any.where_else(&alone, |at| selected[at]);
    let open = is_open || any.intervals().any(Interval::is_any) || !real;
    Ok(vec![any.because(open.then(|| site.cause()).or(cause))])
}

/// Returns sums of an initial value, or of so many in one term, and the sources that each element of
/// the operand may have.
fn added<'m>(
    ev: &Evaluator<'m>,
    site: Site<'m>,
    selections: &[Vec<usize>],
    initial: Interval,
    count: u32,
    sources: &Range,
) -> Result<Range, Stop> {
    let shape = site.shape()?;
    let targets = shape.element_count().unwrap_or(0);
    let finite = |x: Interval| if x.is_finite() { x.max_abs() } else { 0.0 };
    let (mut ends, mut magnitudes) = (vec![initial; targets], vec![finite(initial); targets]);
    let mut terms = vec![Terms::term(initial); targets];
    let first = if initial.is_zero() { 0.0 } else { f64::from(count) };
    let mut counts = vec![first; targets];
    for (selected, x) in selections.iter().zip(sources.intervals()) {
        // Where the selection is open, an element has the source or not.
        let x = match selected.len() {
            0 | 1 => x,
            _ if x.is_finite() => Interval { lo: x.lo.min(0.0), hi: x.hi.max(0.0) },
            _ => Interval::ANY,
        };
        for &at in selected {
            ends[at] = Interval { lo: ends[at].lo + x.lo, hi: ends[at].hi + x.hi };
            magnitudes[at] += finite(x);
            terms[at] = terms[at].join(Terms::term(x));
            counts[at] += if x.is_zero() { 0.0 } else { 1.0 };
        }
    }
    let wide = shape.with_type(ElementType::F64);
    let sum = Sum {
        lo: array(&wide, ends.iter().map(|x| x.lo)),
        hi: array(&wide, ends.iter().map(|x| x.hi)),
        magnitudes: array(&wide, magnitudes),
        specials: None,
        // The sum begins with 0 or its first term.
        roundings: counts.iter().map(|count| (count - 1.0).max(0.0)).collect(),
        products: false,
        accumulator: shape.ty,
        unit: roundoff(shape.ty),
        terms,
    };
    Ok(sum.range(ev, site, &shape))
}
