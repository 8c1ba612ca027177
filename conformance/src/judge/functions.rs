//! The elementwise functions of intervals of real numbers.
use super::interval::{Interval, corners};
use hlo::op::{Binary, Unary};
use hlo::{ElementType, Scalar};
use interp::num;
use std::f64::consts::{FRAC_PI_2, PI};

/// Returns the function of one number, correctly rounded.
fn value(op: Unary, x: f64) -> f64 {
    num::unary(op, ElementType::F64, Scalar::Float(x)).as_f64()
}

/// Returns the values of a function over an interval, before any rounding.
pub(super) fn unary(op: Unary, x: Interval) -> Interval {
    // It may be NaN, of which most functions are NaN.
    if x.is_any() && op != Unary::Imag {
        return Interval::ANY;
    }
    match op {
        Unary::Negate => -x,
        Unary::Real => x,
        Unary::Imag => Interval::point(0.0),
        Unary::Abs => magnitude(x),
        Unary::Ceil
        | Unary::Floor
        | Unary::RoundNearestAfz
        | Unary::RoundNearestEven
        | Unary::Sign => {
            if x.is_nan() {
                x
            } else {
                Interval::closed(value(op, x.lo), value(op, x.hi))
            }
        }
        Unary::Acosh
        | Unary::Asin
        | Unary::Asinh
        | Unary::Atanh
        | Unary::Cbrt
        | Unary::Erf
        | Unary::Exponential
        | Unary::ExponentialMinusOne
        | Unary::Log
        | Unary::LogPlusOne
        | Unary::Logistic
        | Unary::Sinh
        | Unary::Sqrt
        | Unary::Tanh => increasing(x, |x| value(op, x)),
        // Zeros of both signs are poles, see [`steps`].
        Unary::Rsqrt if x.lo == 0.0 && !x.is_point() => {
            Interval { lo: (1.0 / x.hi.sqrt()).next_down(), hi: f64::INFINITY }
        }
        Unary::Acos | Unary::Rsqrt => -increasing(x, |x| -value(op, x)),
        Unary::Cosh => increasing(magnitude(x), |x| value(op, x)),
        Unary::Cosine | Unary::Sine => wave(op, x),
        Unary::Tan => tangent(x),
        // Of integers and booleans, or with a result of another type.
        Unary::CountLeadingZeros | Unary::IsFinite | Unary::Not | Unary::Popcnt => Interval::ANY,
    }
}

/// Returns the values of a function between its jumps; an interval around them if they are many.
pub(super) fn steps(op: Unary, x: Interval) -> Vec<Interval> {
    let (least, greatest) = domain(op);
    let reaches_out = (x.lo < least && least <= x.hi) || (x.lo <= greatest && greatest < x.hi);
    if reaches_out && !x.is_any() {
        let inside = Interval { lo: x.lo.max(least), hi: x.hi.min(greatest) };
        return steps(op, inside).into_iter().chain([Interval::NAN]).collect();
    }
    let all = unary(op, x);
    if op == Unary::Rsqrt && x.lo == 0.0 && !x.is_point() {
        // An end of 0 stands for both zeros.
        return vec![all, Interval::point(f64::NEG_INFINITY)];
    }
    if x.is_point() || !all.is_finite() || !image(op).jumps {
        return vec![all];
    }
    let (first, last) = (value(op, x.lo), value(op, x.hi));
    if last - first >= f64::from(MOST_STEPS) {
        return vec![all];
    }
    let number = |step: i32| {
        let y = first + f64::from(step);
        // It has the sign of the number.
        match (y == 0.0, x.lo > 0.0, x.hi < 0.0) {
            (true, false, false) => Interval::ZEROS,
            (true, _, true) => Interval::point(-0.0),
            _ => Interval::point(y.abs().copysign(if y == 0.0 { 1.0 } else { y })),
        }
    };
    (0..=MOST_STEPS).map(number).take_while(|y| y.lo <= last).collect()
}

