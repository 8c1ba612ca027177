//! The legal values of a product of many factors, whatever their order.
//!
//! The product of n factors in any order lies within `(1 + u)^n - 1` times its size, unless a
//! partial product overflows or leaves the normal numbers. Such a partial product has at most all
//! factors above 1, and at least all below 1.
use super::complex::{self, Parts};
use super::evaluate::Evaluator;
use super::fold::Fold;
use super::interval::Interval;
use super::modes::{largest, least_subnormal, smallest_normal};
use super::range::Range;
use crate::error_model::roundoff;
use hlo::{ArrayShape, ElementType};

/// The properties of the factors of one element.
struct Factors {
    count: f64,
    /// The product of the factors above 1, and of those below it except 0.
    large: f64,
    small: f64,
    /// The product of the significands as odd integers; infinite if a factor is not exactly known.
    significand: f64,
}

impl Factors {
    const NONE: Self = Self { count: 0.0, large: 1.0, small: 1.0, significand: 1.0 };

    fn push(&mut self, x: Interval) {
        if x.is_point() && x.lo == 1.0 {
            return;
        }
        let least = if x.lo > 0.0 || x.hi < 0.0 { x.lo.abs().min(x.hi.abs()) } else { 0.0 };
        self.count += 1.0;
        self.large *= x.max_abs().max(1.0);
        if x.max_abs() > 0.0 {
            self.small *= least.min(1.0);
        }
        self.significand *= if x.is_point() { odd(x.lo) } else { f64::INFINITY };
    }
}

/// Returns the significand of a number as an odd integer.
fn odd(x: f64) -> f64 {
    let bits = x.to_bits();
    let normal = u64::from(bits >> 52 & 0x7ff != 0);
    let significand = bits & ((1 << 52) - 1) | normal << 52;
    let odd = significand >> significand.trailing_zeros().min(63);
    // At most 2^53: exact.
    f64::from(u32::try_from(odd >> 32).unwrap_or(0)) * 4_294_967_296.0
        + f64::from(u32::try_from(odd & 0xffff_ffff).unwrap_or(0))
}

/// Returns the products of leaf `leaf`, a vector of lanes, of partial products of type
/// `accumulator`.
pub(super) fn product(
    ev: &Evaluator<'_>,
    fold: &Fold<'_>,
    leaf: usize,
    accumulator: ElementType,
    ty: ElementType,
) -> Range {
    let shape = ArrayShape::new(ty, [fold.lanes].as_slice());
    let (initial, source) = (&fold.initial[leaf], fold.sources[leaf]);
    let steps = |lane: usize| fold.steps.iter().filter_map(move |step| step[lane]);
    let lanes = 0..usize::try_from(fold.lanes).unwrap_or(0);
    if ty.is_complex() {
        let (initial, source) = (complex::numbers(initial), complex::numbers(source));
        let each = |lane: usize| {
            let factors = std::iter::once(initial[lane]).chain(steps(lane).map(|i| source[i]));
            complex_product(ev, factors, accumulator).stored(ev.modes, ty, 0.0)
        };
        return complex::range(&shape, lanes.map(each));
    }
    let initial: Vec<Interval> = initial.intervals().collect();
    let source: Vec<Interval> = source.intervals().collect();
    let each = |lane: usize| {
        let factors = std::iter::once(initial[lane]).chain(steps(lane).map(|i| source[i]));
        ev.modes.store(ty, real_product(ev, factors, accumulator), false)
    };
    Range::of(&shape, &lanes.map(each).collect::<Vec<_>>())
}

