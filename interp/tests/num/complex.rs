//! Errors of complex functions, in units in the last place, against textbook formulas in high precision.
use crate::grid::two;
use crate::oracle::{Big, Chance, big_to};
use hlo::op::{Binary, Unary};
use hlo::{ElementType as E, Scalar};
use interp::num;
use std::fmt::Write;

/// The precision allows for cancellation in the formulas, by up to twice the exponent's distance from 1.
const BITS: usize = 700;

fn big(x: f64) -> Big {
    big_to(x, BITS)
}

#[derive(Clone)]
struct Z {
    re: Big,
    im: Big,
}

impl Z {
    fn new(re: f64, im: f64) -> Self {
        Self { re: big(re), im: big(im) }
    }
    fn plus(&self, w: &Self) -> Self {
        Self { re: &self.re + &w.re, im: &self.im + &w.im }
    }
    fn minus(&self, w: &Self) -> Self {
        Self { re: &self.re - &w.re, im: &self.im - &w.im }
    }
    fn times(&self, w: &Self) -> Self {
        Self { re: &self.re * &w.re - &self.im * &w.im, im: &self.re * &w.im + &self.im * &w.re }
    }
    fn norm(&self) -> Big {
        &self.re * &self.re + &self.im * &self.im
    }
    fn over(&self, w: &Self) -> Self {
        let norm = w.norm();
        let product = self.times(&Self { re: w.re.clone(), im: -w.im.clone() });
        Self { re: product.re / &norm, im: product.im / norm }
    }
    fn is_zero(&self) -> bool {
        self.norm() == big(0.0)
    }
    fn half(&self) -> Self {
        Self { re: &self.re / big(2.0), im: &self.im / big(2.0) }
    }
    fn times_i(&self) -> Self {
        Self { re: -self.im.clone(), im: self.re.clone() }
    }
    fn over_i(&self) -> Self {
        Self { re: self.im.clone(), im: -self.re.clone() }
    }
    fn ln(&self) -> Self {
        Self { re: self.norm().ln() / big(2.0), im: self.im.atan2(&self.re) }
    }
    fn exp(&self) -> Self {
        let size = self.re.exp();
        Self { re: &size * self.im.cos(), im: size * self.im.sin() }
    }
    /// Returns the root with a real part of at least 0.
    fn sqrt(&self) -> Self {
        let zero = big(0.0);
        let large = ((self.norm().sqrt()
            + if self.re < zero { -&self.re } else { self.re.clone() })
            / big(2.0))
        .sqrt();
        if large == zero {
            return self.clone();
        }
        let small = &self.im / (big(2.0) * &large);
        if self.re >= zero {
            Self { re: large, im: small }
        } else if self.im < zero {
            Self { re: -small, im: -large }
        } else {
            Self { re: small, im: large }
        }
    }
    fn sinh(&self) -> Self {
        Self { re: self.re.sinh() * self.im.cos(), im: self.re.cosh() * self.im.sin() }
    }
    fn cosh(&self) -> Self {
        Self { re: self.re.cosh() * self.im.cos(), im: self.re.sinh() * self.im.sin() }
    }
    fn asinh(&self, one: &Self) -> Self {
        self.plus(&self.times(self).plus(one).sqrt()).ln()
    }
}

/// Returns the textbook formula of a function.
fn formula(op: Unary, z: &Z) -> Z {
    let one = &Z::new(1.0, 0.0);
    match op {
        Unary::Abs => Z { re: z.norm().sqrt(), im: big(0.0) },
        // pi/2 - asin
        Unary::Acos => {
            let asin = z.times_i().asinh(one).over_i();
            Z { re: Big::pi(BITS) / big(2.0) - asin.re, im: -asin.im }
        }
        Unary::Acosh => {
            let roots = z.plus(one).sqrt().times(&z.minus(one).sqrt());
            z.plus(&roots).ln()
        }
        Unary::Asin => z.times_i().asinh(one).over_i(),
        Unary::Asinh => z.asinh(one),
        Unary::Atanh => one.plus(z).ln().minus(&one.minus(z).ln()).half(),
        Unary::Cosine => z.times_i().cosh(),
        Unary::Cosh => z.cosh(),
        Unary::Exponential => z.exp(),
        Unary::ExponentialMinusOne => z.exp().minus(one),
        Unary::Log => z.ln(),
        Unary::LogPlusOne => one.plus(z).ln(),
        Unary::Logistic => one.over(&one.plus(&Z { re: -&z.re, im: -&z.im }.exp())),
        Unary::Rsqrt => one.over(&z.sqrt()),
        Unary::Sign => {
            let abs = z.norm().sqrt();
            Z { re: &z.re / &abs, im: &z.im / abs }
        }
        Unary::Sine => z.times_i().sinh().over_i(),
        Unary::Sinh => z.sinh(),
        Unary::Sqrt => z.sqrt(),
        Unary::Tan => z.times_i().sinh().over(&z.times_i().cosh()).over_i(),
        Unary::Tanh => z.sinh().over(&z.cosh()),
        other => panic!("{other:?} is not a complex function"),
    }
}
fn formula2(op: Binary, a: &Z, b: &Z) -> Z {
    match op {
        Binary::Add => a.plus(b),
        Binary::Subtract => a.minus(b),
        Binary::Multiply => a.times(b),
        Binary::Divide => a.over(b),
        Binary::Power => b.times(&a.ln()).exp(),
        Binary::Atan2 => {
            let root = b.times(b).plus(&a.times(a)).sqrt();
            b.plus(&a.times_i()).over(&root).ln().over_i()
        }
        other => panic!("{other:?} is not a complex function"),
    }
}