/// Returns the least and the greatest number of which a function is not NaN.
fn domain(op: Unary) -> (f64, f64) {
    match op {
        Unary::Acos | Unary::Asin | Unary::Atanh => (-1.0, 1.0),
        Unary::Acosh => (1.0, f64::INFINITY),
        Unary::Log | Unary::Rsqrt | Unary::Sqrt => (0.0, f64::INFINITY),
        Unary::LogPlusOne => (-1.0, f64::INFINITY),
        Unary::Abs
        | Unary::Asinh
        | Unary::Cbrt
        | Unary::Ceil
        | Unary::CountLeadingZeros
        | Unary::Cosine
        | Unary::Cosh
        | Unary::Erf
        | Unary::Exponential
        | Unary::ExponentialMinusOne
        | Unary::Floor
        | Unary::Imag
        | Unary::IsFinite
        | Unary::Logistic
        | Unary::Negate
        | Unary::Not
        | Unary::Popcnt
        | Unary::Real
        | Unary::RoundNearestAfz
        | Unary::RoundNearestEven
        | Unary::Sign
        | Unary::Sine
        | Unary::Sinh
        | Unary::Tan
        | Unary::Tanh => (f64::NEG_INFINITY, f64::INFINITY),
    }
}

/// The most values of [`steps`] and [`turns`].
const MOST_STEPS: i32 = 8;

/// Returns the values of an op of a number and itself, where that says more than the numbers do.
pub(super) fn with_itself(op: Binary, ty: ElementType, x: Interval) -> Option<Vec<Interval>> {
    if op == Binary::Multiply {
        return Some(vec![x.times(x, ty).not_negative()]);
    }
    let (value, zero) = match op == Binary::Divide {
        true => (1.0, Some(0.0)),
        false if op == Binary::Subtract => (0.0, None),
        false => return None,
    };
    // Infinities, NaN, and a divisor that is 0 give NaN.
    let gives_nan = |x: f64| !x.is_finite() || Some(x) == zero;
    let always = gives_nan(x.lo) && (x.is_nan() || x.lo == x.hi);
    let perhaps =
        gives_nan(x.lo) || gives_nan(x.hi) || (zero.is_some() && x.lo < 0.0 && x.hi > 0.0);
    let values = [(!always).then_some(Interval::point(value)), perhaps.then_some(Interval::NAN)];
    Some(values.into_iter().flatten().collect())
}

/// Returns the values of a function of two numbers between its jumps and poles, and NaN where it is not
/// defined; an interval around them if they are many.
pub(super) fn turns(op: Binary, ty: ElementType, x: Interval, y: Interval) -> Vec<Interval> {
    let all = binary(op, ty, x, y);
    // It may be NaN, which is on no side of a jump.
    if x.is_any() || y.is_any() || (x.is_point() && y.is_point()) {
        return vec![all];
    }
    if op == Binary::Divide && y.lo < 0.0 && y.hi > 0.0 {
        let sides = [Interval { lo: y.lo, hi: -0.0 }, Interval { lo: 0.0, hi: y.hi }];
        return sides.map(|y| x.over(y, ty)).to_vec();
    }
    let root = op == Binary::Power && y.is_point() && y.lo.fract() != 0.0;
    if root && x.lo.is_finite() && x.lo < 0.0 && x.hi >= 0.0 {
        return vec![power(Interval { lo: 0.0, hi: x.hi }, y), Interval::NAN];
    }
    if op != Binary::Atan2 && op != Binary::Remainder {
        return vec![all];
    }
    if op == Binary::Atan2 {
        // The sign of the first operand decides at the cut.
        let cut = y.hi < 0.0 && x.lo <= 0.0 && x.hi >= 0.0 && !x.is_point();
        let halves = [Interval { lo: x.lo, hi: -0.0 }, Interval { lo: 0.0, hi: x.hi }];
        return if cut { halves.map(|x| half_angle(x, y)).to_vec() } else { vec![all] };
    }
    let quotient = x / y;
    let (first, last) = (quotient.lo.trunc(), quotient.hi.trunc());
    if !quotient.is_finite() || last - first >= f64::from(MOST_STEPS) || first == last {
        return vec![all];
    }
    let turn = |step: i32| {
        let turns = first + f64::from(step);
        let rest = x - Interval::point(turns) * y;
        // It has the sign of the dividend and is smaller than the divisor.
        let most = y.max_abs();
        let (lo, hi) = (if x.lo < 0.0 { -most } else { 0.0 }, if x.hi > 0.0 { most } else { 0.0 });
        (turns, Interval { lo: rest.lo.max(lo), hi: rest.hi.min(hi) })
    };
    let turns = (0..=MOST_STEPS).map(turn).take_while(|&(turns, _)| turns <= last);
    let rests: Vec<_> = turns.map(|(_, rest)| rest).filter(|rest| rest.lo <= rest.hi).collect();
    if rests.is_empty() { vec![all] } else { rests }
}

