//! Ranges of complex numbers: an interval for each part.
//!
//! A function of a number that is not exactly known is bounded by its values around it: twice the
//! largest change over eight points of the circle about the middle. That is an estimate of first
//! order, not a proof; a branch cut shows as a large change.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "ops without a formula of their own have one rule"
)]
use super::elementwise::decided;
use super::evaluate::Evaluator;
use super::interval::Interval;
use super::modes::{Modes, largest, least_subnormal, smallest_normal, ulp};
use super::range::Range;
use super::sum::lowest_bit;
use crate::error_model::roundoff;
use hlo::op::value::{ComparisonType, Direction};
use hlo::op::{Binary, Unary};
use hlo::{ArrayShape, ElementType, Scalar};
use interp::num;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Units in the last place, of the absolute value, that the formulas of complex numbers lose in
/// addition.
const FORMULA_ULPS: f64 = 4.0;

/// A complex number: the intervals of its parts.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub(super) re: Interval,
    pub(super) im: Interval,
}

impl Parts {
    fn mid(self) -> (f64, f64) {
        (self.re.mid(), self.im.mid())
    }
    fn radius(self) -> f64 {
        self.re.radius().hypot(self.im.radius())
    }
    pub(super) fn is_point(self) -> bool {
        self.re.is_point() && self.im.is_point()
    }
    pub(super) fn both(x: Interval) -> Self {
        Self { re: x, im: x }
    }
    /// Returns the numbers within `r` of a value.
    fn around((re, im): (f64, f64), r: f64) -> Self {
        let part = |x: f64| {
            if x.is_nan() && r > 0.0 {
                Interval::ANY
            } else {
                Interval::rounded(x, false).widened(r)
            }
        };
        Self { re: part(re), im: part(im) }
    }
    pub(super) fn max_abs(self) -> f64 {
        self.re.max_abs().hypot(self.im.max_abs())
    }
    /// Stored in a type after a loss of some units of the absolute value.
    pub(super) fn stored(self, modes: Modes, ty: ElementType, ulps: f64) -> Self {
        let size = self.max_abs();
        let r = if ulps > 0.0 && size.is_finite() { ulps * ulp(ty, size) } else { 0.0 };
        let part = |x: Interval| {
            let zero = ulps > 0.0 && x.is_point() && x.lo == 0.0;
            // Formulas give zeros of either sign.
            let x = if zero { Interval::ZEROS } else { x };
            modes.store(ty.component(), x.widened(r), false)
        };
        Self { re: part(self.re), im: part(self.im) }
    }
    /// Returns the parts of the number in each quadrant: functions jump between some of them.
    fn quadrants(self) -> Vec<Self> {
        let halves = |x: Interval| match x.lo < 0.0 && x.hi > 0.0 || x.same(Interval::ZEROS) {
            true => vec![Interval { lo: x.lo, hi: -0.0 }, Interval { lo: 0.0, hi: x.hi }],
            false => vec![x],
        };
        let (re, im) = (halves(self.re), halves(self.im));
        re.iter().flat_map(|&re| im.iter().map(move |&im| Self { re, im })).collect()
    }
    /// Returns the number of these, or the nearest one of the parts.
    fn nearest(self, (re, im): (f64, f64)) -> (f64, f64) {
        let end = |x: Interval, to: f64| {
            if to <= x.lo {
                x.lo
            } else if to >= x.hi {
                x.hi
            } else {
                to
            }
        };
        (end(self.re, re), end(self.im, im))
    }
    pub(super) fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }
    fn has_nan(self) -> bool {
        self.re.is_nan() || self.im.is_nan()
    }
    /// Returns whether a part is NaN, or may be.
    fn is_unknown(self) -> bool {
        self.has_nan() || self.re.is_any() || self.im.is_any()
    }
}

