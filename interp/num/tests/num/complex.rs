//! Errors of complex functions, in units in the last place, against textbook formulas in high
//! precision.
use crate::grid::two;
use crate::oracle::{Big, Chance, big_to};
use hlo::op::{Binary, Unary};
use hlo::{ElementType as E, Scalar};
use std::fmt::Write;

/// The precision allows for cancellation in the formulas, by up to twice the exponent's distance
/// from 1.
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

/// Bounds in ulp of `c64` and `c128`: of each part, and of the absolute value. The former is
/// infinite where a part can cancel.
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

/// The bounds that docs/numerics.md states. Those of `c64` are half an ulp, and 2^-29 of those of
/// `c128`.
const ROWS: [Row; 26] = [
    one(Unary::Abs, "abs", [0.5, 0.5], [0.5, 0.5]),
    one(Unary::Acos, "acos", [0.501, 1.51], [0.501, 1.51]),
    one(Unary::Acosh, "acosh", [0.501, 1.51], [0.501, 1.51]),
    one(Unary::Asin, "asin", [0.501, 1.51], [0.501, 1.51]),
    one(Unary::Asinh, "asinh", [0.501, 1.51], [0.501, 1.51]),
    one(Unary::Atanh, "atanh", [0.501, 1.51], [0.501, 1.51]),
    one(Unary::Cosine, "cosine", [0.501, 2.51], [0.501, 2.51]),
    one(Unary::Cosh, "cosh", [0.501, 2.51], [0.501, 2.51]),
    one(Unary::Exponential, "exponential", [0.501, 2.51], [0.501, 2.51]),
    one(Unary::ExponentialMinusOne, "exponential-minus-one", [NONE, NONE], [0.501, 2.51]),
    one(Unary::Log, "log", [0.501, 1.51], [0.501, 1.51]),
    one(Unary::LogPlusOne, "log-plus-one", [0.501, 1.51], [0.501, 1.51]),
    one(Unary::Logistic, "logistic", [NONE, NONE], [0.501, 2.74]),
    one(Unary::Rsqrt, "rsqrt", [0.501, 0.501], [0.501, 0.501]),
    one(Unary::Sign, "sign", [0.501, 0.501], [0.501, 0.501]),
    one(Unary::Sine, "sine", [0.501, 2.51], [0.501, 2.51]),
    one(Unary::Sinh, "sinh", [0.501, 2.51], [0.501, 2.51]),
    one(Unary::Sqrt, "sqrt", [0.501, 0.501], [0.501, 0.501]),
    one(Unary::Tan, "tan", [0.501, 3.51], [0.501, 1.51]),
    one(Unary::Tanh, "tanh", [0.501, 3.51], [0.501, 1.51]),
    two_of(Binary::Add, "add", [0.5, 0.5], [0.5, 0.5]),
    two_of(Binary::Subtract, "subtract", [0.5, 0.5], [0.5, 0.5]),
    two_of(Binary::Multiply, "multiply", [0.5, 0.501], [0.5, 0.501]),
    two_of(Binary::Divide, "divide", [0.501, 0.501], [0.501, 0.501]),
    two_of(Binary::Power, "power", [NONE, NONE], [0.501, 2.0]),
    two_of(Binary::Atan2, "atan2", [0.501, 1.54], [0.501, 1.54]),
];

/// Returns a number of one of several kinds: of moderate size, of wide range, near a cut, near 1 or
/// i, near a pole of tan or tanh, nearly real or imaginary.
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

/// Returns the error of `got` in units in the last place of `at`, which is a value in the type's
/// range.
fn ulps(got: f64, exact: &Big, at: f64, ty: E) -> f64 {
    let (bits, least) = if ty == E::C64 { (24, -149) } else { (53, -1074) };
    let exponent = if at == 0.0 { -1100 } else { at.abs().log2().floor() as i32 };
    let unit = (exponent + 1 - bits).max(least);
    let error = (exact - big(got)).to_f64().value().abs();
    // In two steps: the unit may be subnormal.
    error * two(-unit / 2) * two(-(unit - unit / 2))
}

