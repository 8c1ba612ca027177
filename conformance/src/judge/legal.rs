//! The legal results of a module as intervals of values, which need no judge to be checked.
use super::estimate::Estimates;
use super::evaluate::Evaluator;
use super::interval::Interval;
use super::modes::{Modes, largest, round};
use super::open_order::OpenOrder;
use super::range::{CauseKind, Range, extremes, is_whole};
use super::verdict::{Elements, Leaf, of_other_size, parts, reach, same};
use super::{JudgeOptions, Mode, ranges, split, tiers};
use hlo::{ElementType, Literal, Scalar, Verified};
use std::sync::Arc;

/// A least and a greatest value; both are legal, and all between.
///
/// Numbers are in the order of their signs and sizes, -0 before 0, and NaN comes after infinity. In
/// an interval whose least value is above the greatest one is nothing.
pub type Ends = (Scalar, Scalar);

/// The legal results of one way to compute a module: in which some modes are permitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Way {
    /// The modes.
    pub modes: Vec<Mode>,
    /// Of each array of the results, device by device, tokens left out.
    pub arrays: Vec<LegalArray>,
}

/// The legal values of an array. The expected value of an element is always legal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LegalArray {
    /// The intervals of which an element may be in any, for each element; of a complex number, each
    /// has those of the real and of the imaginary part.
    pub legal: Vec<Vec<Vec<Ends>>>,
    /// Values of which it is not known whether they are legal.
    pub open: Vec<Vec<Vec<Ends>>>,
    /// Whether a legal part of an element that is less than expected proves nothing, because the
    /// bound has its size, and whether one that is not less proves nothing.
    pub untested: Vec<[bool; 2]>,
    /// Positions whose values, as far as they are not the expected ones, are different members.
    pub orders: Vec<Order>,
}

/// Elements in an open order.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// Positions of the array.
    pub positions: Vec<usize>,
    /// The intervals of each member.
    pub members: Vec<Vec<Ends>>,
}

/// Returns the legal results: those of each of some ways. A result is legal if it is in one of them.
///
/// `arguments` and `expected` are those of [`judge`](super::judge). The judge says of an array that
/// only an estimate bounds how much the errors of several runs grow, over the elements that differ;
/// here, over all.
///
/// # Errors
/// If the expected result is not legal: a bug of Etalon.
pub fn legal(
    options: &JudgeOptions,
    verified: &Verified,
    arguments: &[Vec<Literal>],
    expected: &[Literal],
) -> Result<Vec<Way>, String> {
    let arguments = match arguments {
        [all] => &vec![all.clone(); expected.len()],
        each => each,
    };
    let all = match expected {
        [only] => only.clone(),
        each => Literal::tuple(each.to_vec()),
    };
    let program = split(options, verified);
    let mut evaluator =
        Evaluator::of_program(verified, program.as_ref(), Modes::NONE, &options.accuracies)
            .anchored(Arc::clone(&options.anchors));
    let (mut ways, mut missed): (Vec<Way>, Option<String>) = (Vec::new(), None);
    let mut estimates = Estimates::new(verified, arguments, expected);
    for modes in tiers(options) {
        evaluator = evaluator.with_modes(modes);
        let ranges = ranges(&mut evaluator, arguments, &all);
        let leaves = all.leaves().into_iter().zip(&ranges).enumerate();
        let array = |(leaf, (expected, range)): (usize, (&Literal, &Range))| {
            expected.array_shape()?;
            Some(legal_array(leaf, expected, range, &mut estimates))
        };
        match leaves.filter_map(array).collect::<Result<Vec<_>, String>>() {
            Ok(arrays) if ways.last().is_some_and(|last| last.arrays == arrays) => {}
            Ok(arrays) => ways.push(Way { modes: modes.list(), arrays }),
            // The modes do not explain the expected result either.
            Err(reason) => missed = Some(reason),
        }
    }
    match missed {
        Some(reason) if ways.is_empty() => Err(reason),
        Some(_) | None => Ok(ways),
    }
}

