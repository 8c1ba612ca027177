//! Ranges of integers and booleans, both ends legal.
#![expect(clippy::wildcard_enum_match_arm, reason = "of ops without a rule, nothing is known")]
use super::interval::Interval;
use super::range::{Range, extremes};
use hlo::op::value::{ComparisonType, Direction};
use hlo::op::{Binary, Unary};
use hlo::{ArrayShape, ElementType, Literal, Op, Scalar};
use interp::num;

/// The least and the greatest legal value of an element.
pub(super) type Ends = (Scalar, Scalar);

/// Returns the range of these elements.
pub(super) fn range(shape: &ArrayShape, ends: impl Iterator<Item = Ends>) -> Range {
    let (mut lo, mut hi) = (Literal::zeros(shape.clone()), Literal::zeros(shape.clone()));
    let width = shape.ty.storage_bytes();
    let slots = lo.bytes_mut().chunks_exact_mut(width).zip(hi.bytes_mut().chunks_exact_mut(width));
    for ((least, greatest), (low, high)) in ends.zip(slots) {
        least.write(shape.ty, low);
        greatest.write(shape.ty, high);
    }
    Range::new(lo, hi, None)
}

fn number(x: Scalar) -> i128 {
    match x {
        Scalar::Pred(x) => i128::from(x),
        Scalar::Signed(x) => i128::from(x),
        Scalar::Unsigned(x) => i128::from(x),
        Scalar::Float(_) | Scalar::Complex(..) => 0,
    }
}
/// Returns whether a type has the integer of each number, without its fraction.
pub(super) fn holds(ty: ElementType, x: Interval) -> bool {
    let (least, greatest) = any(ty);
    let (least, greatest) = (least.as_f64() - 1.0, greatest.as_f64() + 1.0);
    // Beyond 2^53 the fraction is 0, and 1 is lost.
    (x.lo > least || x.lo == least + 1.0) && x.hi < greatest
}

pub(super) fn any(ty: ElementType) -> Ends {
    extremes(ty).unwrap_or((Scalar::zero(ty), Scalar::zero(ty)))
}
/// Returns the numbers of a type from `lo` to `hi`; any if one of them overflows, which wraps
/// around.
fn within(ty: ElementType, lo: i128, hi: i128) -> Ends {
    let (least, greatest) = any(ty);
    if lo < number(least) || hi > number(greatest) {
        return (least, greatest);
    }
    let of = |x: i128| match least {
        Scalar::Pred(_) => Scalar::Pred(x != 0),
        Scalar::Unsigned(_) => Scalar::Unsigned(u64::try_from(x).unwrap_or(0)),
        Scalar::Signed(_) | Scalar::Float(_) | Scalar::Complex(..) => {
            Scalar::Signed(i64::try_from(x).unwrap_or(0))
        }
    };
    (of(lo), of(hi))
}
pub(super) fn hull(a: Ends, b: Ends) -> Ends {
    let least = if number(a.0) <= number(b.0) { a.0 } else { b.0 };
    (least, if number(a.1) >= number(b.1) { a.1 } else { b.1 })
}
/// Returns the integers of both, if they leave no gap.
pub(super) fn joined(a: Ends, b: Ends) -> Option<Ends> {
    let apart = number(a.1) + 1 < number(b.0) || number(b.1) + 1 < number(a.0);
    (!apart).then(|| hull(a, b))
}
/// Returns how many more values than one an element may have.
pub(super) fn span(x: Ends) -> i128 {
    number(x.1) - number(x.0)
}
/// Value `k` of an element, or the greatest.
pub(super) fn nth(ty: ElementType, x: Ends, k: usize) -> Ends {
    let value = number(x.0).saturating_add(i128::try_from(k).unwrap_or(0)).min(number(x.1));
    within(ty, value, value)
}
/// Returns the real numbers of an element.
pub(super) fn as_interval((lo, hi): Ends) -> Interval {
    let of = |x: Scalar| {
        let near = x.as_f64();
        // Only integers beyond 2^53 are rounded.
        Interval::rounded(near, near.abs() < 9e15)
    };
    let (lo, hi) = (of(lo), of(hi));
    if lo.same(hi) { lo } else { Interval { lo: lo.lo, hi: hi.hi } }
}

/// Returns whether the op divides by a number that may be 0, also in a negative power of it, or the
/// least number by -1: the results are implementation-defined.
pub(super) fn divides_undefined(op: &Op, ty: ElementType, operands: &[&Range]) -> bool {
    let (Op::Binary(op), [x, y]) = (op, operands) else { return false };
    let divides = matches!(op, Binary::Divide | Binary::Remainder | Binary::Power);
    divides
        && ty != ElementType::Pred
        && (0..x.lo.len()).any(|i| undefined(*op, ty, x.ends(i), y.ends(i)))
}

