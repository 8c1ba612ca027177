//! Ops of ranges of integers, and the bits of ranges: a function that is monotone between its breaks
//! takes the values between those of the ends.
#![expect(clippy::wildcard_enum_match_arm, reason = "of ops without a rule, nothing is known")]
use super::integers::{self, Ends, Span, number, wrapped};
use super::interval::Interval;
use super::legal;
use super::range::Range;
use hlo::elem::Special;
use hlo::op::{Binary, Unary};
use hlo::{ArrayShape, ElementType, Scalar};

fn span(x: Ends) -> Span {
    (number(x.0), number(x.1))
}
/// Returns the negative numbers, and those that are not.
fn sides((lo, hi): Span) -> Vec<Span> {
    let sides = [(lo, hi.min(-1)), (lo.max(0), hi)];
    sides.into_iter().filter(|side| side.0 <= side.1).collect()
}
/// Returns the bits of numbers as numbers without a sign, in whose order those of one sign are.
fn bits(width: u32, x: Span) -> Vec<Span> {
    let of =
        |(lo, hi): Span| if hi < 0 { (lo + (1 << width), hi + (1 << width)) } else { (lo, hi) };
    sides(x).into_iter().map(of).collect()
}
fn width(ty: ElementType) -> u32 {
    if ty == ElementType::Pred { 1 } else { ty.bits() }
}

/// Returns the values of an op of one integer; `None`: any.
pub(super) fn unary(op: Unary, ty: ElementType, x: Ends) -> Option<Vec<Span>> {
    let (x, width) = (span(x), width(ty));
    let of_bits = |f: &dyn Fn(Span) -> Span| bits(width, x).into_iter().map(f).collect();
    Some(match op {
        Unary::Not if ty == ElementType::Pred => vec![(1 - x.1, 1 - x.0)],
        Unary::Not => vec![(-1 - x.1, -1 - x.0)],
        Unary::Negate => vec![(-x.1, -x.0)],
        Unary::Sign => vec![(x.0.signum(), x.1.signum())],
        Unary::Abs => {
            let size = |(lo, hi): Span| if hi < 0 { (-hi, -lo) } else { (lo, hi) };
            sides(x).into_iter().map(size).collect()
        }
        Unary::CountLeadingZeros => {
            let zeros = |x: i128| i128::from(x.leading_zeros()) - 128 + i128::from(width);
            of_bits(&|(lo, hi)| (zeros(hi), zeros(lo)))
        }
        Unary::Popcnt => of_bits(&ones),
        _ => return None,
    })
}

/// Returns how many bits of numbers are ones.
fn ones((lo, hi): Span) -> Span {
    let count = |x: i128| i128::from(x.count_ones());
    if lo == hi {
        return (count(lo), count(lo));
    }
    // The first bit in which they differ is one in `hi`; all bits after it may be ones, or zeros.
    let place = 127 - (lo ^ hi).leading_zeros();
    let (common, rest) = (count(hi >> (place + 1)), (2i128 << place) - 1);
    let least = i128::from(lo & rest != 0);
    (common + least, common + i128::from(place) + i128::from(hi & rest == rest))
}

