//! Ranges of reductions, of arrays and windows.
//!
//! [`Sum`] bounds sums, and [`product`] products, whatever the order of the terms.
use super::Stop;
use super::candidates::MOST;
use super::combine::Combine;
use super::elementwise::{broadcast, finite_magnitudes, has_specials, specials};
use super::evaluate::{Evaluator, Leaves, arrays};
use super::fold::{Fold, repeated, reshaped};
use super::initial::Initial;
use super::interval::Interval;
use super::modes::{Mode, truncated};
use super::product::product;
use super::products::{marked, nonzero};
use super::range::{Range, array, floats, floats_mut, is_whole};
use super::runner::Form;
use super::site::Site;
use super::sum::{Sum, Terms};
use super::{complex, initial};
use crate::error_model::roundoff;
use hlo::ir::ComputationId;
use hlo::op::{Binary, Reduce, ReduceWindow};
use hlo::{ArrayShape, ElementType, Literal, Op};

/// Returns the coarser of two types of floats.
pub(super) fn coarser(a: ElementType, b: ElementType) -> ElementType {
    if roundoff(a) > roundoff(b) { a } else { b }
}

impl<'m> Evaluator<'m> {
    /// Runs leaf `leaf` of an instruction on `f64` with a computation of one op in place of the one
    /// that it calls.
    pub(super) fn folded(
        &mut self,
        site: Site<'m>,
        op: Binary,
        leaf: usize,
        operands: &[Literal],
    ) -> Result<Literal, Stop> {
        self.runner.run(self.module, &site.key(Form::Fold(op, leaf)), operands)
    }
    /// Returns the result of an op that is monotone in all operands, applied to both ends.
    pub(super) fn monotone(
        &mut self,
        site: Site<'m>,
        op: Binary,
        leaf: usize,
        operands: &[&Range],
    ) -> Result<Range, Stop> {
        let ends = |end: fn(&Range) -> &Literal| -> Vec<Literal> {
            operands.iter().map(|range| end(range).clone()).collect()
        };
        let lo = self.folded(site, op, leaf, &ends(|range| &range.lo))?;
        let hi = match all_points(operands) {
            true => lo.clone(),
            false => self.folded(site, op, leaf, &ends(|range| &range.hi))?,
        };
        let cause = operands.iter().find_map(|range| range.cause.clone());
        let result = Range::new(lo, hi, cause);
        Ok(between_ends(&leaf_shape(site, leaf)?, result, operands))
    }
}

/// Returns the values between the ends that a maximum or minimum has for both ends of its operands.
pub(super) fn between_ends(shape: &ArrayShape, ends: Range, operands: &[&Range]) -> Range {
    // An unknown operand may be NaN, which the other end does not show.
    let unknown = operands.iter().any(|range| range.intervals().any(Interval::is_any));
    // The sign of a NaN that is the result is open.
    let has_nan = ends.intervals().any(Interval::is_nan);
    if ends.is_point() && !unknown && !has_nan {
        return ends;
    }
    let each = |x: Interval| match unknown && !x.is_finite() {
        true => Interval::ANY,
        // The ends of narrower types are legal.
        false if shape.ty != ElementType::F64 && x.is_finite() => x,
        false => Interval::closed(x.lo, x.hi),
    };
    let parts: Vec<_> = ends.intervals().map(each).collect();
    Range::of(shape, &parts).because(ends.cause)
}

pub(super) fn all_points(operands: &[&Range]) -> bool {
    operands.iter().all(|range| range.is_point())
}

/// Returns the shape of a leaf of the result.
pub(super) fn leaf_shape(site: Site<'_>, leaf: usize) -> Result<ArrayShape, Stop> {
    let leaves = site.instruction().shape.leaves();
    let array = leaves.get(leaf).and_then(|leaf| leaf.array());
    array.cloned().ok_or_else(|| site.unsupported("this result"))
}

