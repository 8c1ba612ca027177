//! The comparison of a result with the ranges of legal values, and the size of the difference.
use super::interval::Interval;
use super::modes::{self, contains};
use super::range::{Cause, CauseKind, LOOSE, Range};
use super::seen::{self, Seen};
use super::whole;
use crate::compare::{Worst, ulps};
use crate::results::{Element, Measures, Verdict};
use hlo::{ElementType, IndexSpace, Literal, Scalar};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// An element that differs and of which nothing is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pub(super) leaf: usize,
    pub(super) at: usize,
    pub(super) kind: CauseKind,
}

/// How a result lies in the ranges of legal values.
#[derive(Debug, Default)]
pub(super) struct Check {
    /// Elements that are not legal.
    pub(super) wrong: usize,
    /// The leaves that have some.
    pub(super) wrong_leaves: BTreeSet<usize>,
    /// Elements that differ and of which nothing is known.
    pub(super) undetermined: usize,
    /// Elements that differ, legally, within a bound that no wrong value would break.
    pub(super) untested: usize,
    /// Elements that differ, legally.
    pub(super) within: usize,
    /// Those of them on which no decision depends.
    pub(super) open: Vec<Open>,
    /// Why they are unknown.
    pub(super) cause: Option<Cause>,
    /// Elements whose expected value is not legal: a mistake in a rule.
    pub(super) missed: usize,
    /// The element that is farthest out.
    pub(super) worst: Option<WorstElement>,
}

/// An element that differs.
#[derive(Debug)]
pub(super) struct WorstElement {
    pub(super) leaf: usize,
    pub(super) at: usize,
    /// The distance from the expected value.
    pub(super) error: f64,
    /// The largest legal distance.
    pub(super) bound: f64,
    /// The distance in units in the last place of its type, if both are finite.
    pub(super) ulps: Option<u64>,
    /// The part, of a complex number.
    part: usize,
    /// It is not legal.
    wrong: bool,
}

