//! The initial value of a reduction, which takes part any number of times.
//!
//! StableHLO (`reduce`): the schedule has an implementation-defined number of initial values at
//! implementation-defined positions. An identity of the computation makes no difference.
#![expect(clippy::wildcard_enum_match_arm, reason = "only some ops have an identity")]
use super::combine::Combine;
use super::elementwise::broadcast;
use super::interval::Interval;
use super::range::{Range, extremes, is_whole};
use hlo::op::Binary;
use hlo::{ArrayShape, Scalar};

/// What an initial value does to a reduction.
pub(super) enum Initial {
    /// It is an identity, or of a computation of which nothing is known.
    Neutral,
    /// It takes part once, or not at all: this identity stands in its place.
    Optional(Range),
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
        match op {
            Binary::Maximum | Binary::Minimum | Binary::And | Binary::Or => {
                Self::Optional(identity)
            }
            _ => Self::Repeated,
        }
    }
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
    Some(super::integers::range(shape, std::iter::once((value, value))))
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