/// Returns the terms of the sum of one element.
pub(super) fn terms(site: Site<'_>) -> f64 {
    let shapes: Vec<_> = (0..site.instruction().operands.len()).map(|i| site.operand(i)).collect();
    let terms = site.instruction().op.terms(&shapes);
    f64::from(u32::try_from(terms).unwrap_or(u32::MAX))
}

pub(super) fn reduce<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &Reduce,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    reduced(ev, site, op.to_apply, &operands, || Fold::reduce(site, op, &operands))
}

pub(super) fn reduce_window<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &ReduceWindow,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    let fold = || Fold::reduce_window(site, op, &operands);
    let results = reduced(ev, site, op.to_apply, &operands, fold)?;
    let combines = Combine::of(ev.module, op.to_apply);
    if !combines.iter().any(|combine| combine.has_a_tree()) {
        return Ok(results);
    }
    // StableHLO has initial values in padding and holes, XLA skips them.
    let open = fold()?.changed_in_holes(ev, op.to_apply)?;
    if !open.contains(&true) {
        return Ok(results);
    }
    let unless_open = |(leaf, range): (usize, Range)| {
        let any = Range::any(&leaf_shape(site, leaf)?).because(Some(site.cause()));
        Ok(any.where_else(&range, |lane| open[lane]))
    };
    results.into_iter().enumerate().map(unless_open).collect()
}

/// Returns the legal values of a reduction, whose initial values take part any number of times. The
/// second half of the operands are these.
fn reduced<'m, 'a>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    body: ComputationId,
    operands: &[&'a Range],
    fold: impl Fn() -> Result<Fold<'a>, Stop>,
) -> Result<Leaves, Stop> {
    let mut results = in_each_order(ev, site, body, operands, &fold)?;
    if terms(site) == 0.0 {
        return Ok(results);
    }
    let count = operands.len() / 2;
    let combines = Combine::of(ev.module, body);
    let trees = combines.iter().any(|combine| combine.has_a_tree());
    let without = match !trees && combines.contains(&Combine::Selects) {
        true => {
            // The selection may begin with the first element.
            let first = || fold().map(Fold::begun_with_first);
            Some(in_each_order(ev, site, body, operands, &first)?)
        }
        false => None,
    };
    for (leaf, &combine) in combines.iter().enumerate().take(count) {
        let either = match (Initial::of(combine, operands[count + leaf]), combine, &without) {
            (Initial::Neutral, Combine::Selects, Some(without)) => {
                Range::any_of(&[results[leaf].clone(), without[leaf].clone()])
            }
            (Initial::Neutral, ..) => continue,
            (Initial::Repeated, ..) => Range::any(&leaf_shape(site, leaf)?),
            (Initial::Added, Combine::Op(_, ty), _) => {
                with_initial_values(ev, site, leaf, ty, [operands[leaf], operands[count + leaf]])?
            }
            (Initial::Added, ..) => continue,
            (Initial::Few(values), ..) => {
                with_each(ev, site, body, (leaf, operands), &values, &fold)?
            }
        };
        let is_open = !either.is_point() && !either.has_ends_of(&results[leaf]);
        results[leaf] = either.because(is_open.then(|| site.cause()));
    }
    Ok(results)
}

/// Returns a leaf with each of some initial values, of which the first stands for none.
fn with_each<'m, 'a>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    body: ComputationId,
    (leaf, operands): (usize, &[&'a Range]),
    values: &[Range],
    fold: &impl Fn() -> Result<Fold<'a>, Stop>,
) -> Result<Range, Stop> {
    let mut results = Vec::with_capacity(values.len());
    for value in values {
        let mut others = operands.to_vec();
        others[operands.len() / 2 + leaf] = value;
        let with = || {
            let mut fold = fold()?;
            fold.initial[leaf] = repeated(value, fold.lanes);
            Ok(fold)
        };
        results.push(in_each_order(ev, site, body, &others, &with)?.swap_remove(leaf));
    }
    if let (Op::ReduceWindow(_), [none, one, ..]) = (&site.instruction().op, results.as_mut_slice())
    {
        // In padding alone a window has nothing but initial values.
        let counts = fold()?.counts();
        *none = none.where_else(one, |i| counts[i] > 0);
    }
    Ok(Range::any_of(&results))
}

/// Returns sums with any number of initial values.
fn with_initial_values<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    leaf: usize,
    ty: ElementType,
    [operand, initial]: [&Range; 2],
) -> Result<Range, Stop> {
    let added = additions(ev, site, leaf, &[operand, initial])?;
    let mut results = Vec::with_capacity(MOST);
    for count in (0..).take(MOST) {
        let pair = [operand, &initial::times(initial, count)];
        results.push(total(ev, site, leaf, ty, &pair, [terms(site), f64::from(count)])?);
    }
    if let [none, one, .., last] = results.as_mut_slice() {
        *none = none.where_else(one, |i| broadcast(&added, i) > 0.0);
        *last = initial::and_more(last, initial);
    }
    Ok(Range::any_of(&results))
}