/// Operands of a function; the second one counts for two of them.
#[derive(Clone, Copy)]
struct Point {
    a: (f64, f64),
    b: (f64, f64),
}

impl Point {
    /// Returns operands next to these, within up to half of each part.
    fn near(self, chance: &mut Chance, single: bool) -> Self {
        let mut part = |x: f64| {
            let x = x * (1.0 + chance.float(-54, -1));
            if single { f64::from(x as f32) } else { x }
        };
        let mut number = |(re, im)| (part(re), part(im));
        Self { a: number(self.a), b: number(self.b) }
    }
}

/// Returns the result of a function, its exact value, and the errors of the result: of the worse
/// part, and of the absolute value. None where the formulas do not apply or the value overflows or
/// is small.
fn errors(row: &Row, ty: E, Point { a, b }: Point) -> Option<((f64, f64), Z, [f64; 2])> {
    let single = ty == E::C64;
    let (x, y) = (Scalar::Complex(a.0, a.1), Scalar::Complex(b.0, b.1));
    let (z, w) = (Z::new(a.0, a.1), Z::new(b.0, b.1));
    let (got, exact) = match row.apply {
        Apply::One(op) => {
            if unfit(op, a.0, a.1) {
                return None;
            }
            (num::unary(op, ty, x), formula(op, &z))
        }
        Apply::Two(op) => {
            // The poles of atan2 themselves: y = ix and y = -ix.
            let turned = z.times_i();
            if op == Binary::Atan2 && (w.plus(&turned).is_zero() || w.minus(&turned).is_zero()) {
                return None;
            }
            (num::binary(op, ty, x, y), formula2(op, &z, &w))
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
        || sizes[0].max(sizes[1]) < two(if single { -120 } else { -900 })
    {
        return None;
    }
    let size = sizes[0].hypot(sizes[1]);
    let mut errors = [0f64; 2];
    for (got, exact, at) in [(re, &exact.re, near[0]), (im, &exact.im, near[1])] {
        // Zero, except for the formula's own error.
        if at.abs() >= size * two(-500) {
            errors[0] = errors[0].max(ulps(got, exact, at, ty));
            errors[1] = errors[1].max(ulps(got, exact, size, ty));
        }
    }
    Some(((re, im), exact, errors))
}

/// Returns the largest errors of a function over samples. Every other sample is next to the worst
/// one so far.
fn measure(row: &Row, ty: E, count: usize, seed: u64) -> (f64, f64, String) {
    let mut chance = Chance(seed);
    let single = ty == E::C64;
    let (mut parts, mut whole, mut worst) = (0f64, 0f64, None);
    let mut text = String::new();
    for i in 0..count {
        let point = match worst {
            Some(point) if i % 2 == 1 => Point::near(point, &mut chance, single),
            _ => Point {
                a: sample(&mut chance, i / 2, single),
                b: sample(&mut chance, (i / 2 * 5 + i / 16) % 64, single),
            },
        };
        let Some(((re, im), _, [part, all])) = errors(row, ty, point) else { continue };
        if part > parts && row.parts[0] != NONE || all > whole && row.parts[0] == NONE {
            worst = Some(point);
            text = format!("{:?} {:?} is ({re:e}, {im:e})", point.a, point.b);
        }
        (parts, whole) = (parts.max(part), whole.max(all));
    }
    (parts, whole, text)
}

/// Returns whether the formulas do not apply: on a cut the sign of a zero decides, and zeros have
/// no logarithm.
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
    check(128, 8);
}

/// Points that are hard for the textbook formulas, with the exact values rounded to f64.
#[test]
fn hard_points() {
    let none = (0.0, 0.0);
    let cases = [
        // Small imaginary parts from large ones of intermediate results.
        ("rsqrt", (4.246_503_043_599_245, -0.001_029_005_910_694_700_8), none),
        ("sqrt", (-1.000_000_000_000_754_7, -7.547_295_236_753_456e-13), none),
        ("tan", (-1.000_938_072_548_724_2, -0.016_389_747_400_365_56), none),
        ("tan", (1.026_453_249_261_14, 0.004_096_204_605_371_768), none),
        ("tanh", (-0.000_502_342_815_870_310_8, -23.833_211_119_023_158), none),
        ("logistic", (-4.180_310_738_184_218, 0.009_481_141_650_538_183), none),
        ("asinh", (-0.010_634_934_359_543_295, 1.894_206_930_777_652_9e-65), none),
        ("asin", (-1.660_223_089_371_79e-77, -0.044_685_595_087_313_346), none),
        // Numerators that cancel, and a small part that scaling must not lose.
        (
            "divide",
            (1.000_000_109_398_750_7, 0.000_139_362_992_322_969_16),
            (0.000_143_044_064_194_217_64, 1.000_000_107_447_308_2),
        ),
        ("divide", (1e300, 3.141_59e-20), (0.0, 1.0)),
        ("log-plus-one", (-5e-31, 1e-15), none),
        ("log-plus-one", (1.003_705_719_416_959_2, -9.093_479_167_740_313e-13), none),
        (
            "atan2",
            (0.015_888_770_557_884_82, -0.001_398_274_598_049_836),
            (-0.251_774_097_035_462_83, -0.125_202_424_800_959_5),
        ),
        // The quotient of the formula has no imaginary part in f64.
        (
            "atan2",
            (-4.051_237_698_973_658_7e-25, 7.937_117_972_630_05e-30),
            (7.836_890_843_898_365, 0.002_649_253_662_550_65),
        ),
        // An angle whose rest is above 2^-27.
        ("power", (0.6, 0.800_000_1), (8_589_934_592.0, 1.0)),
    ];
    let values = [
        (0.485_270_924_154_148_3, 5.879_504_109_450_454_4e-05),
        (3.773_647_618_375_303_6e-13, -1.000_000_000_000_377_3),
        (-1.559_186_754_638_017_6, -0.056_265_998_003_266_14),
        (1.651_837_135_980_801, 0.015_273_582_783_812_936),
        (-0.006_996_585_474_819_295, 3.595_534_122_630_587_7),
        (0.015_062_732_110_223_976, 0.000_140_664_786_745_520_06),
        (-0.010_634_733_897_991_522, 1.894_099_820_729_295_7e-65),
        (-1.658_567_998_894_646_3e-77, -0.044_670_737_050_317_92),
        (0.000_282_407_020_673_954_77, -0.999_999_961_554_798_8),
        (3.141_59e-20, -1e300),
        (3.603_718_957_286_821_6e-47, 1e-15),
        (0.694_998_325_841_277_2, -4.538_330_693_783_888_3e-13),
        (3.093_206_718_975_998_6, 0.029_552_196_752_180_983),
        (-5.169_444_477_247_725e-26, 1.848_804_813_103_209_5e-29),
        (-1.101_586_545_159_281e298, 2.918_025_498_040_423e296),
    ];
    for ((name, a, b), value) in cases.into_iter().zip(values) {
        let row = ROWS.iter().find(|row| row.name == name).unwrap();
        let (got, exact, [part, whole]) = errors(row, E::C128, Point { a, b }).unwrap();
        let exact = (exact.re.to_f64().value(), exact.im.to_f64().value());
        assert_eq!(exact, value, "{name} {a:?} {b:?}");
        let is_within = part <= row.parts[1] && whole <= row.whole[1];
        assert!(is_within, "{name} {a:?} {b:?} is {got:?}, off by {part} and {whole}");
    }
}

#[test]
#[ignore = "measures over many samples: minutes in a release build"]
fn errors_over_many_samples() {
    check(1000, 9);
}
