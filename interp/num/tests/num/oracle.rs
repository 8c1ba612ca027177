//! Real functions to any precision, and fast approximations.
//!
//! The precise values come from `dashu-float`, which is independent of CORE-MATH. One value takes
//! about 0.1 ms, so the approximation of the platform's libm, which the library never uses, decides
//! values far from a tie.
use crate::grid::{Grid, two};
use dashu_float::ops::CubicRoot;
use dashu_float::{FBig, round::mode::HalfEven};
use hlo::op::{Binary, Unary};
use std::cmp::Ordering;

pub type Big = FBig<HalfEven, 2>;

/// The precision of the precise values.
pub const BITS: usize = 240;
/// The relative error of the approximation.
const DOUBT: f64 = 1.0 / (1u64 << 44) as f64;

/// The functions whose results are rounded, excluding exact functions and selections.
pub const FUNCTIONS: [Unary; 20] = [
    Unary::Acos,
    Unary::Acosh,
    Unary::Asin,
    Unary::Asinh,
    Unary::Atanh,
    Unary::Cbrt,
    Unary::Cosine,
    Unary::Cosh,
    Unary::Erf,
    Unary::Exponential,
    Unary::ExponentialMinusOne,
    Unary::Log,
    Unary::LogPlusOne,
    Unary::Logistic,
    Unary::Rsqrt,
    Unary::Sine,
    Unary::Sinh,
    Unary::Sqrt,
    Unary::Tan,
    Unary::Tanh,
];

/// Returns `x` as a number of this precision.
pub fn big_to(x: f64, bits: usize) -> Big {
    Big::try_from(x).expect("finite").with_precision(bits).value()
}
pub fn big(x: f64) -> Big {
    big_to(x, BITS)
}

/// Returns the value of a function at a number of its domain, to `bits` bits.
pub fn exact_to(op: Unary, x: f64, bits: usize) -> Big {
    let (one, z) = (big_to(1.0, bits), big_to(x, bits));
    match op {
        Unary::Acos => z.acos(),
        Unary::Acosh => z.acosh(),
        Unary::Asin => z.asin(),
        Unary::Asinh => z.asinh(),
        Unary::Atanh => z.atanh(),
        Unary::Cbrt => z.cbrt(),
        Unary::Cosine => z.cos(),
        Unary::Cosh => z.cosh(),
        Unary::Erf => erf(x, bits),
        Unary::Exponential => z.exp(),
        Unary::ExponentialMinusOne => z.exp_m1(),
        Unary::Log => z.ln(),
        Unary::LogPlusOne => z.ln_1p(),
        Unary::Logistic => one.clone() / (one + (-z).exp()),
        Unary::Rsqrt => one / z.sqrt(),
        Unary::Sine => z.sin(),
        Unary::Sinh => z.sinh(),
        Unary::Sqrt => z.sqrt(),
        Unary::Tan => z.tan(),
        Unary::Tanh => z.tanh(),
        other => panic!("{other:?} is not a function"),
    }
}
pub fn exact(op: Unary, x: f64) -> Big {
    exact_to(op, x, BITS)
}

/// erf(x) = 2/sqrt(pi) exp(-x^2) (x + 2x^3/3 + 4x^5/15 + ...), all terms of one sign.
fn erf(x: f64, bits: usize) -> Big {
    if x.abs() > 6.5 {
        // Nearer to 1 than a quarter of an ulp of f64.
        return big_to(1.0f64.copysign(x), bits) - big_to(two(-60).copysign(x), bits);
    }
    let z = big_to(x, bits);
    let (twice_square, mut term, mut sum) = (&z * &z * big_to(2.0, bits), z.clone(), z.clone());
    let mut odd = 1.0;
    loop {
        odd += 2.0;
        term = term * &twice_square / big_to(odd, bits);
        let next = &sum + &term;
        if next == sum {
            break;
        }
        sum = next;
    }
    let exp = (-(&z * &z)).exp();
    sum * exp * big_to(2.0, bits) / Big::pi(bits).sqrt()
}

/// Returns the platform's libm value, within about 2^-50.
pub fn guess(op: Unary, x: f64) -> f64 {
    match op {
        Unary::Acos => x.acos(),
        Unary::Acosh => quick_acosh(x),
        Unary::Asin => x.asin(),
        Unary::Asinh => quick_asinh(x),
        Unary::Atanh => quick_atanh(x),
        Unary::Cbrt => x.cbrt(),
        Unary::Cosine => x.cos(),
        Unary::Cosh => x.cosh(),
        Unary::Erf => quick_erf(x),
        Unary::Exponential => x.exp(),
        Unary::ExponentialMinusOne => x.exp_m1(),
        Unary::Log => x.ln(),
        Unary::LogPlusOne => x.ln_1p(),
        Unary::Logistic => {
            let e = (-x.abs()).exp();
            if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
        }
        Unary::Rsqrt => 1.0 / x.sqrt(),
        Unary::Sine => x.sin(),
        Unary::Sinh => x.sinh(),
        Unary::Sqrt => x.sqrt(),
        Unary::Tan => x.tan(),
        Unary::Tanh => x.tanh(),
        other => panic!("{other:?} is not a function"),
    }
}

