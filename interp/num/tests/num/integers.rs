//! Integers of up to 8 bits: every operation at all values and pairs, against arithmetic in i128.
use hlo::op::{Binary, Unary};
use hlo::{Class, ElementType as E, Scalar};
use num::{self, Direction, Order};

const TYPES: [E; 8] = [E::S1, E::S2, E::S4, E::S8, E::U1, E::U2, E::U4, E::U8];

fn signed(ty: E) -> bool {
    ty.class() == Class::Signed
}
fn range(ty: E) -> std::ops::Range<i128> {
    let size = 1i128 << ty.bits();
    if signed(ty) { -size / 2..size / 2 } else { 0..size }
}
/// Returns the value of the type that is `x` modulo 2^bits.
fn wrap(ty: E, x: i128) -> i128 {
    (x - range(ty).start).rem_euclid(1 << ty.bits()) + range(ty).start
}
fn scalar(ty: E, x: i128) -> Scalar {
    if signed(ty) { Scalar::Signed(x as i64) } else { Scalar::Unsigned(x as u64) }
}
fn value(x: Scalar) -> i128 {
    match x {
        Scalar::Signed(x) => x.into(),
        Scalar::Unsigned(x) => x.into(),
        other => panic!("{other:?}"),
    }
}
/// Returns the bits from the lowest up.
fn bits(ty: E, x: i128) -> Vec<bool> {
    (0..ty.bits()).map(|i| x.rem_euclid(1 << ty.bits()) >> i & 1 == 1).collect()
}
fn number(bits: impl DoubleEndedIterator<Item = bool>) -> i128 {
    bits.rev().fold(0, |sum, bit| 2 * sum + i128::from(bit))
}
/// Returns the quotient rounded down.
fn floor(a: i128, b: i128) -> i128 {
    a.div_euclid(b)
}

#[test]
fn one_operand() {
    for ty in TYPES {
        for x in range(ty) {
            let all = bits(ty, x);
            let zeros = all.iter().rev().take_while(|bit| !**bit).count() as i128;
            let ones = all.iter().filter(|bit| **bit).count() as i128;
            let mut rows = vec![
                (Unary::Negate, -x),
                (Unary::Not, -1 - x),
                (Unary::CountLeadingZeros, zeros),
                (Unary::Popcnt, ones),
            ];
            if signed(ty) {
                rows.extend([(Unary::Abs, x.abs()), (Unary::Sign, x.signum())]);
            }
            for (op, expected) in rows {
                let got = value(num::unary(op, ty, scalar(ty, x)));
                assert_eq!(got, wrap(ty, expected), "{op:?} {ty} {x}");
            }
        }
    }
}

/// Returns x^y by repeated multiplication, modulo 2^bits.
fn power(ty: E, x: i128, y: i128) -> i128 {
    if y < 0 {
        return match x {
            1 => 1,
            -1 => 1 - 2 * (y & 1),
            _ => 0,
        };
    }
    (0..y).fold(1, |product, _| wrap(ty, product.wrapping_mul(x)))
}

#[test]
fn two_operands() {
    for ty in TYPES {
        for a in range(ty) {
            for b in range(ty) {
                check(ty, a, b);
            }
        }
    }
}

fn check(ty: E, a: i128, b: i128) {
    let Some(product) = a.checked_mul(b) else { return };
    let n = ty.bits() as usize;
    let (x, y) = (bits(ty, a), bits(ty, b));
    let by = b.rem_euclid(1 << n) as usize;
    let both = |f: fn(bool, bool) -> bool| number(x.iter().zip(&y).map(|(&x, &y)| f(x, y)));
    // Bit i of a shifted number is bit i - by, or i + by; beyond the top bit it is the fill.
    let up = |i: usize| i >= by && x[i - by];
    let down = |i: usize, fill: bool| x.get(i.saturating_add(by)).copied().unwrap_or(fill);
    let rows = [
        (Binary::Add, a + b),
        (Binary::Subtract, a - b),
        (Binary::Multiply, product),
        (Binary::Mulhi, floor(product, 1 << n)),
        (Binary::Divide, if b == 0 { -1 } else { a / b }),
        (Binary::Remainder, if b == 0 { a } else { a - b * (a / b) }),
        (Binary::Maximum, a.max(b)),
        (Binary::Minimum, a.min(b)),
        (Binary::Power, power(ty, a, b)),
        (Binary::And, both(|x, y| x && y)),
        (Binary::Or, both(|x, y| x || y)),
        (Binary::Xor, both(|x, y| x != y)),
        (Binary::ShiftLeft, number((0..n).map(up))),
        (Binary::ShiftRightLogical, number((0..n).map(|i| down(i, false)))),
        (Binary::ShiftRightArithmetic, number((0..n).map(|i| down(i, x[n - 1])))),
    ];
    for (op, expected) in rows {
        let got = value(num::binary(op, ty, scalar(ty, a), scalar(ty, b)));
        assert_eq!(got, wrap(ty, expected), "{op:?} {ty} {a} {b}");
    }
    let order = if signed(ty) { Order::Signed } else { Order::Unsigned };
    for (direction, expected) in [
        (Direction::Eq, a == b),
        (Direction::Ne, a != b),
        (Direction::Lt, a < b),
        (Direction::Le, a <= b),
        (Direction::Gt, a > b),
        (Direction::Ge, a >= b),
    ] {
        let got = num::compare(direction, order, ty, scalar(ty, a), scalar(ty, b));
        assert_eq!(got, expected, "{direction:?} {ty} {a} {b}");
    }
}

/// Checks the definitions for the widest types, near the ends of their ranges.
#[test]
fn ends_of_wide_types() {
    for ty in [E::S16, E::U16, E::S32, E::U32, E::S64, E::U64] {
        let (least, most) = (range(ty).start, range(ty).end - 1);
        let middle = i128::midpoint(least, most);
        let mut numbers = Vec::new();
        for x in [least, most, middle, 0, 1 << (ty.bits() / 2)] {
            numbers.extend((x - 3..=x + 3).filter(|x| range(ty).contains(x)));
        }
        for &a in &numbers {
            for &b in &numbers {
                // Small exponents keep the number of multiplications small.
                if b < 1000 {
                    check(ty, a, b);
                }
            }
        }
    }
}

#[test]
fn booleans() {
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        let rows = [
            (Binary::Add, a || b),
            (Binary::Maximum, a || b),
            (Binary::Or, a || b),
            (Binary::Multiply, a && b),
            (Binary::Minimum, a && b),
            (Binary::And, a && b),
            (Binary::Xor, a != b),
        ];
        for (op, expected) in rows {
            let got = num::binary(op, E::Pred, Scalar::Pred(a), Scalar::Pred(b));
            assert_eq!(got, Scalar::Pred(expected), "{op:?} {a} {b}");
        }
    }
}