pub(super) fn numbers(x: &Range) -> Vec<Parts> {
    let parts: Vec<Interval> = x.intervals().collect();
    parts.chunks_exact(2).map(|z| Parts { re: z[0], im: z[1] }).collect()
}
pub(super) fn range(shape: &ArrayShape, numbers: impl Iterator<Item = Parts>) -> Range {
    let parts: Vec<Interval> = numbers.flat_map(|z| [z.re, z.im]).collect();
    Range::of(shape, &parts)
}
fn pair(x: Scalar) -> (f64, f64) {
    match x {
        Scalar::Complex(re, im) => (re, im),
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Float(_) => {
            (x.as_f64(), 0.0)
        }
    }
}
/// Returns the range of numbers each of which has one of several values.
fn any_of(shape: &ArrayShape, numbers: impl Iterator<Item = Vec<Parts>>) -> Range {
    let parts = |set: Vec<Parts>| -> [Vec<Interval>; 2] {
        [set.iter().map(|z| z.re).collect(), set.iter().map(|z| z.im).collect()]
    };
    let sets: Vec<Vec<Interval>> = numbers.flat_map(parts).collect();
    Range::of_sets(shape, &sets)
}
/// Returns the values of a function around the middles of its operands.
fn function<const N: usize>(
    operands: [Parts; N],
    f: impl Fn([(f64, f64); N]) -> (f64, f64),
) -> Parts {
    let middle = operands.map(Parts::mid);
    let center = f(middle);
    if operands.iter().all(|x| x.is_point()) {
        return Parts {
            re: Interval::rounded(center.0, false),
            im: Interval::rounded(center.1, false),
        };
    }
    let mut change = 0.0f64;
    for (k, operand) in operands.iter().enumerate() {
        let r = operand.radius();
        if r == 0.0 {
            continue;
        }
        let mut most = 0.0f64;
        for step in 0..8 {
            let (sin, cos) = (f64::from(step) * FRAC_PI_4).sin_cos();
            let mut moved = middle;
            moved[k] = operand.nearest((middle[k].0 + r * cos, middle[k].1 + r * sin));
            let value = f(moved);
            let distance = (value.0 - center.0).hypot(value.1 - center.1);
            most = most.max(if distance.is_nan() { f64::INFINITY } else { distance });
        }
        change += 2.0 * most;
    }
    if change.is_finite() { Parts::around(center, change) } else { Parts::both(Interval::ANY) }
}

/// Returns the largest magnitude of a function that turns, if it may turn by more than a little.
fn wave(op: Unary, z: &Parts) -> Option<f64> {
    let radius = |x: Interval| if x.is_point() { 0.0 } else { x.radius() };
    let (turns, size) = match op {
        Unary::Exponential | Unary::ExponentialMinusOne => (z.im, z.re.hi.exp() + 1.0),
        Unary::Sinh | Unary::Cosh => (z.im, z.re.max_abs().cosh()),
        Unary::Sine | Unary::Cosine => (z.re, z.im.max_abs().cosh()),
        _ => return None,
    };
    (radius(turns) > 0.5).then_some(size)
}

/// Returns whether a step of a function overflows, or underflows, in some formula.
fn overflows(op: Unary, ty: ElementType, z: &Parts) -> bool {
    let (most, least) = (largest(ty) / 4.0, smallest_normal(ty));
    let (re, im) = (z.re.max_abs(), z.im.max_abs());
    let exponent = match op {
        Unary::Exponential | Unary::ExponentialMinusOne => z.re.hi,
        Unary::Sinh | Unary::Cosh | Unary::Logistic => re,
        Unary::Tanh => 2.0 * re,
        Unary::Sine | Unary::Cosine => im,
        Unary::Tan => 2.0 * im,
        _ => {
            let square = re * re + im * im;
            return square > most || (square > 0.0 && square < least);
        }
    };
    exponent > most.ln()
}

/// Returns whether a number is in an interval, or beside it.
fn has(x: Interval, number: f64) -> bool {
    x.lo <= number.next_up() && x.hi >= number.next_down()
}

/// Returns whether a function is infinite at one of these numbers.
fn has_pole(op: Unary, z: &Parts) -> bool {
    // The nearest odd multiple of an angle.
    let has_odd = |x: Interval, angle: f64| {
        let turns = ((x.mid() / angle - 1.0) / 2.0).round();
        has(x, angle * (2.0 * turns + 1.0))
    };
    match op {
        Unary::Log | Unary::Rsqrt => has(z.re, 0.0) && has(z.im, 0.0),
        Unary::LogPlusOne => has(z.re, -1.0) && has(z.im, 0.0),
        Unary::Atanh => (has(z.re, -1.0) || has(z.re, 1.0)) && has(z.im, 0.0),
        Unary::Tan => has_odd(z.re, FRAC_PI_2) && has(z.im, 0.0),
        Unary::Tanh => has(z.re, 0.0) && has_odd(z.im, FRAC_PI_2),
        Unary::Logistic => has(z.re, 0.0) && has_odd(z.im, PI),
        _ => false,
    }
}

