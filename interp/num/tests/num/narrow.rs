//! Every operation of one operand, at every value of every float of up to 16 bits.
use crate::grid::{GRIDS, Grid, same, two};
use crate::oracle::{Big, Chance, FUNCTIONS, exact, guess, rounded};
use hlo::op::Unary;
use hlo::{ElementType as E, Scalar};

/// Returns the result of an operation with a float result.
fn ours(op: Unary, ty: E, x: f64) -> f64 {
    match num::unary(op, ty, Scalar::Float(x)) {
        Scalar::Float(y) => y,
        other => panic!("{op:?} gives {other:?}"),
    }
}

/// Returns all values of a format; NaN once.
pub fn values(grid: &Grid) -> Vec<f64> {
    let all = (0..1u64 << grid.ty.bits()).filter_map(|code| grid.value(code));
    all.chain(grid.nan().is_none().then_some(f64::NAN)).collect()
}

fn narrow() -> impl Iterator<Item = &'static Grid> {
    GRIDS.iter().filter(|g| g.ty.bits() <= 16)
}

#[test]
fn functions_are_correctly_rounded() {
    for grid in narrow() {
        for x in values(grid) {
            for op in FUNCTIONS {
                let (got, expected) = (ours(op, grid.ty, x), rounded(op, x, grid));
                let ty = grid.ty;
                assert!(same(got, expected), "{op:?} {ty} {x:e}: {got:e}, not {expected:?}");
            }
        }
    }
}

/// On a sample, the guess is as accurate as the search for the nearest value assumes.
#[test]
fn guesses_are_good() {
    let mut chance = Chance(1);
    for op in FUNCTIONS {
        for _ in 0..60 {
            let x = chance.float(-30, 8);
            let y = guess(op, x);
            if y.is_finite() && y != 0.0 {
                let error = (exact(op, x) / Big::try_from(y).unwrap()).to_f64().value() - 1.0;
                assert!(error.abs() < two(-46), "{op:?} {x:e}: {error:e}");
            }
        }
    }
}

/// Operations that are exact except where the type has no such value.
#[test]
fn the_others_by_definition() {
    for grid in narrow() {
        for x in values(grid) {
            let nan = x.is_nan();
            let away =
                |x: f64| if x.fract() == 0.0 || nan { x } else { x.trunc() + 1f64.copysign(x) };
            let down = if x.fract() < 0.0 { x.trunc() - 1.0 } else { x.trunc() };
            let half = x.fract().abs() == 0.5;
            let even = if half && x.trunc() % 2.0 == 0.0 {
                x.trunc()
            } else if x.fract().abs() >= 0.5 {
                away(x)
            } else {
                x.trunc()
            };
            let afz = if x.fract().abs() >= 0.5 { away(x) } else { x.trunc() };
            let sign = if x == 0.0 || nan { x } else { 1f64.copysign(x) };
            let rows = [
                (Unary::Abs, if x <= 0.0 { 0.0 - x } else { x }),
                (Unary::Negate, -x),
                (Unary::Real, x),
                (Unary::Imag, 0.0),
                (Unary::Sign, sign),
                (Unary::Floor, down.copysign(if down == 0.0 { x } else { down })),
                (Unary::Ceil, if x.fract() > 0.0 { x.trunc() + 1.0 } else { x.trunc() }),
                (Unary::RoundNearestAfz, afz),
                (Unary::RoundNearestEven, even),
            ];
            for (op, y) in rows {
                let (got, expected) = (ours(op, grid.ty, x), grid.round(y));
                assert!(same(got, expected), "{op:?} {} {x:e}: {got:e}", grid.ty);
            }
            let finite = num::unary(Unary::IsFinite, grid.ty, Scalar::Float(x));
            assert_eq!(finite, Scalar::Pred(x.is_finite()), "{} {x:e}", grid.ty);
        }
    }
}

/// `reduce-precision` against integer arithmetic on the bits, for all formats.
#[test]
fn reduced_precision() {
    for grid in narrow().filter(|g| !g.powers) {
        let step = if grid.ty.bits() == 16 { 3 } else { 1 };
        for e in 1..=grid.e + 1 {
            for m in 0..=grid.m + 1 {
                for x in values(grid).into_iter().step_by(step) {
                    let got = num::reduce_precision(grid.ty, e, m, Scalar::Float(x));
                    let Scalar::Float(got) = got else { panic!("a float") };
                    let expected = reduced(grid, e, m, x);
                    assert!(same(got, expected), "{} {x:e} e{e} m{m}: {got:e}", grid.ty);
                }
            }
        }
    }
}

fn reduced(grid: &Grid, e: u32, m: u32, x: f64) -> Option<f64> {
    if x.is_nan() || x.is_infinite() {
        return (!x.is_nan()).then_some(x);
    }
    let mut bits = index_of(grid, x.abs());
    if m < grid.m {
        let drop = grid.m - m;
        let odd = bits >> drop & 1;
        bits = (bits + (1 << (drop - 1)) - 1 + odd) >> drop << drop;
    }
    if e < grid.e {
        let (bias, stored) = ((1i64 << (e - 1)) - 1, (bits >> grid.m) as i64);
        let middle = i64::from(grid.bias);
        if stored > middle + bias {
            return grid.round(f64::INFINITY.copysign(x));
        }
        if stored <= middle - bias {
            return grid.round(0f64.copysign(x));
        }
    }
    if bits > grid.largest() {
        return grid.round(f64::INFINITY.copysign(x));
    }
    grid.round(grid.magnitude(bits).copysign(x))
}

/// Returns the number of a magnitude of the format.
fn index_of(grid: &Grid, size: f64) -> u64 {
    let (mut low, mut end) = (0, grid.largest() + 1);
    while low < end {
        let middle = u64::midpoint(low, end);
        if grid.magnitude(middle) < size { low = middle + 1 } else { end = middle }
    }
    low
}

/// `stochastic-convert` for every value and every random number of 8 bits, and a sample of 16.
#[test]
fn stochastic_conversion() {
    for grid in narrow().filter(|g| g.ty.bits() >= 8) {
        let bits = grid.ty.bits();
        let (value_step, random_step) = if bits == 16 { (37, 4099) } else { (1, 1) };
        for x in values(grid).into_iter().step_by(value_step) {
            for random in (0..1u64 << bits).step_by(random_step) {
                for to in [E::S2, E::S4, E::S8, E::S16, E::S32, E::S64] {
                    let got = num::stochastic_convert(
                        grid.ty,
                        to,
                        Scalar::Float(x),
                        Scalar::Unsigned(random),
                    );
                    let most = i64::MAX >> (64 - to.bits());
                    let size = x.abs().trunc();
                    // The fraction in units of the random number.
                    let up = (random as f64) < ((x.abs() - size) * two(bits as i32)).floor();
                    let expected = if x.is_nan() {
                        0
                    } else if x.trunc() >= most as f64 {
                        most
                    } else if x.trunc() <= -(most as f64) - 1.0 {
                        -most - 1
                    } else {
                        let whole = size as i64 + i64::from(up);
                        if x < 0.0 { -whole } else { whole.min(most) }
                    };
                    assert_eq!(got, Some(Scalar::Signed(expected)), "{} {x:e} {random}", grid.ty);
                }
            }
        }
    }
}