/// Returns the values of an op of two integers, of which no quotient is implementation-defined;
/// `None`: any.
pub(super) fn binary(op: Binary, ty: ElementType, x: Ends, y: Ends) -> Option<Vec<Span>> {
    let (x, y, width) = (span(x), span(y), width(ty));
    let corners = |f: fn(i128, i128) -> Option<i128>| -> Option<Span> {
        let all = [(x.0, y.0), (x.0, y.1), (x.1, y.0), (x.1, y.1)];
        let values = all.into_iter().map(|(a, b)| f(a, b)).collect::<Option<Vec<i128>>>()?;
        Some((*values.iter().min()?, *values.iter().max()?))
    };
    let of_bits = |f: fn(Span, Span) -> Span| -> Vec<Span> {
        let (x, y) = (bits(width, x), bits(width, y));
        x.iter().flat_map(|&x| y.iter().map(move |&y| f(x, y))).collect()
    };
    let all_ones = (1i128 << width) - 1;
    let truth = ty == ElementType::Pred;
    Some(match op {
        Binary::Maximum => vec![corners(|a, b| Some(a.max(b)))?],
        Binary::Minimum => vec![corners(|a, b| Some(a.min(b)))?],
        Binary::Add if !truth => vec![(x.0 + y.0, x.1 + y.1)],
        Binary::Subtract => vec![(x.0 - y.1, x.1 - y.0)],
        Binary::Multiply if !truth => vec![corners(i128::checked_mul)?],
        Binary::And | Binary::Multiply => of_bits(and),
        Binary::Or | Binary::Add => of_bits(or),
        Binary::Xor => of_bits(xor),
        Binary::Divide => vec![corners(i128::checked_div)?],
        Binary::Remainder => sides(x).into_iter().flat_map(|x| remainder(x, y)).collect(),
        Binary::Power if y.0 == y.1 => {
            let exponent = u32::try_from(y.0).ok()?;
            let power = |(lo, hi): Span| {
                let (a, b) = (lo.checked_pow(exponent)?, hi.checked_pow(exponent)?);
                Some((a.min(b), a.max(b)))
            };
            sides(x).into_iter().map(power).collect::<Option<_>>()?
        }
        Binary::ShiftLeft | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic => {
            // All amounts from the width on are one.
            let most = i128::from(width);
            let amounts = bits(width, y);
            let amounts = amounts.into_iter().map(|(lo, hi)| (lo.min(most), hi.min(most)));
            let operands = match op {
                Binary::ShiftRightLogical => bits(width, x),
                // The top bit is a sign in unsigned types, too.
                Binary::ShiftRightArithmetic if x.0 >= 0 => {
                    let top = all_ones / 2;
                    let halves = [(x.0, x.1.min(top)), (x.0.max(top + 1), x.1)];
                    let halves = halves.into_iter().filter(|half| half.0 <= half.1);
                    let signed = |(lo, hi): Span| match lo > top {
                        true => (lo - all_ones - 1, hi - all_ones - 1),
                        false => (lo, hi),
                    };
                    halves.map(signed).collect()
                }
                _ => vec![x],
            };
            let shifted = |(lo, hi): Span, by: i128| match op {
                Binary::ShiftLeft if by == most => (0, 0),
                Binary::ShiftLeft => (lo << by, hi << by),
                _ => (lo >> by, hi >> by),
            };
            let each = |amount: Span| {
                let operands = &operands;
                (amount.0..=amount.1)
                    .flat_map(move |by| operands.iter().map(move |&x| shifted(x, by)))
            };
            amounts.flat_map(each).collect()
        }
        _ => return None,
    })
}

/// Returns the rests of numbers of one sign. A rest has the sign of the dividend and is smaller
/// than the divisor.
fn remainder(x: Span, y: Span) -> Vec<Span> {
    let sign = if x.1 < 0 { -1 } else { 1 };
    let (near, far) = if sign < 0 { (-x.1, -x.0) } else { x };
    let divisor = (y.0.abs().min(y.1.abs()), y.0.abs().max(y.1.abs()));
    let (first, last) = (near / divisor.1, far / divisor.0);
    let all = match last - first {
        0 => vec![(near - first * divisor.1, far - first * divisor.0)],
        1 if divisor.0 == divisor.1 => {
            vec![(near % divisor.0, divisor.0 - 1), (0, far % divisor.0)]
        }
        _ => vec![(0, far.min(divisor.1 - 1))],
    };
    let signed = |(lo, hi): Span| if sign < 0 { (-hi, -lo) } else { (lo, hi) };
    all.into_iter().map(signed).collect()
}

/// Returns the least and the greatest `a & b` of numbers without a sign: where both are not, `or` is.
fn and((a, b): Span, (c, d): Span) -> Span {
    let (lo, hi) = or((!b, !a), (!d, !c));
    (!hi, !lo)
}

/// Returns the least and the greatest `a | b`, which all are negative or none: bit by bit from the
/// top, an operand that need not have a bit takes it, with all zeros or ones after it, if that is in
/// its span (Warren, *Hacker's Delight*, 4-3).
fn or(x: Span, y: Span) -> Span {
    let ((a, b), (c, d)) = (x, y);
    let least = |bit: i128| match (a & bit, c & bit) {
        (0, 1..) if (a | bit) & -bit <= b => Some(((a | bit) & -bit) | c),
        (1.., 0) if (c | bit) & -bit <= d => Some(a | ((c | bit) & -bit)),
        _ => None,
    };
    let greatest = |bit: i128| match b & d & bit {
        0 => None,
        _ if (b - bit) | (bit - 1) >= a => Some(((b - bit) | (bit - 1)) | d),
        _ if (d - bit) | (bit - 1) >= c => Some(b | ((d - bit) | (bit - 1))),
        _ => None,
    };
    let places = || (0..64).rev().map(|place| 1i128 << place);
    (places().find_map(least).unwrap_or(a | c), places().find_map(greatest).unwrap_or(b | d))
}