/// Returns how many times the rounding errors of a formula of exponentials grow. Beside a pole its
/// denominator is a difference: 1 / (1 + e), of which e is 1 - f times the value, and
/// (e - 1) / (e + 1).
fn amplified(op: Unary, value: Parts) -> f64 {
    let size = |re: f64, im: f64| re.hypot(im).max(1.0);
    let (re, im) = value.mid();
    match op {
        Unary::Logistic => size(1.0 - re, im),
        Unary::Tan | Unary::Tanh => size(re, im),
        _ => 1.0,
    }
}

/// Returns a number on a branch cut with the other zero: neither StableHLO nor CHLO says to which
/// side a cut belongs, or that zeros have signs there.
fn on_cut(op: Unary, z: &Parts) -> Option<Parts> {
    let zero = |x: Interval| x.is_point() && x.lo == 0.0;
    let real = zero(z.im)
        && match op {
            Unary::Sqrt | Unary::Rsqrt | Unary::Log => z.re.hi < 0.0,
            Unary::LogPlusOne => z.re.hi < -1.0,
            Unary::Acos | Unary::Asin | Unary::Atanh => z.re.max_abs() > 1.0,
            Unary::Acosh => z.re.lo < 1.0,
            _ => false,
        };
    let imaginary = op == Unary::Asinh && zero(z.re) && z.im.max_abs() > 1.0;
    match (real, imaginary) {
        (true, _) => Some(Parts { im: -z.im, ..*z }),
        (_, true) => Some(Parts { re: -z.re, ..*z }),
        (false, false) => None,
    }
}

pub(super) fn unary(ev: &Evaluator<'_>, op: Unary, shape: &ArrayShape, x: &Range) -> Range {
    let (modes, numbers) = (ev.modes, numbers(x));
    let part = |part: fn(&Parts) -> Interval| {
        Range::of(shape, &numbers.iter().map(part).collect::<Vec<_>>())
    };
    let (accuracy, formula) = (ev.accuracy(op.opcode(), shape.ty), ev.formula(FORMULA_ULPS));
    let ulps = accuracy + formula;
    match op {
        Unary::Real => return part(|z| z.re),
        Unary::Imag => return part(|z| z.im),
        Unary::Abs => {
            let each = |z: &Parts| {
                let value = |re: f64, im: f64| {
                    num::unary(op, ElementType::C128, Scalar::Complex(re, im)).as_f64()
                };
                let [re, im] = [z.re, z.im].map(|x| super::functions::unary(Unary::Abs, x));
                if !z.is_finite() {
                    // Of an infinity and a NaN, C99 has an infinity, and the root of squares a NaN.
                    return match (z.has_nan(), re.is_finite() || im.is_finite()) {
                        (true, true) => Interval::NAN,
                        (false, _) if z.is_point() => Interval::point(f64::INFINITY),
                        (true | false, _) => Interval::ANY,
                    };
                }
                let abs = match z.is_point() {
                    true => Interval::rounded(value(z.re.lo, z.im.lo), false),
                    false => {
                        Interval::open(value(re.lo.max(0.0), im.lo.max(0.0)), value(re.hi, im.hi))
                    }
                };
                let abs = Modes::inaccurate(shape.ty, abs, ulps);
                modes.store(shape.ty, abs.within(0.0, f64::INFINITY), false)
            };
            return Range::of(shape, &numbers.iter().map(each).collect::<Vec<_>>());
        }
        Unary::Negate => {
            return range(shape, numbers.iter().map(|z| Parts { re: -z.re, im: -z.im }));
        }
        _ => {}
    }
    let f = |[(re, im)]: [(f64, f64); 1]| {
        pair(num::unary(op, ElementType::C128, Scalar::Complex(re, im)))
    };
    let each = |z: &Parts| {
        // The specification names no formula for infinities and NaN. Near a pole there are numbers
        // of any size.
        if !z.is_finite() || (!z.is_point() && has_pole(op, z)) || overflows(op, shape.ty, z) {
            return vec![Parts::both(Interval::ANY)];
        }
        if let Some(most) = wave(op, z) {
            return vec![Parts::around((0.0, 0.0), most).stored(modes, shape.ty, ulps)];
        }
        let beside = on_cut(op, z).into_iter().chain([*z]);
        let parts = beside.flat_map(Parts::quadrants);
        let near = |z: Parts| {
            let value = function([z], f);
            value.stored(modes, shape.ty, formula.mul_add(amplified(op, value), accuracy))
        };
        parts.map(near).collect()
    };
    any_of(shape, numbers.iter().map(each))
}