/// Returns the legal values of a reduction of each leaf, of which the order is open.
fn in_each_order<'m, 'a>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    body: ComputationId,
    operands: &[&Range],
    fold: &impl Fn() -> Result<Fold<'a>, Stop>,
) -> Result<Leaves, Stop> {
    let combines = Combine::of(ev.module, body);
    let count = operands.len() / 2;
    let exact = |op: &Combine| matches!(op, Combine::Op(op, ty) if op.opcode().associates(*ty));
    let whole = |range: &&Range| range.shape().is_some_and(|shape| is_whole(shape.ty));
    if operands.iter().all(whole) && all_points(operands) && combines.iter().all(exact) {
        return ev.stated(site, operands);
    }
    let mut folded: Option<Leaves> = None;
    let mut results = Vec::with_capacity(count);
    for (leaf, &combine) in combines.iter().enumerate().take(count) {
        let shape = leaf_shape(site, leaf)?;
        let pair = [operands[leaf], operands[count + leaf]];
        let real = shape.ty.is_float();
        let orders = ev.modes.has(Mode::SummationOrder);
        let range = match combine {
            Combine::Op(Binary::Add, ty) if !is_whole(shape.ty) => {
                total(ev, site, leaf, ty, &pair, [terms(site), 1.0])?
            }
            Combine::Op(Binary::Multiply, ty) if !is_whole(shape.ty) && orders => {
                let accumulator = coarser(ty, shape.ty);
                let products = product(ev, &fold()?, leaf, accumulator, shape.ty);
                reshaped(&products, &shape).loosened(site, terms(site) * roundoff(accumulator))
            }
            // The candidates of elements stay apart in the fold below.
            Combine::Op(op @ (Binary::Maximum | Binary::Minimum), ty)
                if real && pair.iter().all(|range| range.candidates().len() == 1) =>
            {
                let selected = ev.monotone(site, op, leaf, &pair)?;
                rounded_selection(ev, (ty, &shape), selected, |ev| {
                    additions(ev, site, leaf, &pair)
                })?
            }
            Combine::Op(..)
            | Combine::Second
            | Combine::Selects
            | Combine::Less(_)
            | Combine::Other => {
                if folded.is_none() {
                    let fold = fold()?;
                    folded = Some(in_any_order(ev, site, body, &fold, &combines)?);
                }
                reshaped(
                    &folded.as_ref().map_or_else(Range::nothing, |all| all[leaf].clone()),
                    &shape,
                )
            }
        };
        let cause = pair.iter().find_map(|range| range.cause.clone());
        results.push(range.because(cause));
    }
    Ok(results)
}

/// Returns the values that a maximum or minimum selects as a computation rounds them to a type: in
/// any order it is the selected one that is rounded. Where nothing is combined, of which `combined`
/// returns the number for each element or for all, nothing is rounded.
pub(super) fn rounded_selection<'m>(
    ev: &mut Evaluator<'m>,
    (ty, shape): (ElementType, &ArrayShape),
    selected: Range,
    combined: impl FnOnce(&mut Evaluator<'m>) -> Result<Vec<f64>, Stop>,
) -> Result<Range, Stop> {
    if roundoff(ty) <= roundoff(shape.ty) {
        return Ok(selected);
    }
    let combined = combined(ev)?;
    let each = |(i, x): (usize, Interval)| match broadcast(&combined, i) > 0.0 {
        true => ev.modes.converted(ty, x),
        false => vec![x],
    };
    let parts: Vec<Vec<Interval>> = selected.intervals().enumerate().map(each).collect();
    Ok(Range::of_sets(shape, &parts).because(selected.cause))
}