impl Check {
    /// Returns whether what has a rule is legal.
    pub(super) fn passes(&self) -> bool {
        self.wrong == 0 && self.undetermined == self.open.len()
    }
    /// Returns the number of elements that differ legally.
    pub(super) fn explained(&self) -> usize {
        self.within + self.untested
    }
    /// Notes the element of a leaf that is farthest from what an estimate allows.
    pub(super) fn estimated(&mut self, leaf: usize, worst: &Worst, expected: &Literal) {
        let (e, a) = (parts(worst.expected), parts(worst.actual));
        let error = |(e, a): (&f64, &f64)| (a - e).abs();
        let error = e.iter().zip(&a).map(error).fold(0.0, f64::max);
        let at = expected.array_shape().map_or(0, |shape| shape.dims.position(&worst.index));
        let bound = if worst.share.is_finite() { error / worst.share } else { 0.0 };
        let ulps = distance(worst.ty, worst.expected, worst.actual);
        let ulps = ulps.filter(|_| error.is_finite());
        let wrong = worst.share > 1.0;
        // Until now nothing was known of these elements.
        self.worst = self.worst.take().filter(|worst| worst.bound.is_finite());
        self.distance(WorstElement { leaf, at, error, bound, ulps, part: 0, wrong });
    }
    pub(super) fn verdict(&self) -> Verdict {
        match (self.wrong, self.undetermined, self.within, self.untested) {
            (0, 0, 0, 1..) => Verdict::NotTested,
            (0, 0, ..) => Verdict::WithinBound,
            (0, ..) => Verdict::Undefined,
            (1.., ..) => Verdict::Differs,
        }
    }
    /// Returns the error of the worst element in units of the largest distance in these ranges.
    pub(super) fn typical(&self, ranges: &[Range], expected: &Literal) -> Option<f64> {
        let worst = self.worst.as_ref().filter(|worst| worst.error > 0.0)?;
        let (range, leaf) = (ranges.get(worst.leaf)?, expected.leaves()[worst.leaf]);
        let ty = leaf.array_shape()?.ty;
        let x = *Elements::of(range, ty).intervals_at(worst.at).get(worst.part)?;
        let center = parts(leaf.get(worst.at))[worst.part];
        let bound = (center - x.lo).max(x.hi - center);
        (bound > 0.0 && bound.is_finite()).then(|| worst.error / bound)
    }
    /// Compares the leaves of a result with their ranges.
    ///
    /// `before` are the ranges without the factors that are seen: what these change has to fit to
    /// them, also where it is what we expect of ours.
    pub(super) fn of(
        ranges: &[Range],
        (shown, before): (&Seen, Option<&[Range]>),
        expected: &Literal,
        actual: &Literal,
    ) -> Self {
        let (mixed, missed) = whole::mixed(ranges, expected, actual);
        let mut check = Self { missed, ..Self::default() };
        let leaves = expected.leaves().into_iter().zip(actual.leaves());
        for (leaf, (range, (expected, actual))) in ranges.iter().zip(leaves).enumerate() {
            let Some(shape) = expected.array_shape() else { continue };
            let ty = shape.ty;
            if expected.bytes() == actual.bytes() && before.is_none() {
                continue;
            }
            let open = of_other_size(range, expected);
            let range = open.as_ref().unwrap_or(range);
            let array = Leaf::new(leaf, ty, range, expected);
            let first = before.and_then(|before| before.get(leaf)).unwrap_or(range);
            let as_first = Leaf::new(leaf, ty, first, expected);
            let orders = range.orders.iter().filter(|order| !order.holds(ty, actual));
            let orders = orders.flat_map(|order| order.positions.clone());
            let disordered = shown.disordered.get(leaf).into_iter().flatten();
            let apart = orders.chain(mixed[leaf].iter().chain(disordered).copied());
            let apart: HashSet<usize> = apart.collect();
            for at in 0..expected.len() {
                let (expected, actual) = (expected.get(at), actual.get(at));
                let origin = range.origin.as_ref();
                let numbers = origin.map_or_else(Vec::new, |origin| seen::numbers(origin, at));
                if same(expected, actual) {
                    let own = before.and_then(|before| before.get(leaf));
                    let own = own.filter(|own| own.lo.len() == range.lo.len());
                    if own.is_some_and(|own| !range.same_at(own, at))
                        && array.candidates.iter().all(|x| x.contains(at, actual) == Some(false))
                    {
                        check.refuted(&array, at, expected, actual);
                    }
                } else if !numbers.is_empty()
                    && numbers.iter().all(|number| {
                        shown.legal.contains_key(number) && !shown.random.contains(number)
                    })
                {
                    check.within += 1;
                } else if numbers.iter().any(|number| shown.wrong.contains(number)) {
                    check.refuted(&array, at, expected, actual);
                    let path = shown.broken.as_deref().map(Arc::from);
                    let cause = path.map(|path| Cause { path, kind: CauseKind::Decides });
                    check.cause = cause.or(check.cause.take());
                } else {
                    let is_random = numbers.iter().any(|number| shown.random.contains(number));
                    let (array, range) =
                        if is_random { (&as_first, first) } else { (&array, range) };
                    let legal = check.element(array, at, expected, actual, apart.contains(&at));
                    if legal != Some(true) {
                        check.cause = check.cause.take().or_else(|| range.cause.clone());
                    }
                    let kind = range.cause.as_ref().map(|cause| cause.kind);
                    let kind = kind.filter(|&kind| legal.is_none() && kind != CauseKind::Decides);
                    check.open.extend(kind.map(|kind| Open { leaf, at, kind }));
                }
            }
        }
        check
    }

    /// Counts elements of a leaf that are not legal.
    pub(super) fn add_wrong(&mut self, leaf: usize, count: usize) {
        self.wrong += count;
        self.wrong_leaves.extend((count > 0).then_some(leaf));
    }

    /// Counts an element of a factor that does not fit to the others.
    fn refuted(&mut self, of: &Leaf<'_>, at: usize, expected: Scalar, actual: Scalar) {
        self.add_wrong(of.number, 1);
        for (k, (e, a)) in parts(expected).into_iter().zip(parts(actual)).enumerate() {
            let place = (of.number, at, k);
            self.distance(WorstElement::of(place, Interval::point(e), (e, a), None, true));
        }
    }

