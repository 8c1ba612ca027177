//! The legal values of a sum, whatever the order of its terms.
//!
//! The sum of n terms in any order and with any rounding between lies within `(n - 1) u` times the
//! sum of the magnitudes of the real sum. Products and partial sums below the normal numbers add an
//! absolute term each. Sums whose terms are multiples of one number, so few that no partial sum
//! needs rounding, have one legal value.
use super::elementwise::broadcast;
use super::evaluate::Evaluator;
use super::interval::Interval;
use super::modes::{Mode, largest, least_subnormal};
use super::range::{Range, floats};
use super::site::Site;
use crate::error_model::roundoff;
use hlo::{ArrayShape, ElementType, Literal};

/// A sum: its real value, and what its evaluation may add.
pub(super) struct Sum {
    pub(super) lo: Literal,
    pub(super) hi: Literal,
    /// The sum of the magnitudes of the finite terms.
    pub(super) magnitudes: Literal,
    /// The sum of the terms that are not finite, if it is known.
    pub(super) specials: Option<Literal>,
    /// Roundings of a partial sum that each element may see; a single number if all of them may see
    /// as many.
    pub(super) roundings: Vec<f64>,
    /// Products among the terms of one element.
    pub(super) products: f64,
    /// The type of the partial sums, and their unit roundoff.
    pub(super) accumulator: ElementType,
    pub(super) unit: f64,
    /// The exponent of a number of which all terms are multiples, if they are exactly known.
    pub(super) quantum: Option<i32>,
    pub(super) signs: Signs,
}

/// The signs that terms may have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signs {
    negative: bool,
    positive: bool,
    negative_zero: bool,
}

impl Signs {
    pub(super) const ANY: Self = Self { negative: true, positive: true, negative_zero: true };

    pub(super) fn of<'a>(ranges: impl IntoIterator<Item = &'a Range>) -> Self {
        let mut signs = Self { negative: false, positive: false, negative_zero: false };
        for x in ranges.into_iter().flat_map(Range::intervals) {
            signs.negative |= x.lo < 0.0 || x.is_nan();
            signs.negative_zero |= x.lo == 0.0 && x.lo.is_sign_negative();
            signs.positive |= x.hi > 0.0 || x.is_nan();
        }
        signs
    }
    /// Returns the signs of products.
    pub(super) fn times(self, y: Self) -> Self {
        let opposite = (!self.positive && !y.negative) || (!y.positive && !self.negative);
        let negative = self.negative || y.negative;
        let negative_zero = negative || self.negative_zero || y.negative_zero;
        Self { negative, positive: !opposite, negative_zero }
    }
}

impl Sum {
    pub(super) fn range(&self, ev: &Evaluator<'_>, site: Site<'_>, shape: &ArrayShape) -> Range {
        let ends = floats(&self.lo).iter().zip(floats(&self.hi)).zip(floats(&self.magnitudes));
        let ty = shape.ty.component();
        let parts = ends.enumerate().map(|(i, ((&lo, &hi), &sum))| {
            if lo.is_finite() && hi.is_finite() && sum.is_finite() {
                let real = self.real(ev, broadcast(&self.roundings, i), lo, hi, sum);
                // An algorithm rounds the sum before it is stored.
                let real = match roundoff(self.accumulator) > roundoff(ty) {
                    true => ev.modes.store(self.accumulator, real, false),
                    false => real,
                };
                return ev.modes.store(ty, real, false);
            }
            // A term is not finite, or the sum is beyond f64. Finite terms may make an infinity of
            // the other sign.
            let same = lo.to_bits() == hi.to_bits() || (lo.is_nan() && hi.is_nan());
            let one_sign = !self.signs.negative || !self.signs.positive;
            let special = self.specials.as_ref().map_or(0.0, |specials| floats(specials)[i]);
            if same && (special.is_nan() || one_sign || sum < largest(self.accumulator)) {
                Interval::point(lo)
            } else {
                Interval::ANY
            }
        });
        let most = self.roundings.iter().copied().fold(0.0, f64::max);
        Range::of(shape, &parts.collect::<Vec<_>>()).loosened(site, most * self.unit)
    }