/// The properties of all values of a function.
pub(super) struct Image {
    /// The range that it never leaves, whatever the accuracy.
    pub(super) least: f64,
    pub(super) greatest: f64,
    /// Whether it takes few values between two numbers.
    pub(super) jumps: bool,
}

pub(super) fn image(op: Unary) -> Image {
    let between = |least: f64, greatest: f64| Image { least, greatest, jumps: false };
    match op {
        Unary::Abs | Unary::Acosh | Unary::Acos | Unary::Exponential | Unary::Sqrt => {
            between(-0.0, f64::INFINITY)
        }
        Unary::Logistic => between(0.0, 1.0),
        Unary::Cosine | Unary::Sine | Unary::Tanh | Unary::Erf => between(-1.0, 1.0),
        Unary::Cosh => between(1.0, f64::INFINITY),
        Unary::ExponentialMinusOne => between(-1.0, f64::INFINITY),
        Unary::Sign => Image { jumps: true, ..between(-1.0, 1.0) },
        Unary::Ceil | Unary::Floor | Unary::RoundNearestAfz | Unary::RoundNearestEven => {
            Image { jumps: true, ..between(f64::NEG_INFINITY, f64::INFINITY) }
        }
        Unary::Asin
        | Unary::Asinh
        | Unary::Atanh
        | Unary::Cbrt
        | Unary::CountLeadingZeros
        | Unary::Imag
        | Unary::IsFinite
        | Unary::Log
        | Unary::LogPlusOne
        | Unary::Negate
        | Unary::Not
        | Unary::Popcnt
        | Unary::Real
        | Unary::Rsqrt
        | Unary::Sinh
        | Unary::Tan => between(f64::NEG_INFINITY, f64::INFINITY),
    }
}

fn magnitude(x: Interval) -> Interval {
    if x.lo > 0.0 || x.is_nan() {
        x
    } else if x.hi < 0.0 {
        -x
    } else if x.is_point() {
        Interval::point(0.0)
    } else {
        Interval { lo: 0.0, hi: x.max_abs() }
    }
}

/// Returns a point whose value is not rounded: 0, 1 and -1 are the values of functions at 0 and
/// where they saturate.
fn at_point(y: f64) -> Interval {
    let exact = y == 0.0 || y.abs() == 1.0;
    Interval::rounded(y, exact)
}

fn increasing(x: Interval, f: impl Fn(f64) -> f64) -> Interval {
    if x.is_nan() {
        return x;
    }
    if x.is_point() {
        return at_point(f(x.lo));
    }
    let (lo, hi) = (f(x.lo), f(x.hi));
    if lo.is_nan() && hi.is_nan() && x.lo.is_sign_negative() == x.hi.is_sign_negative() {
        return Interval::NAN;
    }
    Interval::open(lo, hi)
}

fn wave(op: Unary, x: Interval) -> Interval {
    if x.is_nan() {
        return x;
    }
    if x.is_point() {
        return at_point(value(op, x.lo));
    }
    if !x.is_finite() {
        return Interval::ANY;
    }
    let (center, radius) = (value(op, x.mid()), x.radius());
    // The slope changes by no more than the operand does.
    let slope = if op == Unary::Sine { Unary::Cosine } else { Unary::Sine };
    let slope = (value(slope, x.mid()).abs() + radius + f64::EPSILON).min(1.0);
    Interval::open(center, center).widened((radius * slope).min(2.0)).within(-1.0, 1.0)
}

