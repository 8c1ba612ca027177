//! Functions of f32 and f64 at samples and hard cases, and the values at infinities, zeros and NaN.
use crate::grid::{grid_of, same, two};
use crate::oracle::{
    Big, Chance, FUNCTIONS, big, exact, guess, is_nearest, power, rounded, rounded2,
};
use hlo::op::{Binary, Unary};
use hlo::{ElementType as E, Scalar};

/// Operands and result.
type Row = (f64, f64, f64);

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn ours(op: Unary, ty: E, x: f64) -> f64 {
    match num::unary(op, ty, Scalar::Float(x)) {
        Scalar::Float(y) => y,
        other => panic!("{op:?} gives {other:?}"),
    }
}
fn ours2(op: Binary, ty: E, a: f64, b: f64) -> f64 {
    match num::binary(op, ty, Scalar::Float(a), Scalar::Float(b)) {
        Scalar::Float(y) => y,
        other => panic!("{op:?} gives {other:?}"),
    }
}

/// Returns whether the function is constant, infinite or undefined around the value, so that the
/// approximation is exact.
fn far_out(op: Unary, x: f64) -> bool {
    let limit = match op {
        Unary::Exponential
        | Unary::ExponentialMinusOne
        | Unary::Logistic
        | Unary::Sinh
        | Unary::Cosh => 800.0,
        Unary::Tanh | Unary::Erf => 40.0,
        _ => INF,
    };
    !x.is_finite()
        || x == 0.0
        || x.abs() > limit
        || !guess(op, x).is_finite() && {
            // An overflow is not a pole.
            guess(op, x).is_nan() || x.abs() < 700.0
        }
}

fn check_f64(op: Unary, x: f64) {
    let got = ours(op, E::F64, x);
    if far_out(op, x) {
        let expected = guess(op, x);
        assert!(same(got, (!expected.is_nan()).then_some(expected)), "{op:?} {x:e}: {got:e}");
    } else {
        assert!(is_nearest(got, &exact(op, x)), "{op:?} {x:e}: {got:e}");
    }
}

/// Arguments that are difficult to round: worst cases from the literature, ends of ranges, zeros of
/// the functions, where formulas switch or cancel.
fn hard() -> Vec<f64> {
    let hex = |mantissa: u64, exponent: i32| mantissa as f64 * two(exponent - 52);
    let mut all = vec![
        // The f64 nearest to any multiple of pi/2, and others with many digits.
        hex(0x0016_ac5b_262c_a1ff, 849),
        1e22,
        f64::MAX,
        3.0 * std::f64::consts::FRAC_PI_2,
        std::f64::consts::PI,
        // Worst cases of exp, log, sin, log1p in f64.
        hex(0x0019_e9cb_bfd6_080b, -31),
        hex(0x0016_2a88_6136_29b6, 678),
        hex(0x001e_0000_0000_01c2, -20),
        hex(0x0010_0000_0000_0001, 0),
        hex(0x001f_ffff_ffff_ffff, -1),
        // Where XLA's log1p loses seven bits.
        -0.41,
        -0.414_213_562_373_095_1,
        // The ends of exp: overflow, subnormal results, zero.
        709.782_712_893_384,
        709.782_712_893_384_1,
        -708.396_418_532_264_1,
        -745.133_219_101_941_1,
        -745.133_219_101_941_2,
        710.475_860_073_943_9,
        88.722_839_111_673,
        -103.972_077_083_991_8,
        // Where erf and tanh become 1.
        5.921_587_195_794_507,
        5.863_584_748_755_168,
        19.061_547_465_398_5,
        f64::MIN_POSITIVE,
        5e-324,
        1.0,
        2.0,
        0.5,
        27.0,
        1e-8,
        1e-16,
        1e-300,
    ];
    all.extend(
        (-60..60).map(|n| 1.0 + two(n.min(0) - 1) * f64::from(n.signum())).collect::<Vec<_>>(),
    );
    all.extend((-74..12).map(two));
    all
}

#[test]
fn f64_at_hard_cases() {
    for op in FUNCTIONS {
        for x in hard() {
            for x in [x, x.next_down(), x.next_up()] {
                check_f64(op, x);
                check_f64(op, -x);
            }
        }
    }
}