/// Bounds in ulp of `c64` and `c128`: of each part, and of the absolute value. The former is infinite where a part can
/// cancel.
struct Row {
    name: &'static str,
    apply: Apply,
    parts: [f64; 2],
    whole: [f64; 2],
}
#[derive(Clone, Copy)]
enum Apply {
    One(Unary),
    Two(Binary),
}

const NONE: f64 = f64::INFINITY;
const fn one(op: Unary, name: &'static str, parts: [f64; 2], whole: [f64; 2]) -> Row {
    Row { name, apply: Apply::One(op), parts, whole }
}
const fn two_of(op: Binary, name: &'static str, parts: [f64; 2], whole: [f64; 2]) -> Row {
    Row { name, apply: Apply::Two(op), parts, whole }
}

/// The bounds that docs/numerics.md states.
const ROWS: [Row; 26] = [
    one(Unary::Abs, "abs", [0.5, 0.5], [0.5, 0.5]),
    one(Unary::Acos, "acos", [0.51, 4.0], [0.51, 4.0]),
    one(Unary::Acosh, "acosh", [0.51, 4.0], [0.51, 4.0]),
    one(Unary::Asin, "asin", [0.51, 4.0], [0.51, 4.0]),
    one(Unary::Asinh, "asinh", [0.51, 4.0], [0.51, 4.0]),
    one(Unary::Atanh, "atanh", [0.51, 4.0], [0.51, 4.0]),
    one(Unary::Cosine, "cosine", [0.51, 2.0], [0.51, 2.0]),
    one(Unary::Cosh, "cosh", [0.51, 2.0], [0.51, 2.0]),
    one(Unary::Exponential, "exponential", [0.51, 2.0], [0.51, 2.0]),
    one(Unary::ExponentialMinusOne, "exponential-minus-one", [NONE, NONE], [0.51, 3.0]),
    one(Unary::Log, "log", [0.51, 2.0], [0.51, 2.0]),
    one(Unary::LogPlusOne, "log-plus-one", [0.51, 3.0], [0.51, 3.0]),
    one(Unary::Logistic, "logistic", [NONE, NONE], [0.51, 4.0]),
    one(Unary::Rsqrt, "rsqrt", [0.51, 5.0], [0.51, 3.0]),
    one(Unary::Sign, "sign", [0.51, 1.5], [0.51, 1.5]),
    one(Unary::Sine, "sine", [0.51, 2.0], [0.51, 2.0]),
    one(Unary::Sinh, "sinh", [0.51, 2.0], [0.51, 2.0]),
    one(Unary::Sqrt, "sqrt", [0.51, 2.0], [0.51, 2.0]),
    one(Unary::Tan, "tan", [0.51, 4.0], [0.51, 4.0]),
    one(Unary::Tanh, "tanh", [0.51, 4.0], [0.51, 4.0]),
    two_of(Binary::Add, "add", [0.5, 0.5], [0.5, 0.5]),
    two_of(Binary::Subtract, "subtract", [0.5, 0.5], [0.5, 0.5]),
    two_of(Binary::Multiply, "multiply", [0.5, 0.51], [0.5, 0.51]),
    two_of(Binary::Divide, "divide", [0.51, 2.0], [0.51, 2.0]),
    two_of(Binary::Power, "power", [NONE, NONE], [0.51, 2.0]),
    two_of(Binary::Atan2, "atan2", [0.51, 3.0], [0.51, 3.0]),
];

/// Returns a number of one of several kinds: of moderate size, of wide range, near a cut, near 1 or i, near a pole of
/// tan or tanh, nearly real or imaginary.
fn sample(chance: &mut Chance, i: usize, single: bool) -> (f64, f64) {
    let quarter = std::f64::consts::FRAC_PI_2;
    let round = |x: f64| if single { f64::from(x as f32) } else { x };
    let turned =
        |(a, b): (f64, f64), i: usize| if (i / 8).is_multiple_of(2) { (a, b) } else { (b, a) };
    let (a, b) = match i % 8 {
        0 => (chance.float(-3, 3), chance.float(-3, 3)),
        1 => (chance.float(-20, 7), chance.float(-20, 7)),
        2 => (chance.float(-2, 3), chance.float(-50, -20)),
        3 => (1.0 + chance.float(-50, -2), chance.float(-50, -2)),
        4 => {
            let turns = (chance.float(0, 4)).round();
            (chance.float(-50, -2), quarter * turns + chance.float(-50, -8))
        }
        5 => {
            let angle = chance.float(-3, 2);
            (angle.cos(), angle.sin())
        }
        6 => (chance.float(-100, -20), chance.float(-100, -20)),
        _ => (chance.float(-5, 6).round(), chance.float(-5, 6).round() + 0.5),
    };
    let (a, b) = turned((a, b), i);
    (round(a), round(b))
}

