//! The initial value of a reduction, which takes part any number of times.
//!
//! StableHLO (`reduce`): the schedule has an implementation-defined number of initial values at
//! implementation-defined positions. An identity of the computation makes no difference.
#![expect(clippy::wildcard_enum_match_arm, reason = "only some ops have an identity")]
use super::candidates::MOST;
use super::combine::Combine;
use super::elementwise::broadcast;
use super::integers;
use super::interval::Interval;
use super::range::{Range, extremes, is_whole};
use hlo::op::Binary;
use hlo::{ArrayShape, Scalar};
use interp::num;

/// What an initial value does to a reduction.
pub(super) enum Initial {
    /// It is an identity, or of a computation of which nothing is known.
    Neutral,
    /// Any number of them are one of these values, none are the first: the identity.
    Few(Vec<Range>),
    /// Each one moves a sum of floats further.
    Added,
    /// Each time that it takes part changes the result.
    Repeated,
}

impl Initial {
    pub(super) fn of(combine: Combine, initial: &Range) -> Self {
        let (Combine::Op(op, _), Some(shape)) = (combine, initial.shape()) else {
            return Self::Neutral;
        };
        let truth = shape.ty == hlo::ElementType::Pred;
        let op = match op {
            Binary::Add if truth => Binary::Or,
            Binary::Multiply if truth => Binary::And,
            op => op,
        };
        let Some(identity) = identity(op, shape) else { return Self::Neutral };
        if is_equal(initial, &identity) {
            return Self::Neutral;
        }
        let idempotent = matches!(op, Binary::Maximum | Binary::Minimum | Binary::And | Binary::Or);
        if idempotent {
            return Self::Few(vec![identity, initial.clone()]);
        }
        if let Some(powers) = powers(op, &identity, initial) {
            return Self::Few(powers);
        }
        let finite = initial.intervals().all(|x| x.is_point() && x.is_finite());
        let adds = op == Binary::Add && !is_whole(shape.ty) && finite;
        if adds { Self::Added } else { Self::Repeated }
    }
}

/// Returns what any number of initial values are together, if those are few: of 0 as a factor, 1
/// and 0.
fn powers(op: Binary, identity: &Range, initial: &Range) -> Option<Vec<Range>> {
    let ty = initial.shape()?.ty;
    if !initial.is_point() {
        return None;
    }
    let mut powers = vec![identity.lo.clone()];
    while powers.len() <= MOST {
        let last = powers[powers.len() - 1].get(0);
        let mut next = initial.lo.clone();
        num::binary(op, ty, last, initial.lo.get(0)).write(ty, next.bytes_mut());
        if powers.iter().any(|power| power.bytes() == next.bytes()) {
            return Some(powers.into_iter().map(Range::point).collect());
        }
        powers.push(next);
    }
    None
}

/// Returns so many initial values of a sum as one term of it.
pub(super) fn times(initial: &Range, count: u32) -> Range {
    let Some(shape) = initial.shape() else { return initial.clone() };
    let term = |x: Interval| {
        let sum = f64::from(count) * x.lo;
        match count {
            // The identity, also of -0.
            0 => Interval::point(-0.0),
            _ if count == 1 || x.lo == 0.0 => x,
            _ => Interval::open(sum, sum),
        }
    };
    Range::given(shape, &initial.intervals().map(term).collect::<Vec<_>>())
}

/// Returns the values of sums with any number of further initial values. Each makes a sum larger, or
/// leaves it, if it is positive: rounding is monotone.
pub(super) fn and_more(sums: &Range, initial: &Range) -> Range {
    let signs: Vec<f64> = initial.intervals().map(|x| x.lo).collect();
    let further = |sums: &Range| {
        let Some(shape) = sums.shape() else { return sums.clone() };
        let each = |(i, x): (usize, Interval)| match signs[i % signs.len()] {
            _ if x.is_nan() => x,
            step if step > 0.0 => Interval { hi: f64::INFINITY, ..x },
            step if step < 0.0 => Interval { lo: f64::NEG_INFINITY, ..x },
            _ => x,
        };
        Range::given(shape, &sums.intervals().enumerate().map(each).collect::<Vec<_>>())
    };
    let all: Vec<Range> = sums.candidates().iter().map(further).collect();
    Range::any_of(&all).because(sums.cause.clone())
}

/// Returns the identity of an op, in the shape of an initial value; `None` if the op has none.
fn identity(op: Binary, shape: &ArrayShape) -> Option<Range> {
    let number = match op {
        Binary::Add | Binary::Or | Binary::Xor => 0.0,
        Binary::Multiply => 1.0,
        Binary::Maximum => f64::NEG_INFINITY,
        Binary::Minimum => f64::INFINITY,
        Binary::And => f64::NAN,
        _ => return None,
    };
    let Some((least, greatest)) = extremes(shape.ty) else {
        let re = Interval::point(number);
        let im = if op == Binary::Multiply { Interval::point(0.0) } else { re };
        let parts = if shape.ty.is_complex() { vec![re, im] } else { vec![re] };
        return Some(Range::given(shape, &parts));
    };
    let ones = match greatest {
        Scalar::Signed(_) => Scalar::Signed(-1),
        other => other,
    };
    let value = match op {
        Binary::Maximum => least,
        Binary::Minimum => greatest,
        Binary::And => ones,
        Binary::Multiply => Scalar::Signed(1).convert(hlo::ElementType::S64, shape.ty),
        _ => Scalar::zero(shape.ty),
    };
    Some(integers::range(shape, std::iter::once((value, value))))
}

/// Returns whether an initial value is the identity. Zeros of either sign are.
fn is_equal(initial: &Range, identity: &Range) -> bool {
    if initial.shape().is_some_and(|shape| is_whole(shape.ty)) {
        return initial.is_point() && initial.lo.bytes() == identity.lo.bytes();
    }
    let parts: Vec<Interval> = identity.intervals().collect();
    let mut pairs = initial.intervals().enumerate();
    // Both ends: a denormal is not 0, though it may be read so.
    pairs.all(|(i, x)| x.lo == broadcast(&parts, i).lo && x.hi == broadcast(&parts, i).hi)
}
