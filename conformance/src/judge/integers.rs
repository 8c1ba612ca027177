//! Ranges of integers and booleans, both ends legal.
#![expect(clippy::wildcard_enum_match_arm, reason = "of ops without a rule, nothing is known")]
use super::interval::Interval;
use super::range::{Range, extremes};
use super::spans;
use hlo::op::value::{ComparisonType, Direction};
use hlo::op::{Binary, Unary};
use hlo::{ArrayShape, ElementType, Literal, Op, Scalar};
use interp::num;

/// The least and the greatest legal value of an element.
pub(super) type Ends = (Scalar, Scalar);
/// All integers from the first to the second.
pub(super) type Span = (i128, i128);

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

/// Returns the range of elements of which each is in one of several.
pub(super) fn of_sets(shape: &ArrayShape, sets: &[Vec<Ends>]) -> Range {
    let most = sets.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let at = |set: &Vec<Ends>, k: usize| {
        let last = set.len().saturating_sub(1);
        set.get(k.min(last)).copied().unwrap_or_else(|| any(shape.ty))
    };
    let column = |k: usize| range(shape, sets.iter().map(|set| at(set, k)));
    Range::any_of(&(0..most).map(column).collect::<Vec<_>>())
}

pub(super) fn number(x: Scalar) -> i128 {
    match x {
        Scalar::Pred(x) => i128::from(x),
        Scalar::Signed(x) => i128::from(x),
        Scalar::Unsigned(x) => i128::from(x),
        Scalar::Float(_) | Scalar::Complex(..) => 0,
    }
}
/// Returns a number in the representation of another one.
pub(super) fn of_kind(other: Scalar, x: i128) -> Scalar {
    match other {
        Scalar::Pred(_) => Scalar::Pred(x != 0),
        Scalar::Unsigned(_) => Scalar::Unsigned(u64::try_from(x).unwrap_or(0)),
        Scalar::Signed(_) | Scalar::Float(_) | Scalar::Complex(..) => {
            Scalar::Signed(i64::try_from(x).unwrap_or(0))
        }
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
/// Returns the numbers of a type that equal integers but for multiples of 2^bits.
pub(super) fn wrapped(ty: ElementType, (lo, hi): Span) -> Vec<Ends> {
    let (least, greatest) = (number(any(ty).0), number(any(ty).1));
    let (size, most) = (greatest - least + 1, 1i128 << 126);
    if lo < -most || hi > most || hi - lo >= size - 1 {
        return vec![any(ty)];
    }
    let of = |x: i128| of_kind(any(ty).0, x);
    let start = (lo - least).rem_euclid(size) + least;
    let end = start + (hi - lo);
    match end <= greatest {
        true => vec![(of(start), of(end))],
        false => vec![(of(start), of(greatest)), (of(least), of(end - size))],
    }
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
    wrapped(ty, (value, value)).first().copied().unwrap_or(x)
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
            above.into_iter().flat_map(|x| binary(Binary::Minimum, from, x, at(2, i))).collect()
        }
        _ => vec![any(shape.ty)],
    };
    of_sets(shape, &(0..count).map(each).collect::<Vec<_>>())
}

fn unary(op: Unary, ty: ElementType, x: Ends) -> Vec<Ends> {
    if x.0 == x.1 {
        let y = num::unary(op, ty, x.0);
        return vec![(y, y)];
    }
    all_wrapped(ty, spans::unary(op, ty, x))
}

fn binary(op: Binary, ty: ElementType, x: Ends, y: Ends) -> Vec<Ends> {
    let divides = matches!(op, Binary::Divide | Binary::Remainder | Binary::Power);
    if divides && ty != ElementType::Pred && undefined(op, ty, x, y) {
        return vec![any(ty)];
    }
    if x.0 == x.1 && y.0 == y.1 {
        let z = num::binary(op, ty, x.0, y.0);
        return vec![(z, z)];
    }
    all_wrapped(ty, spans::binary(op, ty, x, y))
}