fn tangent(x: Interval) -> Interval {
    if x.is_point() {
        return if x.is_nan() { x } else { at_point(value(Unary::Tan, x.lo)) };
    }
    // Between two poles it increases.
    let branch = |x: f64| ((x + FRAC_PI_2) / PI).floor();
    let (lo, hi) = (value(Unary::Tan, x.lo), value(Unary::Tan, x.hi));
    let within = x.radius() < FRAC_PI_2 && branch(x.lo) == branch(x.hi) && lo <= hi;
    if within { Interval::open(lo, hi) } else { Interval::ANY }
}

/// Returns the values of a function of two numbers, before they are rounded to a type.
pub(super) fn binary(op: Binary, ty: ElementType, x: Interval, y: Interval) -> Interval {
    let points = x.is_point() && y.is_point();
    let exactly = || {
        let value = num::binary(op, ElementType::F64, Scalar::Float(x.lo), Scalar::Float(y.lo));
        value.as_f64()
    };
    match op {
        Binary::Add => x.plus(y, ty),
        Binary::Subtract => x.plus(-y, ty),
        Binary::Multiply => {
            let zero = signed_zero(x, y).filter(|_| y.is_finite());
            zero.or_else(|| signed_zero(y, x).filter(|_| x.is_finite()))
                .unwrap_or_else(|| x.times(y, ty))
        }
        Binary::Divide => signed_zero(x, y).unwrap_or_else(|| x.over(y, ty)),
        Binary::Maximum if points => Interval::point(exactly()),
        Binary::Minimum if points => Interval::point(exactly()),
        Binary::Maximum => maximum(x, y),
        Binary::Minimum => -maximum(-x, -y),
        Binary::Remainder if points => Interval::point(exactly()),
        Binary::Remainder => remainder(x, y),
        Binary::Power if points => {
            let z = exactly();
            let whole = |x: f64| x.fract() == 0.0;
            Interval::rounded(z, whole(x.lo) && whole(y.lo) && y.lo >= 0.0 && z.abs() < 9e15)
        }
        Binary::Power => power(x, y),
        Binary::Atan2 if points => at_point(exactly()),
        Binary::Atan2 => angle(x, y),
        // Of integers and booleans, or with a complex result.
        Binary::And
        | Binary::Complex
        | Binary::Mulhi
        | Binary::Or
        | Binary::ShiftLeft
        | Binary::ShiftRightArithmetic
        | Binary::ShiftRightLogical
        | Binary::Xor => Interval::ANY,
    }
}

/// Returns the product or quotient of a zero and a number that is not 0, whose sign is known.
fn signed_zero(zero: Interval, x: Interval) -> Option<Interval> {
    let is_zero = zero.is_point() && zero.lo == 0.0;
    let sign = if x.lo > 0.0 { 1.0 } else { -1.0 };
    (is_zero && (x.lo > 0.0 || x.hi < 0.0)).then(|| Interval::point(zero.lo * sign))
}

fn maximum(x: Interval, y: Interval) -> Interval {
    if x.is_nan() || y.is_nan() {
        Interval::NAN
    } else if x.is_any() || y.is_any() {
        Interval::ANY
    } else if x.lo >= y.hi || y.lo >= x.hi {
        let (larger, other) = if x.lo >= y.hi { (x, y) } else { (y, x) };
        // Of a zero and a number that may be read as one of the other sign, either is the larger.
        let zeros = larger.lo == 0.0 && larger.hi == 0.0 && other.hi == 0.0;
        if zeros { Interval::ZEROS } else { larger }
    } else {
        let values = Interval::closed(x.lo.max(y.lo), x.hi.max(y.hi));
        if x.lo >= 0.0 || y.lo >= 0.0 { values.not_negative() } else { values }
    }
}

fn remainder(x: Interval, y: Interval) -> Interval {
    if x.is_nan() || y.is_nan() {
        return Interval::NAN;
    }
    let quotient = x / y;
    if quotient.is_any() || !quotient.is_finite() {
        return Interval::ANY;
    }
    let turns = quotient.lo.trunc();
    if turns == quotient.hi.trunc() {
        // The divisor may be infinite.
        return if turns == 0.0 { x } else { x - Interval::point(turns) * y };
    }
    // It jumps; it has the sign of the dividend and is smaller than the divisor.
    let most = y.max_abs();
    let lo = if x.lo < 0.0 { -most } else { 0.0 };
    Interval::open(lo, if x.hi > 0.0 { most } else { 0.0 })
}