fn undefined(op: Binary, ty: ElementType, x: Ends, y: Ends) -> bool {
    let may_be = |ends: Ends, n: i128| number(ends.0) <= n && n <= number(ends.1);
    let least = number(any(ty).0);
    if op == Binary::Power {
        // A negative power of 0 is a division by 0.
        return may_be(x, 0) && number(y.0) < 0;
    }
    may_be(y, 0) || (least < 0 && may_be(y, -1) && may_be(x, least))
}

/// Returns the legal values of an elementwise op of which some operands have several legal values.
pub(super) fn evaluate(
    op: &Op,
    from: ElementType,
    shape: &ArrayShape,
    operands: &[&Range],
) -> Range {
    let at = |k: usize, i: usize| {
        let operand: &Range = operands[k];
        operand.ends(if operand.lo.len() == 1 { 0 } else { i })
    };
    // An operand of a dynamic size has fewer elements than its bound.
    let lengths = operands.iter().map(|range| range.lo.len()).filter(|&length| length != 1);
    let count = lengths.min().or_else(|| shape.element_count()).unwrap_or(0);
    let each = |i: usize| match op {
        Op::Unary(op) => unary(*op, from, at(0, i)),
        Op::Binary(op) => binary(*op, from, at(0, i), at(1, i)),
        Op::Clamp(_) => {
            let above = binary(Binary::Maximum, from, at(0, i), at(1, i));
            binary(Binary::Minimum, from, above, at(2, i))
        }
        _ => any(shape.ty),
    };
    range(shape, (0..count).map(each))
}

fn unary(op: Unary, ty: ElementType, x: Ends) -> Ends {
    if x.0 == x.1 {
        let y = num::unary(op, ty, x.0);
        return (y, y);
    }
    let flipped =
        (op == Unary::Not && ty == ElementType::Pred).then(|| (1 - number(x.1), 1 - number(x.0)));
    let negated = (op == Unary::Negate).then(|| (-number(x.1), -number(x.0)));
    flipped.or(negated).map_or_else(|| any(ty), |(lo, hi)| within(ty, lo, hi))
}

fn binary(op: Binary, ty: ElementType, x: Ends, y: Ends) -> Ends {
    let divides = matches!(op, Binary::Divide | Binary::Remainder | Binary::Power);
    if divides && ty != ElementType::Pred && undefined(op, ty, x, y) {
        return any(ty);
    }
    if x.0 == x.1 && y.0 == y.1 {
        let z = num::binary(op, ty, x.0, y.0);
        return (z, z);
    }
    let ends = |f: fn(i128, i128) -> i128| {
        let all = [(x.0, y.0), (x.0, y.1), (x.1, y.0), (x.1, y.1)];
        let values = all.map(|(a, b)| f(number(a), number(b)));
        let least = values.into_iter().min().unwrap_or(0);
        within(ty, least, values.into_iter().max().unwrap_or(0))
    };
    let truth = ty == ElementType::Pred;
    match op {
        Binary::Maximum => ends(i128::max),
        Binary::Minimum => ends(i128::min),
        Binary::And | Binary::Multiply if truth => ends(i128::min),
        Binary::Or | Binary::Add if truth => ends(i128::max),
        Binary::Add => ends(i128::saturating_add),
        Binary::Subtract => ends(i128::saturating_sub),
        Binary::Multiply => ends(i128::saturating_mul),
        Binary::And
        | Binary::Or
        | Binary::Atan2
        | Binary::Complex
        | Binary::Divide
        | Binary::Mulhi
        | Binary::Power
        | Binary::Remainder
        | Binary::ShiftLeft
        | Binary::ShiftRightArithmetic
        | Binary::ShiftRightLogical
        | Binary::Xor => any(ty),
    }
}

pub(super) fn compared(
    direction: Direction,
    order: ComparisonType,
    ty: ElementType,
    x: &Range,
    y: &Range,
) -> Vec<Option<bool>> {
    let each = |i: usize| {
        let (x, y) = (x.ends(i), y.ends(i));
        if x.0 == x.1 && y.0 == y.1 {
            return Some(num::compare(direction, order, ty, x.0, y.0));
        }
        let holds = |a: Scalar, b: Scalar| num::compare(direction, order, ty, a, b);
        let [far, near] = [holds(x.0, y.1), holds(x.1, y.0)];
        match direction {
            Direction::Lt | Direction::Le | Direction::Gt | Direction::Ge => {
                (far == near).then_some(far)
            }
            Direction::Eq | Direction::Ne => {
                let apart = number(x.1) < number(y.0) || number(x.0) > number(y.1);
                apart.then_some(direction == Direction::Ne)
            }
        }
    };
    (0..x.lo.len()).map(each).collect()
}

/// Returns the legal values of a conversion to another integral type.
pub(super) fn converted(from: ElementType, shape: &ArrayShape, x: &Range) -> Range {
    let to = shape.ty;
    let each = |i: usize| {
        let (lo, hi) = x.ends(i);
        if lo == hi {
            let y = lo.convert(from, to);
            return (y, y);
        }
        if to == ElementType::Pred {
            return within(to, i128::from(number(lo) > 0), 1);
        }
        within(to, number(lo), number(hi))
    };
    range(shape, (0..x.lo.len()).map(each))
}