pub(super) fn binary(
    ev: &Evaluator<'_>,
    op: Binary,
    shape: &ArrayShape,
    x: &Range,
    y: &Range,
) -> Range {
    let (modes, ty) = (ev.modes, shape.ty);
    let f = |[a, b]: [(f64, f64); 2]| {
        let [a, b] = [a, b].map(|(re, im)| Scalar::Complex(re, im));
        pair(num::binary(op, ElementType::C128, a, b))
    };
    let ulps = ev.accuracy(op.opcode(), ty) + ev.formula(FORMULA_ULPS);
    let each = |(x, y): (Parts, Parts)| {
        let sum = |re: Interval, im: Interval| vec![Parts { re, im }.stored(modes, ty, 0.0)];
        match op {
            Binary::Add => sum(x.re + y.re, x.im + y.im),
            Binary::Subtract => sum(x.re - y.re, x.im - y.im),
            Binary::Maximum | Binary::Minimum => selected(op, x, y, f),
            Binary::Multiply if x.is_finite() && y.is_finite() => {
                let exact = is_exact(ev, ty, [x, y]);
                let part = |a: Interval, b: Interval| {
                    if exact && a.lo != 0.0 && a.lo == -b.lo {
                        // Formulas give zeros of either sign.
                        return vec![Interval::ZEROS];
                    }
                    let r = if exact { 0.0 } else { lost(ev, ty, a) + lost(ev, ty, b) };
                    let z = modes.store(ty.component(), (a + b).widened(r), false);
                    or_overflowing(ty, z, [a, b])
                };
                let re = part(product(x.re, y.re), -product(x.im, y.im));
                let im = part(product(x.re, y.im), product(x.im, y.re));
                re.iter().flat_map(|&re| im.iter().map(move |&im| Parts { re, im })).collect()
            }
            _ if is_special(op, ty, x, y) => vec![Parts::both(Interval::ANY)],
            Binary::Atan2 => {
                let lost = ulps * ulp(ty, PI);
                let angles = angles(ty, [x, y], lost, f).into_iter();
                angles.map(|z| z.stored(modes, ty, ulps)).collect()
            }
            _ => {
                let power = op == Binary::Power;
                let parts = if power { x.quadrants() } else { vec![x] };
                // exp(y log(x)): the error of the exponent is one of the result.
                let exponent = match y.max_abs() {
                    0.0 => 0.0,
                    most => most * (x.max_abs().ln().abs() + PI),
                };
                let lost = if power { ev.formula(2.0 * exponent) } else { 0.0 };
                let ulps = ulps + lost;
                parts.into_iter().map(|x| function([x, y], f).stored(modes, ty, ulps)).collect()
            }
        }
    };
    any_of(shape, numbers(x).into_iter().zip(numbers(y)).map(each))
}

/// Returns a product; of numbers that are not 0 and whose product is, a zero of either sign: it has
/// one in a sum that is rounded once.
fn product(x: Interval, y: Interval) -> Interval {
    let product = x * y;
    let is_zero = |x: Interval| x.is_point() && x.lo == 0.0;
    let underflows = is_zero(product) && !is_zero(x) && !is_zero(y);
    if underflows { Interval::ZEROS } else { product }
}