fn real_product(
    ev: &Evaluator<'_>,
    factors: impl Iterator<Item = Interval>,
    ty: ElementType,
) -> Interval {
    let (mut product, mut of) = (Interval::point(1.0), Factors::NONE);
    let mut infinite = false;
    // NaN in every order: a factor is, or there are an infinity and a zero.
    let (mut nan, mut none, mut all) = (false, false, false);
    for x in factors {
        infinite |= !x.is_finite();
        nan |= x.is_nan() || x.is_any();
        none |= x.is_point() && x.lo == 0.0;
        all |= x.is_point() && x.lo.is_infinite();
        of.push(x);
        product = product * x;
    }
    let least = ev.modes.flushed_below(ty);
    let normal = if least > 0.0 { least } else { smallest_normal(ty) };
    let (overflows, underflows) = (of.large > largest(ty), of.small < normal);
    let unit = roundoff(ty);
    let exact = of.significand <= 1.0 / unit && !overflows && !underflows;
    if product.is_nan() && !nan && !(none && all) && (overflows || underflows) {
        return Interval::ANY;
    }
    if product.is_nan() || product.is_any() || of.count < 2.0 || exact {
        return product;
    }
    if product.is_point() && product.lo.is_infinite() {
        return match product.lo > 0.0 {
            _ if underflows => Interval::ANY,
            _ if infinite || of.small == 1.0 => product,
            // Finite factors, of which small ones may come before large ones.
            true => Interval { lo: 0.0, hi: f64::INFINITY },
            false => Interval { lo: f64::NEG_INFINITY, hi: -0.0 },
        };
    }
    let zero = product.lo <= 0.0 && product.hi >= 0.0;
    if overflows && (underflows || zero) {
        // An infinite partial product times a zero one.
        return Interval::ANY;
    }
    if product.is_point() && zero {
        return product;
    }
    // The product of f64 is itself computed in f64.
    let relative = (ev.roundings(of.count) * (unit + f64::EPSILON)).exp_m1();
    let lost = if underflows { of.count * least.max(least_subnormal(ty)) * of.large } else { 0.0 };
    let real = product.widened(relative * product.max_abs() + lost).signed_as(product);
    match (overflows, real.lo >= 0.0) {
        (false, _) => real,
        (true, true) => Interval { hi: f64::INFINITY, ..real },
        (true, false) => Interval { lo: f64::NEG_INFINITY, ..real },
    }
}

fn complex_product(
    ev: &Evaluator<'_>,
    factors: impl Iterator<Item = Parts> + Clone,
    ty: ElementType,
) -> Parts {
    let one = Parts { re: Interval::point(1.0), im: Interval::point(0.0) };
    let exact = complex::is_exact(ev, ty, factors.clone());
    let (mut product, mut of, mut first, mut size) = (one, Factors::NONE, true, 1.0);
    let mut count = 0;
    for z in factors {
        count += 1;
        let is_one = z.is_point() && z.re.lo == 1.0 && z.im.lo == 0.0;
        of.push(Interval::point(z.max_abs()));
        size *= z.max_abs();
        product = if first { z } else { complex::multiplied(product, z) };
        first = first && is_one;
    }
    // The order decides the sign of a zero, also if the other factors are 1: `(1, 0) * (-0, -3)` is
    // `(0, -3)`.
    let signed = |x: Interval| {
        let zero = count > 1 && x.is_point() && x.lo == 0.0;
        if zero { Interval::ZEROS } else { x }
    };
    let product = Parts { re: signed(product.re), im: signed(product.im) };
    if (of.count < 2.0 || exact) && product.is_finite() {
        return product;
    }
    // Formulas differ in what they make of infinities.
    if of.large > largest(ty) / 2.0 || !product.is_finite() {
        return Parts::both(Interval::ANY);
    }
    // A product of parts is rounded, and so is their sum; each may lose what is below the normal
    // numbers.
    let least = ev.modes.flushed_below(ty).max(least_subnormal(ty));
    let lost =
        if of.small < 2.0 * smallest_normal(ty) { 4.0 * of.count * least * of.large } else { 0.0 };
    let r = (4.0 * of.count * (roundoff(ty) + f64::EPSILON)).exp_m1() * size + lost;
    Parts { re: product.re.widened(r), im: product.im.widened(r) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significands_are_odd() {
        for (x, expected) in [(1.0, 1.0), (0.75, 3.0), (-10.0, 5.0), (0.0, 0.0)] {
            assert_eq!(odd(x), expected);
        }
        assert_eq!(odd(1.0 + f64::EPSILON), 4_503_599_627_370_497.0);
    }
}