// The standard library's formulas for these three lose bits; these use log1p.
fn quick_asinh(x: f64) -> f64 {
    let a = x.abs();
    let size = if a > two(30) {
        a.ln() + std::f64::consts::LN_2
    } else {
        (a + a * a / (1.0 + (a * a + 1.0).sqrt())).ln_1p()
    };
    size.copysign(x)
}
fn quick_acosh(x: f64) -> f64 {
    if x < 1.0 {
        return f64::NAN;
    }
    let t = x - 1.0;
    if x > two(30) {
        x.ln() + std::f64::consts::LN_2
    } else {
        (t + (2.0 * t + t * t).sqrt()).ln_1p()
    }
}
fn quick_atanh(x: f64) -> f64 {
    let a = x.abs();
    (0.5 * (2.0 * a / (1.0 - a)).ln_1p()).copysign(x)
}
fn quick_erf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.abs() > 6.5 {
        return 1.0f64.copysign(x);
    }
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term.abs() > sum.abs() * two(-60) {
        odd += 2.0;
        term *= 2.0 * x * x / odd;
        sum += term;
    }
    sum * (-x * x).exp() * std::f64::consts::FRAC_2_SQRT_PI
}

/// A real number: an approximation within about 2^-50, and a way to compute it precisely.
pub struct Real<F: Fn() -> Big> {
    pub guess: f64,
    pub exact: F,
    /// The bits to which a value equal to one of few bits agrees with it.
    pub equal_from: i32,
}

impl<F: Fn() -> Big> Real<F> {
    /// Compares the magnitude of the number with `other`, which is not negative.
    pub fn compare(&self, other: f64) -> Ordering {
        let size = self.guess.abs();
        if size.is_infinite() {
            return Ordering::Greater;
        }
        if (size - other).abs() > size * DOUBT || size == 0.0 {
            return size.partial_cmp(&other).expect("numbers");
        }
        let exact = (self.exact)();
        let exact = if self.guess < 0.0 { -exact } else { exact };
        let other = big(other);
        let difference = &exact - &other;
        let trifle = &other * big(two(-self.equal_from));
        if difference.clone() < trifle && -difference.clone() < trifle {
            Ordering::Equal
        } else {
            exact.partial_cmp(&other).expect("numbers")
        }
    }
    /// Returns the number rounded to a format.
    pub fn round_to(&self, grid: &Grid) -> Option<f64> {
        if self.guess.is_nan() {
            return grid.nan();
        }
        grid.nearest(self.guess.is_sign_negative(), |size| self.compare(size))
    }
}

/// Returns the value of a function rounded to a format.
pub fn rounded(op: Unary, x: f64, grid: &Grid) -> Option<f64> {
    Real { guess: guess(op, x), exact: || exact(op, x), equal_from: 200 }.round_to(grid)
}

/// Returns the value of an operation on two values of a format, rounded to it.
pub fn rounded2(op: Binary, a: f64, b: f64, grid: &Grid) -> Option<f64> {
    let guess = match op {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::Power => a.powf(b),
        Binary::Atan2 => a.atan2(b),
        other => panic!("{other:?} is a selection or exact"),
    };
    if op == Binary::Power && guess == 0.0 && a != 0.0 && a.is_finite() && b.is_finite() {
        // Not zero, but smaller than all values.
        let tiny = |size: f64| if size == 0.0 { Ordering::Greater } else { Ordering::Less };
        return grid.nearest(guess.is_sign_negative(), tiny);
    }
    let wide = |x: f64| big_to(x, 600);
    let exact = || match op {
        Binary::Add => wide(a) + wide(b),
        Binary::Subtract => wide(a) - wide(b),
        Binary::Multiply => wide(a) * wide(b),
        Binary::Divide => big(a) / big(b),
        Binary::Power => power(a, b),
        Binary::Atan2 => wide(a).atan2(&wide(b)),
        _ => unreachable!("see above"),
    };
    // A tiny angle differs from the quotient, which may be a tie, by the quotient's cube.
    let equal_from = if op == Binary::Atan2 { 550 } else { 200 };
    Real { guess, exact, equal_from }.round_to(grid)
}

/// a^b, for a finite result that is not zero.
pub fn power(a: f64, b: f64) -> Big {
    let size = big(a.abs()).powf(&big(b));
    // A negative base has an integer exponent.
    if a < 0.0 && (b / 2.0).fract() != 0.0 { -size } else { size }
}

/// Returns whether `got` is the f64 nearest to `exact`; on a tie, the even one.
pub fn is_nearest(got: f64, exact: &Big) -> bool {
    if got.is_nan() {
        return false;
    }
    let middle = |a: f64, b: f64| {
        // Beyond the largest number, the next value of an unbounded range.
        let next =
            |x: f64| if x.is_finite() { big(x) } else { big(two(1023).copysign(x)) * big(2.0) };
        (next(a) + next(b)) / big(2.0)
    };
    let even = got.to_bits() & 1 == 0;
    let inside = |edge: &Big, value: &Big| if even { edge <= value } else { edge < value };
    let above_low = got == f64::NEG_INFINITY || inside(&middle(got.next_down(), got), exact);
    let below_high = got == f64::INFINITY || inside(&-middle(got, got.next_up()), &-exact.clone());
    above_low && below_high
}

/// A deterministic source of pseudorandom numbers.
pub struct Chance(pub u64);
impl Chance {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// Returns a number of either sign with an exponent in `low..high`.
    pub fn float(&mut self, low: i32, high: i32) -> f64 {
        let (bits, sign) = (self.bits(), self.bits());
        let exponent = low + (sign >> 1).rem_euclid((high - low) as u64) as i32;
        let x = (1.0 + (bits >> 12) as f64 * two(-52)) * two(exponent);
        if sign & 1 == 1 { -x } else { x }
    }
}