    fn element(
        &mut self,
        of: &Leaf<'_>,
        at: usize,
        expected: Scalar,
        actual: Scalar,
        apart: bool,
    ) -> Option<bool> {
        let &Leaf { number: leaf, ty, ref candidates, .. } = of;
        let any = |x: Scalar| {
            let legal: Vec<_> = candidates.iter().map(|range| range.contains(at, x)).collect();
            match (legal.contains(&Some(true)), legal.contains(&None)) {
                (true, _) => Some(true),
                (false, true) => None,
                (false, false) => Some(false),
            }
        };
        // Another position has the element, too, or one that does not belong to it.
        let legal = if apart { Some(false) } else { any(actual) };
        self.missed += usize::from(any(expected) == Some(false));
        let own = of.own(at, expected);
        let mut tested = false;
        for (k, (e, a)) in parts(expected).into_iter().zip(parts(actual)).enumerate() {
            let x = own.get(k).copied().unwrap_or(Interval::ANY);
            if k == 0 || e.to_bits() != a.to_bits() {
                let ulps = (e.is_finite() && a.is_finite()).then(|| ulps(ty.component(), e, a));
                let ulps = ulps.filter(|_| ty.is_float() || ty.is_complex());
                let element =
                    WorstElement::of((leaf, at, k), x, (e, a), ulps, legal == Some(false));
                tested |= of.is_tested(e, element.bound);
                self.distance(element);
            }
        }
        match legal {
            Some(true) if tested || !ty.is_float() && !ty.is_complex() => self.within += 1,
            Some(true) => self.untested += 1,
            Some(false) => self.add_wrong(leaf, 1),
            None => self.undetermined += 1,
        }
        legal
    }

    /// Keeps the element if it is farther out than the one so far; one that is not legal comes
    /// before others.
    fn distance(&mut self, new: WorstElement) {
        let order = |worst: &WorstElement| (worst.wrong, worst.share());
        if self.worst.as_ref().is_none_or(|old| order(&new) > order(old)) {
            self.worst = Some(new);
        }
    }
}

/// An array that differs.
pub(super) struct Leaf<'a> {
    number: usize,
    pub(super) ty: ElementType,
    pub(super) candidates: Vec<Elements<'a>>,
    /// Whether the bounds have the size of the elements.
    is_loose: bool,
    /// The largest finite element.
    largest: f64,
}

impl<'a> Leaf<'a> {
    pub(super) fn new(
        number: usize,
        ty: ElementType,
        range: &'a Range,
        expected: &Literal,
    ) -> Self {
        let candidates = range.candidates().iter().map(|range| Elements::of(range, ty)).collect();
        let sizes = (0..expected.len()).flat_map(|at| parts(expected.get(at)));
        let sizes = sizes.map(f64::abs).filter(|size| size.is_finite());
        let largest = sizes.fold(0.0, f64::max);
        Self { number, ty, candidates, is_loose: range.is_loose(), largest }
    }
    /// Returns the intervals of the parts of an element that the expected value is in.
    pub(super) fn own(&self, at: usize, expected: Scalar) -> Vec<Interval> {
        let all = &self.candidates;
        let own = all.iter().find(|range| range.contains(at, expected) == Some(true));
        own.or(all.first()).map_or_else(Vec::new, |range| range.intervals_at(at))
    }
    /// Returns whether a wrong value may break the bound of an element.
    pub(super) fn is_tested(&self, expected: f64, bound: f64) -> bool {
        let least = 2.0 * modes::ulp(self.ty, expected);
        let size = if self.is_loose && expected != 0.0 { expected.abs() } else { self.largest };
        let is_certain = expected == 0.0 && (!self.is_loose || self.largest == 0.0);
        is_certain || bound <= least.max(LOOSE * size)
    }
}

/// Returns any values for an array of another size than a rule says: nothing is known of it.
pub(super) fn of_other_size(range: &Range, expected: &Literal) -> Option<Range> {
    let shape = expected.array_shape().filter(|_| range.lo.len() != expected.len())?;
    Some(Range::any(shape).because(range.cause.clone()))
}

/// Returns the largest legal distance from a value, of those below or above it.
pub(super) fn reach(expected: f64, x: Interval, is_below: bool) -> f64 {
    let bound = if is_below { expected - x.lo } else { x.hi - expected };
    if bound.is_nan() { f64::INFINITY } else { bound.max(0.0) }
}

impl WorstElement {
    fn of(
        (leaf, at, part): (usize, usize, usize),
        x: Interval,
        (expected, actual): (f64, f64),
        ulps: Option<u64>,
        wrong: bool,
    ) -> Self {
        let error = (actual - expected).abs();
        let error = if error.is_nan() { f64::INFINITY } else { error };
        let bound = reach(expected, x, actual < expected);
        Self { leaf, at, error, bound, ulps, part, wrong }
    }
    fn share(&self) -> f64 {
        if self.error == 0.0 { 0.0 } else { self.error / self.bound }
    }
}

/// Returns the real and the imaginary part, or the only one.
pub(super) fn parts(x: Scalar) -> Vec<f64> {
    match x {
        Scalar::Complex(re, im) => vec![re, im],
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Float(_) => {
            vec![x.as_f64()]
        }
    }
}

/// The legal values of the elements of an array.
pub(super) struct Elements<'a> {
    pub(super) range: &'a Range,
    ty: ElementType,
    intervals: Vec<Interval>,
}