/// As [`or`], of `a ^ b`, in which each bit may be taken.
fn xor((a, b): Span, (c, d): Span) -> Span {
    let places = || (0..64).rev().map(|place| 1i128 << place);
    let (mut low, mut high) = ([a, c], [b, d]);
    for bit in places() {
        match low.map(|x| x & bit != 0) {
            [false, true] if (low[0] | bit) & -bit <= b => low[0] = (low[0] | bit) & -bit,
            [true, false] if (low[1] | bit) & -bit <= d => low[1] = (low[1] | bit) & -bit,
            _ => {}
        }
        if high[0] & high[1] & bit != 0 {
            let without = high.map(|x| (x - bit) | (bit - 1));
            if without[0] >= a {
                high[0] = without[0];
            } else if without[1] >= c {
                high[1] = without[1];
            }
        }
    }
    (low[0] ^ low[1], high[0] ^ high[1])
}

/// Returns the legal values of a `bitcast-convert` between types of one size, whose numbers of each
/// sign have the order of their bits; `None` for types without it.
pub(super) fn reinterpreted(from: ElementType, shape: &ArrayShape, x: &Range) -> Option<Range> {
    let to = shape.ty;
    let ordered = |ty: ElementType| {
        let special = ty.float_format().map(|format| format.special);
        !ty.is_complex() && !matches!(special, Some(Special::Fnuz | Special::PowerOfTwo))
    };
    if from.bits() != to.bits() || !ordered(from) || !ordered(to) {
        return None;
    }
    let all: Vec<Vec<Span>> = match from.is_float() {
        true => x.intervals().map(|x| of_float(from, x)).collect(),
        false => (0..x.lo.len()).map(|i| bits(width(from), span(x.ends(i)))).collect(),
    };
    if to.is_float() {
        let each = |spans: Vec<Span>| spans.into_iter().flat_map(|x| as_float(to, x)).collect();
        return Some(Range::of_sets(shape, &all.into_iter().map(each).collect::<Vec<_>>()));
    }
    let truth = |x: i128| if to == ElementType::Pred { x.min(1) } else { x };
    let whole = |(lo, hi): Span| wrapped(to, (truth(lo), truth(hi)));
    let each = |spans: Vec<Span>| spans.into_iter().flat_map(whole).collect();
    Some(integers::of_sets(shape, &all.into_iter().map(each).collect::<Vec<_>>()))
}

/// Returns the code of the greatest number of a type, and that of all ones but the sign.
fn greatest(ty: ElementType) -> Span {
    let format = ty.float_format();
    let largest = format.map_or(0, |format| i128::from(format.largest()));
    let infinite = format.is_some_and(|format| format.special == Special::Ieee);
    (largest + i128::from(infinite), (1 << (ty.bits() - 1)) - 1)
}

/// Returns the bits of the values of an interval.
fn of_float(ty: ElementType, x: Interval) -> Vec<Span> {
    let (greatest, ones) = greatest(ty);
    if x.is_any() || (x.is_nan() && greatest == ones) {
        return vec![(0, 2 * ones + 1)];
    }
    let code = |x: f64| i128::try_from(Scalar::Float(x.abs()).to_bits(ty)).unwrap_or(0);
    let negative = |(lo, hi): Span| (lo + ones + 1, hi + ones + 1);
    let of = |[lo, hi]: [f64; 2]| {
        if lo.is_nan() {
            return vec![(greatest + 1, ones), negative((greatest + 1, ones))];
        }
        let zero = |cut: bool, x: f64| if cut { 0 } else { code(x) };
        let below = (zero(hi.is_sign_positive(), hi), code(lo));
        let above = (zero(lo.is_sign_negative(), lo), code(hi));
        let sides = [
            lo.is_sign_negative().then(|| negative(below)),
            hi.is_sign_positive().then_some(above),
        ];
        sides.into_iter().flatten().collect()
    };
    legal::floats(ty, x).into_iter().flat_map(of).collect()
}

/// Returns the numbers of bits.
fn as_float(ty: ElementType, x: Span) -> Vec<Interval> {
    let (greatest, ones) = greatest(ty);
    let number = |code: i128| Scalar::from_bits(ty, code.unsigned_abs()).as_f64();
    let of = |(lo, hi): Span, sign: bool| {
        let numbers = (lo <= greatest).then(|| {
            let all = Interval::closed(number(lo), number(hi.min(greatest))).not_negative();
            if sign { -all } else { all }
        });
        [numbers, (hi > greatest).then_some(Interval::NAN)].into_iter().flatten()
    };
    let above = (x.0 <= ones).then(|| of((x.0, x.1.min(ones)), false));
    let below = (x.1 > ones).then(|| of((x.0.max(ones + 1) - ones - 1, x.1 - ones - 1), true));
    above.into_iter().flatten().chain(below.into_iter().flatten()).collect()
}