fn power(x: Interval, y: Interval) -> Interval {
    let f = |a: f64, b: f64| {
        num::binary(Binary::Power, ElementType::F64, Scalar::Float(a), Scalar::Float(b)).as_f64()
    };
    if x.is_any() || y.is_any() || x.is_nan() || y.is_nan() {
        // 1 to any power and any power of 0 are 1.
        return Interval::ANY;
    }
    if x.lo > 0.0 {
        return corners(x, y, f);
    }
    let whole = y.is_point() && y.lo.fract() == 0.0;
    if x.lo == 0.0 && y.is_finite() && (y.lo > 0.0 || (y.is_point() && !whole)) {
        return corners(x, y, f).not_negative();
    }
    if !whole || (y.lo < 0.0 && x.hi >= 0.0) {
        return Interval::ANY;
    }
    let ends = corners(x, y, f);
    let even = (y.lo / 2.0).fract() == 0.0;
    if even && x.hi >= 0.0 && !ends.is_any() {
        return Interval { lo: 0.0, hi: ends.hi };
    }
    ends
}

fn angle(y: Interval, x: Interval) -> Interval {
    if x.is_nan() || y.is_nan() {
        return Interval::NAN;
    }
    let crosses = y.lo <= 0.0 && y.hi >= 0.0 && x.lo <= 0.0;
    if x.is_any() || y.is_any() {
        return Interval::ANY;
    }
    if crosses {
        // The branch cut: both ends of the circle are legal.
        return Interval::open(-PI, PI);
    }
    half_angle(y, x)
}

/// Returns the angles of numbers that lie on one side of the branch cut.
fn half_angle(y: Interval, x: Interval) -> Interval {
    corners(y, x, |b, a| {
        num::binary(Binary::Atan2, ElementType::F64, Scalar::Float(b), Scalar::Float(a)).as_f64()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(lo: f64, hi: f64) -> Interval {
        Interval { lo, hi }
    }

    /// Values of random points of the operand lie in the interval of the result.
    #[test]
    fn values_lie_in_the_interval() {
        let starts = [-9.5, -3.3, -1.0, -0.7, -1e-9, 0.0, 1e-9, 0.3, 1.0, 1.5, 2.9, 7.1, 30.0];
        for &op in Unary::ALL.iter().filter(|op| op.types().contains(ElementType::F64)) {
            if op == Unary::IsFinite {
                continue;
            }
            for start in starts {
                for width in [1e-12, 1e-3, 0.1, 1.0, 10.0] {
                    let y = unary(op, between(start, start + width));
                    for k in 1..16 {
                        let v = value(op, start + width * f64::from(k) / 16.0);
                        let inside =
                            (v.is_nan() && (y.is_any() || y.is_nan())) || (y.lo <= v && v <= y.hi);
                        assert!(inside, "{op:?} of {start} + {width}: {v} in {y:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn values_of_pairs_lie_in_the_interval() {
        let ops = [
            Binary::Add,
            Binary::Subtract,
            Binary::Multiply,
            Binary::Divide,
            Binary::Maximum,
            Binary::Minimum,
            Binary::Remainder,
            Binary::Power,
            Binary::Atan2,
        ];
        let starts = [-9.5, -3.0, -0.7, -1e-9, 0.0, 0.3, 1.0, 2.0, 7.1];
        for op in ops {
            for (a, b) in starts.iter().flat_map(|&a| starts.map(|b| (a, b))) {
                for width in [0.0, 1e-3, 0.5, 3.0] {
                    let z =
                        binary(op, ElementType::F64, between(a, a + width), between(b, b + width));
                    for (j, k) in (0..9).flat_map(|j| (0..9).map(move |k| (j, k))) {
                        let at = |start: f64, k: i32| start + width * f64::from(k) / 8.0;
                        let [x, y] = [at(a, j), at(b, k)].map(Scalar::Float);
                        let v = num::binary(op, ElementType::F64, x, y).as_f64();
                        let inside =
                            (v.is_nan() && (z.is_any() || z.is_nan())) || (z.lo <= v && v <= z.hi);
                        assert!(inside, "{op:?} of {x:?} and {y:?}: {v} in {z:?}");
                    }
                }
            }
        }
    }
}