/// Returns whether a product of numbers rounds nothing, whatever the formula, also that of three
/// products: all steps are multiples of one number, and so small that no digit is lost.
pub(super) fn is_exact(
    ev: &Evaluator<'_>,
    ty: ElementType,
    factors: impl IntoIterator<Item = Parts>,
) -> bool {
    let (mut units, mut quantum, mut least, mut most) = (2.0, 1.0, 1.0f64, 1.0);
    for z in factors {
        let parts = [z.re, z.im];
        let lowest = parts.iter().filter(|x| x.lo != 0.0).map(|x| lowest_bit(x.lo)).min();
        let unit = f64::from(lowest.unwrap_or(0)).exp2();
        let size = z.re.max_abs() + z.im.max_abs();
        units *= if z.is_point() && z.is_finite() { (size / unit).max(1.0) } else { f64::INFINITY };
        quantum *= unit;
        // Of the partial products in any order.
        (least, most) = (least * unit.min(1.0), most * size.max(1.0));
    }
    let normal = ev.modes.flushed_below(ty).max(least_subnormal(ty));
    units <= 1.0 / roundoff(ty) && quantum.min(least) >= normal && 2.0 * most <= largest(ty)
}

pub(super) fn multiplied(x: Parts, y: Parts) -> Parts {
    Parts { re: x.re * y.re - x.im * y.im, im: x.re * y.im + x.im * y.re }
}

/// Returns what a product loses that is rounded, or flushed, before it is added.
fn lost(ev: &Evaluator<'_>, ty: ElementType, product: Interval) -> f64 {
    let normal = smallest_normal(ty);
    let tiny = product.lo < normal && product.hi > -normal;
    if product.is_point() && product.lo == 0.0 {
        return 0.0;
    }
    let least = if tiny { least_subnormal(ty) } else { 0.0 };
    let flushed = if tiny { ev.modes.flushed_below(ty) } else { 0.0 };
    ev.formula(2.0 * roundoff(ty) * product.max_abs() + least) + flushed
}

/// Returns a sum of two products, and what it is if products overflow.
fn or_overflowing(ty: ElementType, sum: Interval, products: [Interval; 2]) -> Vec<Interval> {
    if !products.iter().all(|x| x.is_finite()) {
        return vec![Interval::ANY];
    }
    let most = largest(ty);
    let above = products.iter().any(|x| x.hi > most);
    let below = products.iter().any(|x| x.lo < -most);
    let values = [
        Some(sum),
        above.then_some(Interval::point(f64::INFINITY)),
        below.then_some(Interval::point(f64::NEG_INFINITY)),
        (above && below).then_some(Interval::NAN),
    ];
    values.into_iter().flatten().collect()
}

/// Returns the greater or the lesser number, by real and then by imaginary part; both if rounding
/// errors decide.
fn selected(
    op: Binary,
    x: Parts,
    y: Parts,
    f: impl Fn([(f64, f64); 2]) -> (f64, f64),
) -> Vec<Parts> {
    if x.is_point() && y.is_point() {
        let (re, im) = f([x.mid(), y.mid()]);
        return vec![Parts { re: Interval::point(re), im: Interval::point(im) }];
    }
    if x.is_unknown() || y.is_unknown() {
        return vec![Parts::both(Interval::ANY)];
    }
    let first = if op == Binary::Maximum { Direction::Ge } else { Direction::Le };
    match ordered(first, x, y) {
        Some(first) => vec![if first { x } else { y }],
        None => vec![x, y],
    }
}

/// Returns whether two numbers of which not all are points are in order, by real and then by
/// imaginary part; `None` if rounding errors decide.
fn ordered(direction: Direction, x: Parts, y: Parts) -> Option<bool> {
    let order = ComparisonType::Float;
    if x.re.is_point() && y.re.is_point() && x.re.lo == y.re.lo {
        return decided(direction, order, x.im, y.im);
    }
    let apart = decided(Direction::Ne, order, x.re, y.re) == Some(true);
    apart.then(|| decided(direction, order, x.re, y.re)).flatten()
}

