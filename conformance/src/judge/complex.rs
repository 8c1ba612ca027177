//! Ranges of complex numbers: an interval for each part.
//!
//! A function of a number that is not exactly known is bounded by its values around it: twice the largest change over eight
//! points of the circle about the middle. That is an estimate of first order, not a proof; a branch cut shows as a large change.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "ops without a formula of their own have one rule"
)]
use super::elementwise::decided;
use super::interval::Interval;
use super::modes::{Mode, Modes};
use super::range::Range;
use hlo::op::value::Direction;
use hlo::op::{Accuracy, Binary, Unary};
use hlo::{ArrayShape, ElementType, Scalar};
use interp::num;

/// Units in the last place, of the absolute value, that the formulas of complex numbers lose in addition.
const FORMULA_ULPS: u32 = 4;

/// A complex number: the intervals of its parts.
#[derive(Clone, Copy)]
struct Parts {
    re: Interval,
    im: Interval,
}

impl Parts {
    fn mid(self) -> (f64, f64) {
        (self.re.mid(), self.im.mid())
    }
    fn radius(self) -> f64 {
        self.re.radius().hypot(self.im.radius())
    }
    fn is_point(self) -> bool {
        self.re.is_point() && self.im.is_point()
    }
    fn both(x: Interval) -> Self {
        Self { re: x, im: x }
    }
    /// The numbers within `r` of a value.
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
    fn max_abs(self) -> f64 {
        self.re.max_abs().hypot(self.im.max_abs())
    }
    /// Stored in a type after a loss of some units of the absolute value.
    fn stored(self, modes: Modes, ty: ElementType, ulps: u32) -> Self {
        let allowed = if modes.has(Mode::FunctionAccuracy) { f64::from(ulps) } else { 0.0 };
        let scale = self.max_abs();
        let r = 2.0 * crate::error_model::roundoff(ty) * scale * allowed;
        let part = |x: Interval| {
            let zero = allowed > 0.0 && x.is_point() && x.lo == 0.0;
            // Formulas give zeros of either sign.
            let x = if zero { Interval::closed(-0.0, 0.0) } else { x };
            let x = if r.is_finite() { x.widened(r) } else { x };
            modes.store(ty.component(), x, false)
        };
        Self { re: part(self.re), im: part(self.im) }
    }
}

fn numbers(x: &Range) -> Vec<Parts> {
    let parts: Vec<Interval> = x.intervals().collect();
    parts.chunks_exact(2).map(|z| Parts { re: z[0], im: z[1] }).collect()
}
fn range(shape: &ArrayShape, numbers: impl Iterator<Item = Parts>) -> Range {
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
fn ulps(accuracy: Accuracy) -> u32 {
    match accuracy {
        Accuracy::Ulp(ulps) => ulps,
        Accuracy::Exact | Accuracy::Order | Accuracy::Random => 0,
    }
}

/// The values of a function around the middles of its operands.
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
            let (sin, cos) = (f64::from(step) * std::f64::consts::FRAC_PI_4).sin_cos();
            let mut moved = middle;
            moved[k] = (middle[k].0 + r * cos, middle[k].1 + r * sin);
            let value = f(moved);
            let distance = (value.0 - center.0).hypot(value.1 - center.1);
            most = most.max(if distance.is_nan() { f64::INFINITY } else { distance });
        }
        change += 2.0 * most;
    }
    if change.is_finite() { Parts::around(center, change) } else { Parts::both(Interval::ANY) }
}

