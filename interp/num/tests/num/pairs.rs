//! Every operation of two operands, at all pairs of values of every float of up to 8 bits.
use crate::grid::{GRIDS, Grid, grid_of, same, two};
use crate::narrow::values;
use crate::oracle::{big, power, rounded2};
use hlo::op::Binary;
use hlo::{ElementType as E, Scalar};
use num::{self, Direction, Order};
use std::cmp::Ordering;

fn ours(op: Binary, ty: E, a: f64, b: f64) -> f64 {
    match num::binary(op, ty, Scalar::Float(a), Scalar::Float(b)) {
        Scalar::Float(y) => y,
        other => panic!("{op:?} gives {other:?}"),
    }
}

fn pairs(mut check: impl FnMut(&'static Grid, f64, f64)) {
    for grid in GRIDS.iter().filter(|g| g.ty.bits() <= 8) {
        let values = values(grid);
        for &a in &values {
            for &b in &values {
                check(grid, a, b);
            }
        }
    }
}

#[test]
fn rounded_operations() {
    use Binary::{Add, Atan2, Divide, Multiply, Power, Subtract};
    pairs(|grid, a, b| {
        for op in [Add, Subtract, Multiply, Divide, Power, Atan2] {
            let (got, expected) = (ours(op, grid.ty, a, b), rounded2(op, a, b, grid));
            assert!(
                same(got, expected),
                "{op:?} {} {a:e} {b:e}: {got:e}, not {expected:?}",
                grid.ty
            );
        }
    });
}

/// The remainder as an integer number of units of 2^-17, of which the values of all these types but
/// `f8e8m0fnu` are multiples.
#[test]
fn remainders() {
    pairs(|grid, a, b| {
        let got = ours(Binary::Remainder, grid.ty, a, b);
        let expected = if a.is_nan() || b.is_nan() || a.is_infinite() || b == 0.0 {
            f64::NAN
        } else if b.is_infinite() {
            a
        } else if grid.powers {
            if a < b { a } else { 0.0 }
        } else {
            let units = |x: f64| (x * two(17)) as i128;
            let rest = units(a) % units(b);
            (rest as f64 * two(-17)).copysign(a)
        };
        assert!(same(got, grid.round(expected)), "{} {a:e} {b:e}: {got:e}", grid.ty);
    });
}

#[test]
fn picks_and_comparisons() {
    // -0 is below +0 for maximum and minimum, and equal to it in comparisons.
    let order = |x: f64| if x == 0.0 && x.is_sign_negative() { -1e-300 } else { x };
    pairs(|grid, a, b| {
        let ty = grid.ty;
        let nan = a.is_nan() || b.is_nan();
        let (larger, smaller) = if order(a) > order(b) { (a, b) } else { (b, a) };
        for (op, pick) in [(Binary::Maximum, larger), (Binary::Minimum, smaller)] {
            let got = ours(op, ty, a, b);
            assert!(same(got, (!nan).then_some(pick)), "{op:?} {ty} {a} {b}: {got}");
        }
        let (x, y) = (Scalar::Float(a), Scalar::Float(b));
        for (direction, expected) in [
            (Direction::Eq, a == b),
            (Direction::Ne, a != b),
            (Direction::Lt, a < b),
            (Direction::Le, a <= b),
            (Direction::Gt, a > b),
            (Direction::Ge, a >= b),
        ] {
            let got = num::compare(direction, Order::Float, ty, x, y);
            assert_eq!(got, expected, "{direction:?} {ty} {a} {b}");
        }
    });
}

/// The total order of all codes, as an explicit list for each kind of type.
#[test]
fn total_order_of_all_codes() {
    for grid in GRIDS.iter().filter(|g| g.ty.bits() <= 8) {
        let top = 1u64 << (grid.ty.bits() - 1);
        // Negative codes from the largest down, then the others up; the one NaN of some types is
        // the smallest.
        let codes: Vec<u64> = match grid.past {
            _ if grid.powers => (0..2 * top).collect(),
            crate::grid::Past::OnlyNan => {
                [top].into_iter().chain((top + 1..2 * top).rev()).chain(0..top).collect()
            }
            crate::grid::Past::Infinity | crate::grid::Past::Nan | crate::grid::Past::Largest => {
                (top..2 * top).rev().chain(0..top).collect()
            }
        };
        let values: Vec<Scalar> =
            codes.iter().map(|&code| Scalar::from_bits(grid.ty, u128::from(code))).collect();
        for (i, &a) in values.iter().enumerate() {
            for (j, &b) in values.iter().enumerate() {
                let less = num::compare(Direction::Lt, Order::TotalOrder, grid.ty, a, b);
                let equal = num::compare(Direction::Eq, Order::TotalOrder, grid.ty, a, b);
                assert_eq!((less, equal), (i < j, i == j), "{} {a:?} {b:?}", grid.ty);
            }
        }
    }
}

#[test]
fn clamps() {
    for ty in [E::F4E2M1Fn, E::F6E2M3Fn] {
        let values = values(&grid_of(ty));
        for &low in &values {
            for &x in &values {
                for &high in &values {
                    let got =
                        num::clamp(ty, Scalar::Float(low), Scalar::Float(x), Scalar::Float(high));
                    let Scalar::Float(got) = got else { panic!("a float") };
                    let expected = if x < low { low } else { x };
                    let expected = if expected > high { high } else { expected };
                    assert_eq!(got, expected, "{ty} {low} {x} {high}");
                }
            }
        }
    }
}

/// Returns whether a value is exactly halfway between two neighbors of a 16-bit type.
fn is_tie(grid: &Grid, y: f64) -> bool {
    let size = y.abs();
    // Fast path: most values have other bits set.
    if size.to_bits() << (13 + grid.m) != 0 || !size.is_normal() || size < two(-200) {
        return false;
    }
    let exponent = (size.to_bits() >> 52) as i32 - 1023;
    let unit = exponent.max(1 - grid.bias) - grid.m as i32;
    (size * two(-unit)).fract() == 0.5
}

/// All pairs of a 16-bit type: where the f64 result is a tie, the rounded result is that of the
/// exact one.
///
/// An f64 result is on the correct side of a tie or exactly on it, so there are no other errors.
fn all_pairs(ty: E, op: Binary, skip: impl Fn(f64, f64) -> bool + Sync) {
    let grid = grid_of(ty);
    let positive: Vec<f64> =
        values(&grid).into_iter().filter(|x| *x > 0.0 && x.is_finite()).collect();
    let all: Vec<f64> = values(&grid).into_iter().filter(|x| *x != 0.0 && x.is_finite()).collect();
    let f64_result = num::binary_f64(op).unwrap();
    let counts = std::thread::scope(|scope| {
        let halves: Vec<_> = (0..2)
            .map(|half| {
                let (positive, all, grid, skip) = (&positive, &all, &grid, &skip);
                scope.spawn(move || {
                    let (mut tried, mut ties, mut exact_ties) = (0u64, 0u64, 0u64);
                    for &a in positive.iter().skip(half).step_by(2) {
                        for &b in all.iter().filter(|&&b| !skip(a, b)) {
                            tried += 1;
                            let y = f64_result(a, b);
                            if !is_tie(grid, y) {
                                continue;
                            }
                            ties += 1;
                            let got = ours(op, ty, a, b);
                            let expected = if op == Binary::Power {
                                exact_ties += u64::from(power(a, b) == big(y));
                                rounded2(op, a, b, grid)
                            } else {
                                // The quotient is the tie, and an angle is less than its tangent.
                                assert!(a / b == y, "{ty} {a:e} {b:e}");
                                grid.nearest(y < 0.0, |size| {
                                    if size < y.abs() { Ordering::Greater } else { Ordering::Less }
                                })
                            };
                            assert!(same(got, expected), "{op:?} {ty} {a:e} {b:e}: {got:e}");
                        }
                    }
                    (tried, ties, exact_ties)
                })
            })
            .collect();
        halves.into_iter().map(|half| half.join().unwrap()).collect::<Vec<_>>()
    });
    let sum = counts.iter().fold((0, 0, 0), |s, c| (s.0 + c.0, s.1 + c.1, s.2 + c.2));
    println!("{op:?} {ty}: {} pairs, {} ties in f64, {} of them exact", sum.0, sum.1, sum.2);
}

/// Returns whether the result is 1 within less than half an ulp, or out of the range of the type.
fn dull_power(a: f64, b: f64) -> bool {
    let size = (a.log2() * b).abs();
    !(two(-13)..=140.0).contains(&size)
}

/// Angles that are 0 or within less than half an ulp of a multiple of a right angle; and small ones
/// whose quotient is a normal number: a quotient of two numbers of 8 bits is then not a tie, nor
/// within a relative 2^-17 of one.
fn dull_angle(y: f64, x: f64) -> bool {
    let quotient = (y / x).abs();
    let near_axis = x < 0.0 && quotient < two(-20);
    let small = (two(-125)..two(-30)).contains(&quotient);
    near_axis || small || !(two(-140)..two(20)).contains(&quotient)
}

#[test]
#[ignore = "two billion pairs: minutes in a release build"]
fn all_powers_of_16_bits() {
    for ty in [E::F16, E::Bf16] {
        all_pairs(ty, Binary::Power, dull_power);
    }
}
#[test]
#[ignore = "two billion pairs: minutes in a release build"]
fn all_angles_of_16_bits() {
    for ty in [E::F16, E::Bf16] {
        all_pairs(ty, Binary::Atan2, dull_angle);
    }
}