fn all_wrapped(ty: ElementType, spans: Option<Vec<Span>>) -> Vec<Ends> {
    let wrap = |spans: Vec<Span>| spans.into_iter().flat_map(|x| wrapped(ty, x)).collect();
    spans.map_or_else(|| vec![any(ty)], wrap)
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
            return vec![(y, y)];
        }
        let (lo, hi) = (number(lo), number(hi));
        let truth = (i128::from(lo > 0 || hi < 0), 1);
        wrapped(to, if to == ElementType::Pred { truth } else { (lo, hi) })
    };
    of_sets(shape, &(0..x.lo.len()).map(each).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::super::interval::Interval;
    use super::any;
    use super::*;
    use proptest::num::u64::ANY;
    use proptest::prelude::*;

    const BINARY: [Binary; 15] = [
        Binary::Add,
        Binary::And,
        Binary::Divide,
        Binary::Maximum,
        Binary::Minimum,
        Binary::Mulhi,
        Binary::Multiply,
        Binary::Or,
        Binary::Power,
        Binary::Remainder,
        Binary::ShiftLeft,
        Binary::ShiftRightArithmetic,
        Binary::ShiftRightLogical,
        Binary::Subtract,
        Binary::Xor,
    ];
    const UNARY: [Unary; 6] = [
        Unary::Abs,
        Unary::CountLeadingZeros,
        Unary::Negate,
        Unary::Not,
        Unary::Popcnt,
        Unary::Sign,
    ];

    fn has(op: Unary, ty: ElementType) -> bool {
        match op {
            Unary::Abs | Unary::Sign => ty.class() == hlo::Class::Signed,
            _ => ty != ElementType::Pred || op == Unary::Not,
        }
    }
    fn scalar(ty: ElementType, x: i128) -> Scalar {
        wrapped(ty, (x, x))[0].0
    }
    fn is_in(all: &[Ends], x: Scalar) -> bool {
        all.iter().any(|ends| number(ends.0) <= number(x) && number(x) <= number(ends.1))
    }

    /// Ranges of 4 bits, all of them: what an op gives for members, and for no others.
    #[test]
    fn values_of_all_small_ranges_are_in_those_of_the_op() {
        for ty in [ElementType::S4, ElementType::U4, ElementType::Pred] {
            let (least, greatest) = (number(any(ty).0), number(any(ty).1));
            let spans =
                || (least..=greatest).flat_map(|lo| (lo..=greatest).map(move |hi| (lo, hi)));
            let ends = |(lo, hi): Span| (scalar(ty, lo), scalar(ty, hi));
            for (op, x) in UNARY.into_iter().flat_map(|op| spans().map(move |x| (op, x))) {
                if !has(op, ty) {
                    continue;
                }
                let all = unary(op, ty, ends(x));
                for a in x.0..=x.1 {
                    let value = num::unary(op, ty, scalar(ty, a));
                    assert!(
                        is_in(&all, value),
                        "{op:?} {ty:?} {x:?}: {a} gives {value:?}, {all:?}"
                    );
                }
            }
            for (op, x) in BINARY.into_iter().flat_map(|op| spans().map(move |x| (op, x))) {
                let bitwise = matches!(op, Binary::And | Binary::Or | Binary::Xor);
                if ty == ElementType::Pred && !bitwise {
                    continue;
                }
                // A third of the ranges of the other operand, but all of bitwise ops without a sign.
                let exact = bitwise && ty == ElementType::U4;
                let others = spans().filter(|y| exact || (x.0 + x.1 + y.0 + y.1) % 3 == 0);
                for y in others {
                    let all = binary(op, ty, ends(x), ends(y));
                    let pairs = (x.0..=x.1).flat_map(|a| (y.0..=y.1).map(move |b| (a, b)));
                    let values: Vec<Scalar> = pairs
                        .map(|(a, b)| num::binary(op, ty, scalar(ty, a), scalar(ty, b)))
                        .collect();
                    for value in &values {
                        assert!(
                            is_in(&all, *value),
                            "{op:?} {ty:?} {x:?} {y:?}: {value:?}, {all:?}"
                        );
                    }
                    let numbers = || values.iter().map(|&value| number(value));
                    let hull = (numbers().min().unwrap(), numbers().max().unwrap());
                    let own = (number(all[0].0), number(all[0].1));
                    assert!(!exact || own == hull, "{op:?} {x:?} {y:?}: {own:?}, not {hull:?}");
                }
            }
        }
    }

    const TYPES: [ElementType; 8] = [
        ElementType::S8,
        ElementType::U8,
        ElementType::S16,
        ElementType::U16,
        ElementType::S32,
        ElementType::U32,
        ElementType::S64,
        ElementType::U64,
    ];

    /// Numbers of any size, and how far a range reaches from it.
    fn operand() -> impl Strategy<Value = (u64, u32, u64, u64)> {
        (ANY, 0u32..64, ANY, ANY)
    }
    /// Returns a range, and a member of it.
    fn range_of(ty: ElementType, (x, size, width, at): (u64, u32, u64, u64)) -> (Ends, Scalar) {
        let (least, greatest) = any(ty);
        let lo = number(scalar(ty, i128::from(x.cast_signed() >> size)));
        let hi = (lo + i128::from(width >> (63 - size))).min(number(greatest));
        let member = lo + i128::from(at) % (hi - lo + 1);
        assert!(number(least) <= lo);
        ((scalar(ty, lo), scalar(ty, hi)), scalar(ty, member))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]
        #[test]
        fn values_of_members_are_in_the_range_of_the_op(
            ty in 0..TYPES.len(), op in 0..BINARY.len() + UNARY.len(), a in operand(), b in operand(), small in proptest::bool::ANY,
        ) {
            let ty = TYPES[ty];
            // Often a divisor, an amount or an exponent.
            let b = if small { (b.0 % 70, 0, b.2 >> 61, b.3) } else { b };
            let ((x, a), (y, b)) = (range_of(ty, a), range_of(ty, b));
            let (all, value) = match BINARY.get(op) {
                Some(&op) => (binary(op, ty, x, y), num::binary(op, ty, a, b)),
                None => {
                    let op = UNARY[op - BINARY.len()];
                    let op = if has(op, ty) { op } else { Unary::Not };
                    (unary(op, ty, x), num::unary(op, ty, a))
                }
            };
            prop_assert!(is_in(&all, value), "{op} {ty:?} {x:?} {y:?}: {a:?} {b:?} {value:?} {all:?}");
        }

        #[test]
        fn converted_and_reinterpreted_members_are_in_the_range(
            from in 0..TYPES.len(), to in 0..TYPES.len(), x in operand(),
        ) {
            let (from, to) = (TYPES[from], TYPES[to]);
            let (ends, member) = range_of(from, x);
            let shape = |ty| ArrayShape::new(ty, [1].as_slice());
            let x = range(&shape(from), std::iter::once(ends));
            let ends = |range: &Range| range.candidates().iter().map(|x| x.ends(0)).collect::<Vec<_>>();
            let all = ends(&converted(from, &shape(to), &x));
            prop_assert!(is_in(&all, member.convert(from, to)), "{member:?}, {all:?}");
            if let Some(all) = spans::reinterpreted(from, &shape(to), &x) {
                let value = Scalar::from_bits(to, member.to_bits(from));
                prop_assert!(is_in(&ends(&all), value), "{member:?}, {all:?}");
            }
        }

        #[test]
        fn bits_of_members_are_in_the_range_of_bits(kind in 0usize..6, x in ANY, y in ANY, near in 0u32..64, at in 0.0..=1.0f64) {
            let types = [
                (ElementType::F32, ElementType::S32),
                (ElementType::F64, ElementType::U64),
                (ElementType::Bf16, ElementType::U16),
                (ElementType::F16, ElementType::S16),
                (ElementType::F8E4M3Fn, ElementType::U8),
                (ElementType::F8E5M2, ElementType::S8),
            ];
            let (float, whole) = types[kind];
            let number = |bits: u64| Scalar::from_bits(float, u128::from(bits)).as_f64();
            let of = |ty| ArrayShape::new(ty, [1].as_slice());
            // From a float.
            let (a, b) = (number(x), number(x.wrapping_add(y >> near)));
            if !a.is_nan() && !b.is_nan() && (a != b || a.to_bits() == b.to_bits()) {
                let interval = if a.to_bits() == b.to_bits() { Interval::point(a) } else { Interval::closed(a.min(b), a.max(b)) };
                let inside = (a * at + b * (1.0 - at)).clamp(a.min(b), a.max(b));
                let inside = Scalar::Float(inside).round_to(float);
                let inside = if inside.as_f64().is_nan() { Scalar::Float(a) } else { inside };
                let all = spans::reinterpreted(float, &of(whole), &Range::of(&of(float), &[interval])).unwrap();
                let ends: Vec<Ends> = all.candidates().iter().map(|x| x.ends(0)).collect();
                let value = Scalar::from_bits(whole, inside.to_bits(float));
                prop_assert!(is_in(&ends, value), "{interval:?} {inside:?}: {value:?}, {ends:?}");
            }
            // To a float.
            let (ends, member) = range_of(whole, (x, near, y, x ^ y));
            let x = range(&of(whole), std::iter::once(ends));
            let all = spans::reinterpreted(whole, &of(float), &x).unwrap();
            let value = Scalar::from_bits(float, member.to_bits(whole)).as_f64();
            let holds = |x: &Range| {
                let x = x.intervals().next().unwrap();
                super::super::modes::contains(float, x, value) != Some(false)
            };
            prop_assert!(all.candidates().iter().any(holds), "{ends:?} {member:?}: {value:?}, {all:?}");
        }
    }
}