/// Returns the error of `got` in units in the last place of `at`, which is a value in the type's range.
fn ulps(got: f64, exact: &Big, at: f64, ty: E) -> f64 {
    let (bits, least) = if ty == E::C64 { (24, -149) } else { (53, -1074) };
    let exponent = if at == 0.0 { -1100 } else { at.abs().log2().floor() as i32 };
    let unit = (exponent + 1 - bits).max(least);
    let error = (exact - big(got)).to_f64().value().abs();
    // In two steps: the unit may be subnormal.
    error * two(-unit / 2) * two(-(unit - unit / 2))
}

/// Returns the largest errors of a function over samples: of the worse part, and of the absolute value.
fn measure(row: &Row, ty: E, count: usize, seed: u64) -> (f64, f64, String) {
    let mut chance = Chance(seed);
    let single = ty == E::C64;
    let (mut parts, mut whole, mut worst) = (0f64, 0f64, String::new());
    for i in 0..count {
        let (a, b) = sample(&mut chance, i, single);
        let second = sample(&mut chance, (i * 5 + i / 8) % 64, single);
        let (got, exact) = match row.apply {
            Apply::One(op) => {
                if unfit(op, a, b) {
                    continue;
                }
                (num::unary(op, ty, Scalar::Complex(a, b)), formula(op, &Z::new(a, b)))
            }
            Apply::Two(op) => {
                // The poles of atan2 themselves: y = ix and y = -ix.
                let (x, y) = (Z::new(second.0, second.1), Z::new(a, b).times_i());
                if op == Binary::Atan2 && (x.plus(&y).is_zero() || x.minus(&y).is_zero()) {
                    continue;
                }
                let (x, y) = (Scalar::Complex(a, b), Scalar::Complex(second.0, second.1));
                (
                    num::binary(op, ty, x, y),
                    formula2(op, &Z::new(a, b), &Z::new(second.0, second.1)),
                )
            }
        };
        let (re, im) = match got {
            Scalar::Complex(re, im) => (re, im),
            Scalar::Float(x) => (x, 0.0),
            other => panic!("{other:?}"),
        };
        let near = [exact.re.to_f64().value(), exact.im.to_f64().value()];
        let limit = if single { f64::from(f32::MAX) } else { f64::MAX };
        // Overflow and subnormal results are not measured in ulps.
        let sizes = near.map(f64::abs);
        if sizes.iter().any(|&x| x >= limit)
            || sizes[0].max(sizes[1]) < two(if single { -120 } else { -1000 })
        {
            continue;
        }
        let size = sizes[0].hypot(sizes[1]);
        for (got, exact, at) in [(re, &exact.re, near[0]), (im, &exact.im, near[1])] {
            if at.abs() < size * two(-500) {
                // Zero, except for the formula's own error.
                continue;
            }
            let (part, all) = (ulps(got, exact, at, ty), ulps(got, exact, size, ty));
            if part > parts && row.parts[0] != NONE || all > whole && row.parts[0] == NONE {
                worst = format!("({a:e}, {b:e}) {second:?} is ({re:e}, {im:e})");
            }
            (parts, whole) = (parts.max(part), whole.max(all));
        }
    }
    (parts, whole, worst)
}

/// Returns whether the formulas do not apply: on a cut the sign of a zero decides, and zeros have no logarithm.
fn unfit(op: Unary, a: f64, b: f64) -> bool {
    (a == 0.0 || b == 0.0) && !matches!(op, Unary::Abs | Unary::Exponential)
}

fn check(count: usize, seed: u64) {
    let mut table = String::new();
    let mut failed = false;
    for row in &ROWS {
        let name = row.name;
        write!(table, "| {name:22} |").unwrap();
        for (i, ty) in [E::C64, E::C128].into_iter().enumerate() {
            let (parts, whole, worst) = measure(row, ty, count, seed);
            let bad = parts > row.parts[i] || whole > row.whole[i];
            failed |= bad;
            let at = if bad || count > 1000 { worst } else { String::new() };
            write!(table, " {parts:.4} | {whole:.4} | {at}").unwrap();
        }
        table.push('\n');
    }
    println!("| op | c64 part | c64 whole | c128 part | c128 whole |\n{table}");
    assert!(!failed, "bounds exceeded:\n{table}");
}

#[test]
fn errors_are_within_bounds() {
    check(64, 8);
}

#[test]
#[ignore = "measures over many samples: minutes in a release build"]
fn errors_over_many_samples() {
    check(500, 9);
}