    /// Returns the values of one element, of which `sum` is the sum of the magnitudes, before it is
    /// stored.
    fn real(&self, ev: &Evaluator<'_>, roundings: f64, lo: f64, hi: f64, sum: f64) -> Interval {
        if sum == 0.0 && self.signs.negative_zero {
            // Zeros of either sign: a sum may begin with 0, or with its first term.
            return Interval::ZEROS;
        }
        if roundings == 0.0 {
            // Nothing is added to the only term.
            return Interval::closed(lo, hi);
        }
        // What is flushed to 0 is no more than all terms.
        let least = ev.modes.flushed_below(self.accumulator);
        let flushed = ((roundings + self.products) * least).min(sum);
        let exact = self.is_exact(sum);
        let real = if exact || (lo == 0.0 && hi == 0.0) {
            Interval::point(lo)
        } else {
            Interval::open(lo, hi)
        };
        let whole = |quantum: i32| f64::from(quantum).exp2() >= least;
        if exact && (least == 0.0 || self.quantum.is_some_and(whole)) {
            return real;
        }
        let real = real.widened(flushed);
        if exact || !ev.modes.has(Mode::SummationOrder) {
            return self.signed(real);
        }
        // The real sum and products of f64 are themselves computed in f64.
        let relative = ev.roundings(roundings) * (self.unit + f64::EPSILON);
        let underflow = least_subnormal(self.accumulator).max(f64::from_bits(2)) / 2.0;
        let real = self.signed(real.widened(relative * sum + self.products * underflow));
        if sum < largest(self.accumulator) {
            return real;
        }
        // Partial sums overflow in some order: to both infinities only if the terms have both
        // signs.
        match self.signs {
            Signs { negative: false, .. } => Interval { hi: f64::INFINITY, ..real },
            Signs { positive: false, .. } => Interval { lo: f64::NEG_INFINITY, ..real },
            Signs { .. } => Interval::ANY,
        }
    }

    /// Returns whether no partial sum needs rounding or overflows.
    fn is_exact(&self, sum: f64) -> bool {
        // The unit is a power of two: 2^-24 of 24 digits.
        let digits = -exponent(self.unit);
        self.quantum.is_some_and(|quantum| {
            let representable = f64::from(quantum).exp2() >= least_subnormal(self.accumulator);
            let fits =
                sum <= f64::from(quantum + digits).exp2() && sum <= largest(self.accumulator);
            representable && fits
        })
    }

    /// Values with the sign of all terms, if they have one.
    fn signed(&self, real: Interval) -> Interval {
        match self.signs {
            Signs { negative: false, .. } => real.not_negative(),
            Signs { positive: false, .. } => -(-real).not_negative(),
            Signs { .. } => real,
        }
    }
}

/// Returns the exponent of a power of two that is a normal number.
fn exponent(power: f64) -> i32 {
    i32::try_from(power.to_bits() >> 52 & 0x7ff).unwrap_or(0) - 1023
}

/// Returns the exponent of the lowest bit that any of the numbers has; `None` if one of them is not
/// exactly known.
pub(super) fn quantum(range: &Range) -> Option<i32> {
    if !range.is_point() {
        return None;
    }
    let lowest = |x: f64| {
        let bits = x.to_bits();
        let exponent = i32::try_from(bits >> 52 & 0x7ff).unwrap_or(0);
        let mantissa = bits & ((1 << 52) - 1) | u64::from(exponent > 0) << 52;
        exponent.max(1) - 1075 + i32::try_from(mantissa.trailing_zeros()).unwrap_or(0)
    };
    let numbers = floats(&range.lo).iter().filter(|&&x| x != 0.0);
    Some(numbers.map(|&x| lowest(x)).min().unwrap_or(0))
}