pub(super) fn unary(modes: Modes, op: Unary, shape: &ArrayShape, x: &Range) -> Range {
    let numbers = numbers(x);
    let part = |part: fn(&Parts) -> Interval| {
        Range::of(shape, &numbers.iter().map(part).collect::<Vec<_>>())
    };
    match op {
        Unary::Real => return part(|z| z.re),
        Unary::Imag => return part(|z| z.im),
        Unary::Abs => {
            let each = |z: &Parts| {
                let value = |re: f64, im: f64| {
                    num::unary(op, ElementType::C128, Scalar::Complex(re, im)).as_f64()
                };
                let [re, im] = [z.re, z.im].map(|x| super::functions::unary(Unary::Abs, x));
                let abs = match z.is_point() {
                    true => Interval::rounded(value(z.re.lo, z.im.lo), false),
                    false => {
                        Interval::open(value(re.lo.max(0.0), im.lo.max(0.0)), value(re.hi, im.hi))
                    }
                };
                let abs = modes.inaccurate(shape.ty, abs, FORMULA_ULPS);
                modes.store(shape.ty, abs.within(0.0, f64::INFINITY), false)
            };
            return Range::of(shape, &numbers.iter().map(each).collect::<Vec<_>>());
        }
        Unary::Negate => {
            return range(shape, numbers.iter().map(|z| Parts { re: -z.re, im: -z.im }));
        }
        _ => {}
    }
    let ulps = ulps(op.opcode().accuracy()) + FORMULA_ULPS;
    let f = |[(re, im)]: [(f64, f64); 1]| {
        pair(num::unary(op, ElementType::C128, Scalar::Complex(re, im)))
    };
    range(shape, numbers.iter().map(|&z| function([z], f).stored(modes, shape.ty, ulps)))
}

pub(super) fn binary(modes: Modes, op: Binary, shape: &ArrayShape, x: &Range, y: &Range) -> Range {
    let ty = shape.ty;
    let f = |[a, b]: [(f64, f64); 2]| {
        let [a, b] = [a, b].map(|(re, im)| Scalar::Complex(re, im));
        pair(num::binary(op, ElementType::C128, a, b))
    };
    let ulps = ulps(op.opcode().accuracy()) + FORMULA_ULPS;
    let each = |(x, y): (Parts, Parts)| {
        let sum = |re: Interval, im: Interval| Parts { re, im }.stored(modes, ty, 0);
        match op {
            Binary::Add => sum(x.re + y.re, x.im + y.im),
            Binary::Subtract => sum(x.re - y.re, x.im - y.im),
            Binary::Multiply if x.max_abs().is_finite() && y.max_abs().is_finite() => {
                let product =
                    Parts { re: x.re * y.re - x.im * y.im, im: x.re * y.im + x.im * y.re };
                // Each product may be rounded before the sum.
                let r = 4.0 * crate::error_model::roundoff(ty) * x.max_abs() * y.max_abs();
                let r = if modes.has(Mode::FunctionAccuracy) { r } else { 0.0 };
                sum(product.re.widened(r), product.im.widened(r))
            }
            _ => function([x, y], f).stored(modes, ty, ulps),
        }
    };
    range(shape, numbers(x).into_iter().zip(numbers(y)).map(each))
}

/// The complex numbers of these parts.
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
        let [re, im] = [(x.re, y.re), (x.im, y.im)].map(|(a, b)| decided(Direction::Ne, a, b));
        let apart = re == Some(true) || im == Some(true);
        match direction {
            Direction::Eq => apart.then_some(false),
            Direction::Ne => apart.then_some(true),
            Direction::Lt | Direction::Le | Direction::Gt | Direction::Ge => None,
        }
    };
    numbers(x).into_iter().zip(numbers(y)).map(each).collect()
}

/// Whether numbers are not 0.
pub(super) fn truths(x: &Range) -> Vec<Option<bool>> {
    let zero = Interval::point(0.0);
    let each = |z: Parts| {
        let parts = [z.re, z.im].map(|x| match x.is_point() {
            true => Some(x.lo != 0.0),
            false => decided(Direction::Ne, x, zero),
        });
        match parts {
            [Some(true), _] | [_, Some(true)] => Some(true),
            [Some(false), Some(false)] => Some(false),
            [None, _] | [_, None] => None,
        }
    };
    numbers(x).into_iter().map(each).collect()
}