#[test]
fn f64_at_samples() {
    let mut chance = Chance(3);
    for op in FUNCTIONS {
        for _ in 0..60 {
            check_f64(op, chance.float(-40, 10));
            check_f64(op, chance.float(-1021, 1023));
        }
    }
}

/// Near zero the result of logistic is 1/2 and a few bits, and there are ties.
#[test]
fn logistic_of_f64() {
    let mut chance = Chance(4);
    for n in -80..10 {
        for x in [two(n), 3.0 * two(n), 5.0 * two(n), two(n).next_up(), chance.float(n, n + 1)] {
            check_f64(Unary::Logistic, x);
            check_f64(Unary::Logistic, -x);
        }
    }
    for x in (7000..7460).map(|x| -f64::from(x) / 10.0 - 1e-7) {
        check_f64(Unary::Logistic, x);
    }
}

#[test]
fn f32_at_hard_cases_and_samples() {
    let grid = grid_of(E::F32);
    let mut chance = Chance(5);
    let check = |op, x: f32| {
        let x = f64::from(x);
        let (got, expected) = (ours(op, E::F32, x), rounded(op, x, &grid));
        assert!(same(got, expected), "{op:?} {x:e}: {got:e}, not {expected:?}");
    };
    for op in FUNCTIONS {
        for x in hard() {
            let x = x as f32;
            for x in [x, x.next_down(), x.next_up()] {
                check(op, x);
                check(op, -x);
            }
        }
        for _ in 0..4000 {
            check(op, f32::from_bits(chance.bits() as u32));
            check(op, chance.float(-20, 7) as f32);
        }
    }
}

/// Every f32 against the approximation, where it decides, and the precise value elsewhere.
#[test]
#[ignore = "four billion values: minutes in a release build"]
fn logistic_of_every_f32() {
    let grid = grid_of(E::F32);
    let logistic = num::unary_f32(Unary::Logistic).unwrap();
    let halves: Vec<_> = (0..2u32)
        .map(|half| {
            std::thread::spawn(move || {
                let mut asked = 0u64;
                for bits in (half << 31)..=(half << 31 | 0x7f80_0000) {
                    let x = f32::from_bits(bits);
                    let y = guess(Unary::Logistic, x.into());
                    let margin = y * two(-44);
                    let (low, high) = ((y - margin) as f32, (y + margin) as f32);
                    let got = logistic(x);
                    if low == high {
                        assert!(got.to_bits() == low.to_bits(), "{x:e}: {got:e}");
                    } else {
                        asked += 1;
                        let expected = rounded(Unary::Logistic, x.into(), &grid);
                        assert!(same(got.into(), expected), "{x:e}: {got:e}");
                    }
                }
                asked
            })
        })
        .collect();
    let asked: u64 = halves.into_iter().map(|half| half.join().unwrap()).sum();
    println!("logistic f32: all values, {asked} of them decided in {} bits", crate::oracle::BITS);
}

fn check2(op: Binary, a: f64, b: f64) {
    let got = ours2(op, E::F64, a, b);
    let exact: Big = match op {
        Binary::Power => power(a, b),
        Binary::Atan2 => big(a).atan2(&big(b)),
        other => panic!("{other:?}"),
    };
    assert!(is_nearest(got, &exact), "{op:?} {a:e} {b:e}: {got:e}");
    let (a, b) = (a as f32, b as f32);
    let (wide, narrow) = ((f64::from(a), f64::from(b)), grid_of(E::F32));
    let got = ours2(op, E::F32, wide.0, wide.1);
    let expected = rounded2(op, wide.0, wide.1, &narrow);
    assert!(same(got, expected), "{op:?} {a:e} {b:e}: {got:e}, not {expected:?}");
}