/// Returns whether formulas of an op give different infinities and NaN: of numbers that are not
/// finite, by 0, and where a step overflows between.
fn is_special(op: Binary, ty: ElementType, x: Parts, y: Parts) -> bool {
    if !x.is_finite() || !y.is_finite() || op == Binary::Multiply {
        return true;
    }
    let (most, least) = (largest(ty) / 2.0, smallest_normal(ty));
    let near = |z: Parts| {
        let (re, im) = z.mid();
        re.hypot(im)
    };
    match op {
        Binary::Divide => {
            // The textbook divides by the square of the divisor's absolute value.
            let size = near(y) * near(y);
            let zero = has(y.re, 0.0) && has(y.im, 0.0);
            let (quotient, product) = (x.max_abs() / near(y), x.max_abs() * y.max_abs());
            zero || quotient > most || product > most || size > most || size < least
        }
        // exp(y log(x)), and the logarithm of a quotient by the root of the squares.
        Binary::Power => x.max_abs() > most || y.max_abs() * (near(x).ln().abs() + 4.0) > most,
        Binary::Atan2 => x.max_abs().max(y.max_abs()).powi(2) > most || cancels(x, y),
        _ => false,
    }
}

/// Returns whether the sum of the squares of two numbers may be 0, or nearly cancels.
fn cancels(x: Parts, y: Parts) -> bool {
    /// The part of the squares that has to remain.
    const LEAST: f64 = 1.0 / 64.0;
    let meet = |a: Interval, b: Interval| a.lo <= b.hi && b.lo <= a.hi;
    let zero = (meet(y.re, -x.im) && meet(y.im, x.re)) || (meet(y.re, x.im) && meet(y.im, -x.re));
    let square = |(re, im): (f64, f64)| (re * re - im * im, 2.0 * re * im);
    let (a, b) = (square(x.mid()), square(y.mid()));
    let rest = (a.0 + b.0).hypot(a.1 + b.1);
    zero || rest < LEAST * (a.0.hypot(a.1) + b.0.hypot(b.1))
}

/// Returns the values of `atan2`, -i log((y + i x) / sqrt(x² + y²)) with an error of up to `lost`:
/// where the root has its cut they jump by pi, where the logarithm has it by two pi, and nothing
/// says to which side a cut belongs.
fn angles(
    ty: ElementType,
    [x, y]: [Parts; 2],
    lost: f64,
    f: impl Fn([(f64, f64); 2]) -> (f64, f64),
) -> Vec<Parts> {
    let (a, b) = (multiplied(x, x), multiplied(y, y));
    let rounding = FORMULA_ULPS * roundoff(ty) * (x.max_abs().powi(2) + y.max_abs().powi(2));
    let [re, im] = [a.re + b.re, a.im + b.im].map(|part| part.widened(rounding));
    let jump = if re.lo < 0.0 && has(im, 0.0) { PI } else { 2.0 * PI };
    let center = f([x.mid(), y.mid()]).0;
    let value = function([x, y], |operands| {
        let (re, im) = f(operands);
        (re - jump * ((re - center) / jump).round(), im)
    });
    if value.is_unknown() {
        return vec![value];
    }
    let moved = |jumps: i32| {
        let by = if jumps == 0 { 0.0 } else { f64::from(jumps) * jump };
        Parts { re: value.re + Interval::point(by), ..value }
    };
    let is_angle = |z: &Parts| z.re.lo <= PI + lost && z.re.hi >= -PI - lost;
    (-2..=2).map(moved).filter(is_angle).collect()
}

/// Returns the complex numbers of these parts.
pub(super) fn joined(shape: &ArrayShape, re: &Range, im: &Range) -> Range {
    range(shape, re.intervals().zip(im.intervals()).map(|(re, im)| Parts { re, im }))
}

pub(super) fn compared(direction: Direction, x: &Range, y: &Range) -> Vec<Option<bool>> {
    let each = |(x, y): (Parts, Parts)| {
        if x.is_point() && y.is_point() {
            let [a, b] = [x, y].map(|z| Scalar::Complex(z.re.lo, z.im.lo));
            let order = num::Order::Float;
            return Some(num::compare(direction, order, ElementType::C128, a, b));
        }
        let [re, im] = [(x.re, y.re), (x.im, y.im)]
            .map(|(a, b)| decided(Direction::Ne, ComparisonType::Float, a, b));
        let apart = re == Some(true) || im == Some(true);
        match direction {
            Direction::Eq => apart.then_some(false),
            Direction::Ne => apart.then_some(true),
            Direction::Lt | Direction::Le | Direction::Gt | Direction::Ge => {
                ordered(direction, x, y).filter(|_| !(x.is_unknown() || y.is_unknown()))
            }
        }
    };
    numbers(x).into_iter().zip(numbers(y)).map(each).collect()
}