/// Returns the elements that a reduction adds for each element of the result, or for all.
fn additions<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    leaf: usize,
    operands: &[&Range; 2],
) -> Result<Vec<f64>, Stop> {
    let Op::ReduceWindow(_) = site.instruction().op else { return Ok(vec![terms(site)]) };
    // A window may be in the padding for the most part.
    let shapes = operands.iter().filter_map(|range| range.shape());
    let shapes = shapes.map(|shape| shape.with_type(ElementType::F64));
    let counted = shapes.zip([1.0, 0.0]).map(|(shape, x)| {
        let count = shape.element_count().unwrap_or(0);
        array(&shape, vec![x; count])
    });
    let counts = ev.folded(site, Binary::Add, leaf, &counted.collect::<Vec<_>>())?;
    Ok(floats(&counts).to_vec())
}

/// Returns what is known of the terms of each element of a sum of up to `most` terms.
fn terms_of_each<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    leaf: usize,
    operands: &[&Range],
    most: f64,
) -> Result<Vec<Terms>, Stop> {
    let all = Terms::of(operands.iter().copied().filter(|range| numeric(range)));
    if most >= Terms::MOST {
        return Ok(vec![all]);
    }
    let numbers = |of: fn(Interval) -> f64| -> Vec<Literal> {
        let each = |range: &&Range| match range.shape().filter(|_| numeric(range)) {
            Some(shape) => array(&shape.with_type(ElementType::F64), range.intervals().map(of)),
            None => range.lo.clone(),
        };
        operands.iter().map(each).collect()
    };
    let signs = ev.folded(site, Binary::Add, leaf, &numbers(Terms::signs_of))?;
    let quanta = ev.folded(site, Binary::Minimum, leaf, &numbers(Terms::quantum_of))?;
    let each = floats(&signs).iter().zip(floats(&quanta));
    Ok(each.map(|(&signs, &quantum)| Terms::of_numbers(signs, quantum)).collect())
}

fn numeric(range: &Range) -> bool {
    !range.shape().is_some_and(|s| is_whole(s.ty))
}

/// Returns the state after all steps of a fold, whatever their order.
fn in_any_order<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    body: ComputationId,
    fold: &Fold<'_>,
    combines: &[Combine],
) -> Result<Leaves, Stop> {
    let several = fold.steps.len() > 1;
    let orders = ev.modes.has(Mode::SummationOrder);
    if combines.iter().any(|combine| combine.has_a_tree()) {
        return fold.run_rounding(ev, body, &site.cause());
    }
    let sums = combines.iter().any(|combine| matches!(combine, Combine::Op(..)));
    fold.run(ev, body, several && (orders || !sums))
}

/// Returns the sum of leaf `leaf` of operands, the initial values included. Each element has up to
/// `most` terms besides its initial value; an element of the last operand stands for `times` of them.
pub(super) fn total<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    leaf: usize,
    ty: ElementType,
    operands: &[&Range],
    [most, times]: [f64; 2],
) -> Result<Range, Stop> {
    let shape = leaf_shape(site, leaf)?;
    let cause = operands.iter().find_map(|range| range.cause.clone());
    if !shape.ty.is_complex() {
        return Ok(
            real_total(ev, site, (leaf, &shape), ty, operands, [most, times])?.because(cause)
        );
    }
    let part = shape.with_type(shape.ty.component());
    let mut parts = Vec::new();
    for k in 0..2 {
        let operands: Vec<Range> = operands.iter().map(|range| range.part(k)).collect();
        let operands: Vec<&Range> = operands.iter().collect();
        parts.push(real_total(ev, site, (leaf, &part), ty.component(), &operands, [most, times])?);
    }
    Ok(complex::joined(&shape, &parts[0], &parts[1]).because(cause))
}