#[test]
fn powers_and_angles() {
    let mut chance = Chance(6);
    for n in 1..52 {
        // Near 1 with large exponents, and results near 1.
        for base in [1.0 + two(-n), 1.0 - two(-n), (1.0 + two(-n)).next_down()] {
            check2(Binary::Power, base, chance.float(n - 2, n + 8));
            check2(Binary::Power, base, chance.float(-30, 2));
        }
        check2(Binary::Atan2, chance.float(-n, -n + 1), chance.float(n, n + 1));
        check2(Binary::Atan2, two(-n), -1.0);
    }
    for _ in 0..120 {
        check2(Binary::Power, chance.float(-8, 8).abs(), chance.float(-6, 6));
        check2(Binary::Power, chance.float(-300, 300).abs(), chance.float(-3, 1));
        check2(Binary::Power, chance.float(-3, 3), chance.float(1, 6).round());
        check2(Binary::Atan2, chance.float(-5, 5), chance.float(-5, 5));
        check2(Binary::Atan2, chance.float(-500, 400), chance.float(-400, 500));
    }
    // Exact results, ties, subnormal results.
    for (a, b) in
        [(3.0, 33.0), (3.0, 34.0), (5.0, 23.0), (0.5, 1074.0), (0.5, 1074.9), (2.0, 1023.5)]
    {
        check2(Binary::Power, a, b);
    }
}

/// Sums, products, quotients and remainders of f32 through f64, against exact arithmetic.
#[test]
fn basic_operations() {
    let (grid, mut chance) = (grid_of(E::F32), Chance(7));
    for i in 0..30_000 {
        let spread = if i % 2 == 0 { 3 } else { 140 };
        let a = f64::from(chance.float(-spread, spread.min(127)) as f32);
        let b = f64::from(chance.float(-spread, spread.min(127)) as f32);
        for op in [Binary::Add, Binary::Subtract, Binary::Multiply, Binary::Divide] {
            let (got, expected) = (ours2(op, E::F32, a, b), rounded2(op, a, b, &grid));
            assert!(same(got, expected), "{op:?} {a:e} {b:e}: {got:e}, not {expected:?}");
        }
    }
}

#[test]
fn specials_of_one_operand() {
    let pi = std::f64::consts::PI;
    let rows: &[(Unary, &[(f64, f64)])] = &[
        (Unary::Acos, &[(1.0, 0.0), (-1.0, pi), (0.0, pi / 2.0), (1.5, NAN), (INF, NAN)]),
        (Unary::Acosh, &[(1.0, 0.0), (0.5, NAN), (-INF, NAN), (INF, INF)]),
        (Unary::Asin, &[(0.0, 0.0), (-0.0, -0.0), (1.0, pi / 2.0), (-1.5, NAN), (INF, NAN)]),
        (Unary::Asinh, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)]),
        (Unary::Atanh, &[(-0.0, -0.0), (1.0, INF), (-1.0, -INF), (1.5, NAN), (INF, NAN)]),
        (Unary::Cbrt, &[(-8.0, -2.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)]),
        (Unary::Ceil, &[(-0.5, -0.0), (0.5, 1.0), (INF, INF), (-INF, -INF)]),
        (Unary::Cosine, &[(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN)]),
        (Unary::Cosh, &[(-0.0, 1.0), (INF, INF), (-INF, INF)]),
        (Unary::Erf, &[(-0.0, -0.0), (INF, 1.0), (-INF, -1.0)]),
        (Unary::Exponential, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0)]),
        (Unary::ExponentialMinusOne, &[(-0.0, -0.0), (INF, INF), (-INF, -1.0)]),
        (Unary::Floor, &[(-0.5, -1.0), (-0.0, -0.0), (0.5, 0.0), (INF, INF)]),
        (Unary::Log, &[(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (INF, INF)]),
        (Unary::LogPlusOne, &[(-1.0, -INF), (-0.0, -0.0), (-1.5, NAN), (INF, INF)]),
        (Unary::Logistic, &[(0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0)]),
        (Unary::RoundNearestAfz, &[(-0.5, -1.0), (0.25, 0.0), (-0.25, -0.0), (2.5, 3.0)]),
        (Unary::RoundNearestEven, &[(-0.5, -0.0), (2.5, 2.0), (3.5, 4.0), (-INF, -INF)]),
        (Unary::Rsqrt, &[(0.0, INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (4.0, 0.5)]),
        (Unary::Sign, &[(-0.0, -0.0), (0.0, 0.0), (-3.0, -1.0), (INF, 1.0), (-INF, -1.0)]),
        (Unary::Sine, &[(-0.0, -0.0), (INF, NAN), (-INF, NAN)]),
        (Unary::Sinh, &[(-0.0, -0.0), (INF, INF), (-INF, -INF)]),
        (Unary::Sqrt, &[(-0.0, -0.0), (-1.0, NAN), (INF, INF), (-INF, NAN)]),
        (Unary::Tan, &[(-0.0, -0.0), (INF, NAN)]),
        (Unary::Tanh, &[(-0.0, -0.0), (INF, 1.0), (-INF, -1.0)]),
    ];
    for &(op, cases) in rows {
        for ty in [E::F64, E::F32, E::F16, E::Bf16, E::F8E5M2] {
            assert!(ours(op, ty, NAN).is_nan(), "{op:?} {ty}");
            for &(x, expected) in cases {
                let expected = match ty {
                    E::F64 => (!expected.is_nan()).then_some(expected),
                    narrow => grid_of(narrow).round(expected),
                };
                let got = ours(op, ty, x);
                assert!(same(got, expected), "{op:?} {ty} {x}: {got}, not {expected:?}");
            }
        }
    }
}