impl<'a> Elements<'a> {
    pub(super) fn of(range: &'a Range, ty: ElementType) -> Self {
        Self { range, ty, intervals: range.intervals().collect() }
    }

    /// Returns whether the value is legal; `None` if nothing is known.
    pub(super) fn contains(&self, at: usize, value: Scalar) -> Option<bool> {
        let part = self.ty.component();
        match value {
            Scalar::Float(x) => contains(part, self.intervals[at], x),
            Scalar::Complex(re, im) => {
                match [(2 * at, re), (2 * at + 1, im)]
                    .map(|(i, x)| contains(part, self.intervals[i], x))
                {
                    [Some(false), _] | [_, Some(false)] => Some(false),
                    [Some(true), Some(true)] => Some(true),
                    [None, _] | [_, None] => None,
                }
            }
            Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) => {
                let (lo, hi) = self.range.ends(at);
                let known = super::range::extremes(self.ty) != Some((lo, hi));
                known.then(|| self.range.holds_whole(at, value))
            }
        }
    }

    pub(super) fn intervals_at(&self, at: usize) -> Vec<Interval> {
        if self.ty.is_complex() {
            self.intervals[2 * at..2 * at + 2].to_vec()
        } else if self.ty.is_float() {
            vec![self.intervals[at]]
        } else {
            vec![super::integers::as_interval(self.range.ends(at))]
        }
    }
}

/// Returns whether two elements are equal bit by bit; NaN equals NaN.
pub(super) fn same(a: Scalar, b: Scalar) -> bool {
    let equal = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => equal(a, b),
        (Scalar::Complex(a, b), Scalar::Complex(c, d)) => equal(a, c) && equal(b, d),
        (a, b) => a == b,
    }
}

/// Measures the differences of two results.
pub(super) fn measure(expected: &Literal, actual: &Literal, into: &mut Measures) -> bool {
    let mut equal = true;
    for (expected, actual) in expected.leaves().into_iter().zip(actual.leaves()) {
        let Some(ty) = expected.array_shape().map(|shape| shape.ty) else { continue };
        into.elements += expected.len();
        let mut count = |distance: Option<u64>, elements: usize| {
            into.max_ulps = into.max_ulps.max(distance.unwrap_or(0));
            let distance = distance.unwrap_or(u64::MAX);
            let slot = usize::try_from(u64::BITS - distance.leading_zeros()).unwrap_or(0);
            if into.histogram.len() <= slot {
                into.histogram.resize(slot + 1, 0);
            }
            into.histogram[slot] += elements;
        };
        if expected.bytes() == actual.bytes() {
            count(Some(0), expected.len());
            continue;
        }
        for at in 0..expected.len() {
            let (expected, actual) = (expected.get(at), actual.get(at));
            equal &= same(expected, actual);
            count(distance(ty, expected, actual), 1);
        }
    }
    equal
}

/// Returns the distance of two floats, in values of their type; `None` if one of them is not
/// finite, and of other elements that differ.
fn distance(ty: ElementType, a: Scalar, b: Scalar) -> Option<u64> {
    let finite = |(a, b): (&f64, &f64)| match a.is_finite() && b.is_finite() {
        true => Some(ulps(ty.component(), *a, *b)),
        false => same(Scalar::Float(*a), Scalar::Float(*b)).then_some(0),
    };
    if same(a, b) {
        return Some(0);
    }
    if !ty.is_float() && !ty.is_complex() {
        return None;
    }
    let distances = parts(a).iter().zip(&parts(b)).map(finite).collect::<Option<Vec<u64>>>();
    distances.and_then(|distances| distances.into_iter().max())
}

/// Returns an element of a result, for people to read.
pub(super) fn describe(
    device: Option<usize>,
    leaf: usize,
    at: usize,
    expected: &Literal,
    actual: &Literal,
) -> Option<Element> {
    let leaves = (expected.leaves(), actual.leaves());
    let (expected, actual) = (leaves.0.get(leaf)?, leaves.1.get(leaf)?);
    let shape = expected.array_shape()?;
    let index: Vec<String> = shape.dims.index_of(at).iter().map(ToString::to_string).collect();
    let prefix = device.map_or_else(String::new, |device| format!("d{device}_"));
    let show = |literal: &Literal| Literal::scalar(shape.ty, literal.get(at)).to_string();
    Some(Element {
        place: format!("{prefix}out{leaf}[{}]", index.join(",")),
        actual: show(actual),
        expected: show(expected),
        inputs: Vec::new(),
    })
}