/// Returns the legal values of a leaf.
fn legal_array(
    leaf: usize,
    expected: &Literal,
    range: &Range,
    estimates: &mut Estimates<'_>,
) -> Result<LegalArray, String> {
    let mut array = LegalArray::default();
    let Some(ty) = expected.array_shape().map(|shape| shape.ty) else { return Ok(array) };
    let other = of_other_size(range, expected);
    let range = other.as_ref().unwrap_or(range);
    let of = Leaf::new(leaf, ty, range, expected);
    let kind = range.cause.as_ref().map(|cause| cause.kind);
    let estimated = kind.filter(|&kind| kind != CauseKind::Decides);
    for at in 0..expected.len() {
        let value = expected.get(at);
        let (mut legal, mut open) = (Vec::new(), Vec::new());
        for elements in &of.candidates {
            add(ty, elements, at, &mut legal, &mut open);
        }
        if !of.candidates.iter().any(|all| all.contains(at, value) != Some(false)) {
            return Err(format!("element {at} of array {leaf} is not within its own bound"));
        }
        if let (Some(kind), false) = (estimated, open.is_empty()) {
            let estimate = estimates.of(leaf, at, kind);
            let floats = |ends: Vec<[f64; 2]>| {
                let ends = ends.into_iter().map(|[lo, hi]| (Scalar::Float(lo), Scalar::Float(hi)));
                Some(ends.collect::<Vec<Ends>>()).filter(|ends| !ends.is_empty())
            };
            legal.extend(floats(estimate.legal));
            if let Some(limit) = estimate.open {
                open = floats(limit).into_iter().collect();
            }
        }
        legal.retain(|ends| !is_only(ends, value));
        legal.dedup();
        open.dedup();
        array.legal.push(legal);
        array.open.push(open);
        let own = of.own(at, value);
        for (k, expected) in parts(value).into_iter().enumerate() {
            let x = own.get(k).copied().unwrap_or(Interval::ANY);
            let is_loose =
                |below| !is_whole(ty) && !of.is_tested(expected, reach(expected, x, below));
            array.untested.push([is_loose(true), is_loose(false)]);
        }
    }
    if !ty.is_complex() {
        array.orders = range.orders.iter().map(|order| order_of(order, ty)).collect();
    }
    Ok(array)
}

/// Adds the values that are legal, and those of which nothing is known, to those of an element.
fn add(
    ty: ElementType,
    elements: &Elements<'_>,
    at: usize,
    legal: &mut Vec<Vec<Ends>>,
    open: &mut Vec<Vec<Ends>>,
) {
    if let Some((least, greatest)) = extremes(ty) {
        let ends = elements.range.ends(at);
        let is_open = ends == (least, greatest);
        (if is_open { open } else { legal }).push(vec![ends]);
        return;
    }
    let part = ty.component();
    let mut all: Vec<(bool, Vec<Ends>)> = vec![(false, Vec::new())];
    for x in elements.intervals_at(at) {
        let own = if x.is_any() { vec![[f64::NEG_INFINITY, f64::NAN]] } else { floats(part, x) };
        let each = |(is_open, start): &(bool, Vec<Ends>)| {
            let (is_open, start) = (*is_open || x.is_any(), start.clone());
            let with = move |&[lo, hi]: &[f64; 2]| {
                let ends = (Scalar::Float(lo), Scalar::Float(hi));
                (is_open, start.iter().copied().chain([ends]).collect())
            };
            own.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(each).collect();
    }
    for (is_open, ends) in all {
        (if is_open { &mut *open } else { &mut *legal }).push(ends);
    }
}

/// Returns the values of a float type that an interval, which is not all values, contains.
pub(super) fn floats(ty: ElementType, x: Interval) -> Vec<[f64; 2]> {
    if x.is_nan() {
        return vec![[f64::NAN; 2]];
    }
    // Between ends both zeros are legal if one is.
    let closed =
        |lo: f64, hi: f64| [if lo == 0.0 { -0.0 } else { lo }, if hi == 0.0 { 0.0 } else { hi }];
    if ty == ElementType::F64 {
        if x.is_point() {
            return vec![[x.lo, x.hi]];
        }
        let is_end = |end: f64| end == 0.0 || end.is_infinite();
        let lo = if is_end(x.lo) { x.lo } else { x.lo.next_up() };
        let hi = if is_end(x.hi) { x.hi } else { x.hi.next_down() };
        return vec![closed(lo, hi)];
    }
    let (lo, hi) = (round(ty, x.lo), round(ty, x.hi));
    if lo.is_nan() || hi.is_nan() {
        let most = largest(ty);
        let within = |end: f64| round(ty, end.clamp(-most, most));
        return vec![closed(within(x.lo), within(x.hi)), [f64::NAN; 2]];
    }
    vec![if x.is_point() { [lo, lo] } else { closed(lo, hi) }]
}

/// Returns whether an interval has a value and no other.
fn is_only(ends: &[Ends], value: Scalar) -> bool {
    let parts = match value {
        Scalar::Complex(re, im) => vec![Scalar::Float(re), Scalar::Float(im)],
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Float(_) => vec![value],
    };
    let is = |(&(lo, hi), part): (&Ends, Scalar)| same(lo, part) && same(hi, part);
    ends.iter().zip(parts).all(is)
}

/// Returns an open order with the intervals of its members. What is not known of a member is legal.
fn order_of(order: &OpenOrder, ty: ElementType) -> Order {
    let candidates = order.members.candidates();
    let candidates: Vec<Elements<'_>> =
        candidates.iter().map(|range| Elements::of(range, ty)).collect();
    let member = |at: usize| {
        let (mut legal, mut open) = (Vec::new(), Vec::new());
        for elements in &candidates {
            add(ty, elements, at, &mut legal, &mut open);
        }
        legal.extend(open);
        legal.dedup();
        legal.concat()
    };
    let members = (0..order.members.lo.len()).map(member).collect();
    Order { positions: order.positions.clone(), members }
}