fn real_total<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    (leaf, shape): (usize, &ArrayShape),
    ty: ElementType,
    operands: &[&Range],
    [most, times]: [f64; 2],
) -> Result<Range, Stop> {
    let ends = |end: fn(&Range) -> &Literal| -> Vec<Literal> {
        operands.iter().map(|range| end(range).clone()).collect()
    };
    let lo = ev.folded(site, Binary::Add, leaf, &ends(|range| &range.lo))?;
    let hi = match all_points(operands) {
        true => lo.clone(),
        false => ev.folded(site, Binary::Add, leaf, &ends(|range| &range.hi))?,
    };
    let absolute: Vec<Literal> = operands
        .iter()
        .map(|range| if numeric(range) { finite_magnitudes(range) } else { range.lo.clone() })
        .collect();
    let magnitudes = ev.folded(site, Binary::Add, leaf, &absolute)?;
    let specials = match operands.iter().any(|range| numeric(range) && has_specials(range)) {
        true => {
            let specials = operands.iter().map(|range| specials(range)).collect::<Vec<_>>();
            Some(ev.folded(site, Binary::Add, leaf, &specials)?)
        }
        false => None,
    };
    let accumulator = coarser(ty, shape.ty);
    let terms = terms_of_each(ev, site, leaf, operands, most + times)?;
    let mut counted: Vec<Literal> = operands
        .iter()
        .map(|range| if numeric(range) { marked(range, nonzero) } else { range.lo.clone() })
        .collect();
    if let Some(last) = counted.last_mut() {
        for count in floats_mut(last) {
            *count *= times;
        }
    }
    let counts = ev.folded(site, Binary::Add, leaf, &counted)?;
    // A term of more digits than the partial sums is rounded itself.
    let first = if roundoff(accumulator) > roundoff(shape.ty) { 0.0 } else { 1.0 };
    let roundings = floats(&counts).iter().map(|count| (count - first).max(0.0)).collect();
    let (products, unit) = (false, roundoff(accumulator));
    let sum = Sum { lo, hi, magnitudes, specials, roundings, products, accumulator, unit, terms };
    let range = sum.range(ev, site, shape);
    let mut within = vec![[f64::NEG_INFINITY, f64::INFINITY]; range.lo.len()];
    for (end, op) in [Binary::Maximum, Binary::Minimum].into_iter().enumerate() {
        let has_sign = |terms: &Terms| terms.signs.are_on_one_side(op);
        if !sum.terms.iter().any(has_sign) {
            continue;
        }
        let side = if end == 0 { ends(|range| &range.lo) } else { ends(|range| &range.hi) };
        let largest = ev.folded(site, op, leaf, &side)?;
        for (i, (within, &x)) in within.iter_mut().zip(floats(&largest)).enumerate() {
            let least = truncated(accumulator, x);
            let is_kept = least.abs() >= ev.modes.flushed_below(accumulator);
            if has_sign(&broadcast(&sum.terms, i)) && is_kept {
                within[end] = least;
            }
        }
    }
    Ok(reaching(shape, range, &within))
}

/// Returns a sum of terms of one sign that reaches as far as its largest term: rounding is monotone,
/// so that it does so in any order and precision in which this is a number.
fn reaching(shape: &ArrayShape, range: Range, within: &[[f64; 2]]) -> Range {
    let each = |range: &Range| {
        // The ends of an f64 are no legal values.
        let is_open = shape.ty == ElementType::F64;
        let cut = |(x, &[lo, hi]): (Interval, &[f64; 2])| match is_open {
            true => x.raised_to(lo.next_down(), hi.next_up()),
            false => x.raised_to(lo, hi),
        };
        Range::given(shape, &range.intervals().zip(within).map(cut).collect::<Vec<_>>())
    };
    let candidates = range.candidates.iter().map(each).collect();
    Range { candidates, ..each(&range) }.because(range.cause)
}