#[test]
fn specials_of_two_operands() {
    let pi = std::f64::consts::PI;
    let rows: &[(Binary, &[Row])] = &[
        (Binary::Add, &[(INF, -INF, NAN), (-0.0, 0.0, 0.0), (-0.0, -0.0, -0.0)]),
        (Binary::Subtract, &[(INF, INF, NAN), (0.0, 0.0, 0.0), (-0.0, 0.0, -0.0)]),
        (Binary::Multiply, &[(INF, 0.0, NAN), (-1.0, 0.0, -0.0), (-INF, 2.0, -INF)]),
        (Binary::Divide, &[(0.0, 0.0, NAN), (1.0, -0.0, -INF), (INF, INF, NAN), (1.0, INF, 0.0)]),
        (Binary::Remainder, &[(-5.0, 2.0, -1.0), (5.0, -2.0, 1.0), (-4.0, 2.0, -0.0)]),
        (Binary::Remainder, &[(1.0, 0.0, NAN), (INF, 2.0, NAN), (3.0, -INF, 3.0), (NAN, 1.0, NAN)]),
        (Binary::Maximum, &[(NAN, 1.0, NAN), (1.0, NAN, NAN), (-0.0, 0.0, 0.0), (0.0, -0.0, 0.0)]),
        (
            Binary::Minimum,
            &[(NAN, 1.0, NAN), (1.0, NAN, NAN), (-0.0, 0.0, -0.0), (0.0, -0.0, -0.0)],
        ),
        (
            Binary::Power,
            &[(NAN, 0.0, 1.0), (NAN, -0.0, 1.0), (1.0, NAN, 1.0), (-8.0, 1.0 / 3.0, NAN)],
        ),
        (
            Binary::Power,
            &[(-0.0, -3.0, -INF), (0.0, -2.5, INF), (-0.0, 3.0, -0.0), (0.0, 0.5, 0.0)],
        ),
        (
            Binary::Power,
            &[(-1.0, INF, 1.0), (-1.0, -INF, 1.0), (-INF, -3.0, -0.0), (-INF, 3.0, -INF)],
        ),
        (Binary::Power, &[(0.5, INF, 0.0), (2.0, INF, INF), (0.5, -INF, INF), (INF, -1.0, 0.0)]),
        (Binary::Atan2, &[(-0.0, -1.0, -pi), (0.0, -0.0, pi), (-0.0, 0.0, -0.0), (0.0, 1.0, 0.0)]),
        (Binary::Atan2, &[(INF, INF, pi / 4.0), (-INF, -INF, -0.75 * pi), (1.0, -INF, pi)]),
        (
            Binary::Atan2,
            &[(1.0, INF, 0.0), (-1.0, 0.0, -pi / 2.0), (NAN, 1.0, NAN), (1.0, NAN, NAN)],
        ),
    ];
    for &(op, cases) in rows {
        for ty in [E::F64, E::F32, E::F16, E::Bf16, E::F8E5M2] {
            for &(a, b, expected) in cases {
                let representable = |x: f64| match ty {
                    E::F64 => (!x.is_nan()).then_some(x),
                    narrow => grid_of(narrow).round(x),
                };
                // A third is not an integer in any type.
                let (a, b) = (representable(a).unwrap_or(NAN), representable(b).unwrap_or(NAN));
                let got = ours2(op, ty, a, b);
                assert!(same(got, representable(expected)), "{op:?} {ty} {a} {b}: {got}");
            }
        }
    }
}
