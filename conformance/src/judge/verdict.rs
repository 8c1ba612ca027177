//! The comparison of a result with the ranges of legal values, and the size of the difference.
use super::interval::Interval;
use super::modes::contains;
use super::range::{Cause, Range};
use crate::compare::ulps;
use crate::results::{Element, Measures};
use hlo::{ElementType, Literal, Scalar};

/// How a result lies in the ranges of legal values.
#[derive(Debug, Default)]
pub(super) struct Check {
    /// Elements that are not legal.
    pub(super) wrong: usize,
    /// Elements that differ and of which nothing is known.
    pub(super) undetermined: usize,
    /// Why they are unknown.
    pub(super) cause: Option<Cause>,
    /// Elements whose expected value is not legal: a mistake in a rule.
    pub(super) missed: usize,
    /// The element that is farthest out.
    pub(super) worst: Option<Worst>,
}

/// An element that differs.
#[derive(Debug)]
pub(super) struct Worst {
    pub(super) leaf: usize,
    pub(super) at: usize,
    /// The distance from the expected value.
    pub(super) error: f64,
    /// The largest legal distance.
    pub(super) bound: f64,
}

impl Check {
    pub(super) fn passes(&self) -> bool {
        self.wrong == 0 && self.undetermined == 0
    }
    /// Compares the leaves of a result with their ranges.
    pub(super) fn of(ranges: &[Range], expected: &Literal, actual: &Literal) -> Self {
        let mut check = Self::default();
        let leaves = expected.leaves().into_iter().zip(actual.leaves());
        for (leaf, (range, (expected, actual))) in ranges.iter().zip(leaves).enumerate() {
            let Some(ty) = expected.array_shape().map(|shape| shape.ty) else { continue };
            if expected.bytes() == actual.bytes() {
                continue;
            }
            let intervals: Vec<Interval> = range.intervals().collect();
            for at in 0..expected.len() {
                let pair = (expected.get(at), actual.get(at));
                check.element(leaf, at, ty, pair, range, &intervals);
            }
        }
        check
    }

    fn element(
        &mut self,
        leaf: usize,
        at: usize,
        ty: ElementType,
        (expected, actual): (Scalar, Scalar),
        range: &Range,
        intervals: &[Interval],
    ) {
        if same(expected, actual) {
            return;
        }
        let part = ty.component();
        let legal = match (expected, actual) {
            (Scalar::Float(e), Scalar::Float(a)) => {
                let x = intervals[at];
                self.missed += usize::from(contains(part, x, e) == Some(false));
                self.distance(leaf, at, x, e, a);
                contains(part, x, a)
            }
            (Scalar::Complex(e_re, e_im), Scalar::Complex(a_re, a_im)) => {
                let parts = [(2 * at, e_re, a_re), (2 * at + 1, e_im, a_im)];
                let parts = parts.map(|(i, e, a)| {
                    let x = intervals[i];
                    let equal = e.to_bits() == a.to_bits() || (e.is_nan() && a.is_nan());
                    self.missed += usize::from(contains(part, x, e) == Some(false));
                    if equal {
                        return Some(true);
                    }
                    self.distance(leaf, at, x, e, a);
                    contains(part, x, a)
                });
                match parts {
                    [Some(false), _] | [_, Some(false)] => Some(false),
                    [Some(true), Some(true)] => Some(true),
                    [None, _] | [_, None] => None,
                }
            }
            (_, actual) => {
                let (lo, hi) = range.ends(at);
                let inside = |x: Scalar| order(lo, x) && order(x, hi);
                self.missed += usize::from(!inside(expected));
                let known = super::range::extremes(ty) != Some((lo, hi));
                self.distance(leaf, at, Interval::point(0.0), expected.as_f64(), actual.as_f64());
                if known { Some(inside(actual)) } else { None }
            }
        };
        match legal {
            Some(true) => {}
            Some(false) => self.wrong += 1,
            None => {
                self.undetermined += 1;
                self.cause = self.cause.take().or_else(|| range.cause.clone());
            }
        }
    }

    /// Keeps the element if it is farther out than the one so far.
    fn distance(&mut self, leaf: usize, at: usize, x: Interval, expected: f64, actual: f64) {
        let error = (actual - expected).abs();
        let error = if error.is_nan() { f64::INFINITY } else { error };
        let bound = if actual < expected { expected - x.lo } else { x.hi - expected };
        let bound = if bound.is_nan() { f64::INFINITY } else { bound.max(0.0) };
        let share = |error: f64, bound: f64| if error == 0.0 { 0.0 } else { error / bound };
        let worst = self.worst.as_ref().map_or(0.0, |worst| share(worst.error, worst.bound));
        if self.worst.is_none() || share(error, bound) > worst {
            self.worst = Some(Worst { leaf, at, error, bound });
        }
    }
}

/// Whether two integers are in order.
fn order(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::Unsigned(a), Scalar::Unsigned(b)) => a <= b,
        (a, b) => a.as_i64() <= b.as_i64(),
    }
}

/// Whether two elements are equal bit by bit; NaN equals NaN.
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
        let mut count = |distance: u64, elements: usize| {
            into.max_ulps = into.max_ulps.max(distance);
            let slot = usize::try_from(u64::BITS - distance.leading_zeros()).unwrap_or(0);
            if into.histogram.len() <= slot {
                into.histogram.resize(slot + 1, 0);
            }
            into.histogram[slot] += elements;
        };
        if expected.bytes() == actual.bytes() {
            count(0, expected.len());
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

/// The distance of two elements, in values of their type.
fn distance(ty: ElementType, a: Scalar, b: Scalar) -> u64 {
    let part = ty.component();
    match (a, b) {
        (a, b) if same(a, b) => 0,
        (Scalar::Float(a), Scalar::Float(b)) => ulps(part, a, b),
        (Scalar::Complex(a, b), Scalar::Complex(c, d)) => {
            let parts = [(a, c), (b, d)].map(|(a, b)| {
                if same(Scalar::Float(a), Scalar::Float(b)) { 0 } else { ulps(part, a, b) }
            });
            parts[0].max(parts[1])
        }
        (Scalar::Unsigned(a), Scalar::Unsigned(b)) => a.abs_diff(b),
        (a, b) => a.as_wrapping().abs_diff(b.as_wrapping()),
    }
}

/// An element of a result, for people to read.
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
    let (mut rest, mut index) = (at, Vec::new());
    for &size in shape.dims.iter().rev() {
        let size = usize::try_from(size).unwrap_or(1).max(1);
        index.push((rest % size).to_string());
        rest /= size;
    }
    index.reverse();
    let prefix = device.map_or_else(String::new, |device| format!("d{device}_"));
    let show = |literal: &Literal| Literal::scalar(shape.ty, literal.get(at)).to_string();
    Some(Element {
        place: format!("{prefix}out{leaf}[{}]", index.join(",")),
        actual: show(actual),
        expected: show(expected),
        inputs: Vec::new(),
    })
}
