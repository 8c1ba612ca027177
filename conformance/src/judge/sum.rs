//! The legal values of a sum, whatever the order of its terms.
//!
//! The sum of n terms in any order and with any rounding between lies within `(n - 1) u` times the
//! sum of the magnitudes of the real sum; terms that are certainly 0 do not count. Products and partial sums below the normal numbers add an
//! absolute term each. Sums whose terms are multiples of one number, so few that no partial sum
//! needs rounding, have one legal value.
use super::elementwise::broadcast;
use super::evaluate::Evaluator;
use super::interval::Interval;
use super::modes::{Mode, largest, least_subnormal, round, smallest_normal};
use super::range::{Range, floats};
use super::site::Site;
use crate::error_model::roundoff;
use hlo::op::Binary;
use hlo::{ArrayShape, ElementType, Literal};

/// A sum: its real value, and what its evaluation may add.
pub(super) struct Sum {
    pub(super) lo: Literal,
    pub(super) hi: Literal,
    /// The sum of the magnitudes of the finite terms.
    pub(super) magnitudes: Literal,
    /// The sum of the terms that are not finite, if it is known.
    pub(super) specials: Option<Literal>,
    /// Roundings that a term of each element may see; a single number if all of them may see as
    /// many. A term that is certainly 0 rounds no partial sum.
    pub(super) roundings: Vec<f64>,
    /// Whether the terms are products, of which each is rounded.
    pub(super) products: bool,
    /// The type of the partial sums, and their unit roundoff.
    pub(super) accumulator: ElementType,
    pub(super) unit: f64,
    /// What is known of the terms of each element; a single one if it is so of all elements.
    pub(super) terms: Vec<Terms>,
}

/// What is known of the terms of a sum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    pub(super) signs: Signs,
    /// The exponent of a number of which all terms are multiples, if they are exactly known.
    pub(super) quantum: Option<i32>,
}

impl Terms {
    /// The neutral element of [`Self::join`].
    pub(super) const NONE: Self = Self { signs: Signs::NONE, quantum: Some(i32::MAX) };

    /// Returns what is known of the elements of arrays.
    pub(super) fn of<'a>(ranges: impl IntoIterator<Item = &'a Range>) -> Self {
        let all = ranges.into_iter().flat_map(Range::intervals);
        all.fold(Self::NONE, |terms, x| terms.join(Self::term(x)))
    }
    /// Returns what is known of a single term.
    pub(super) fn term(x: Interval) -> Self {
        let signs = Signs {
            negative: x.lo < 0.0 || x.is_nan(),
            positive: x.hi > 0.0 || x.is_nan(),
            negative_zero: x.lo == 0.0 && x.lo.is_sign_negative(),
        };
        let lowest = if x.lo == 0.0 { i32::MAX } else { lowest_bit(x.lo) };
        Self { signs, quantum: x.is_point().then_some(lowest) }
    }
    /// Returns what is known of the terms of both.
    pub(super) fn join(self, other: Self) -> Self {
        let quantum = self.quantum.zip(other.quantum).map(|(a, b)| a.min(b));
        Self { signs: self.signs.join(other.signs), quantum }
    }
    /// Returns what is known as a number: the sum of those of up to [`Self::MOST`] terms has their
    /// signs.
    pub(super) fn signs_of(x: Interval) -> f64 {
        let Signs { negative, positive, negative_zero } = Self::term(x).signs;
        let weight = |has: bool, weight: f64| if has { weight } else { 0.0 };
        weight(negative, 1.0)
            + weight(positive, Self::MOST)
            + weight(negative_zero, Self::MOST * Self::MOST)
    }
    /// Returns the exponent of the quantum of a term as a number, which is the minimum of those of
    /// several terms.
    pub(super) fn quantum_of(x: Interval) -> f64 {
        Self::term(x).quantum.map_or(f64::NEG_INFINITY, f64::from)
    }
    /// The terms of which the numbers of [`Self::signs_of`] can be added.
    pub(super) const MOST: f64 = 131_072.0;

    /// Returns what is known of terms whose numbers have this sum, and this minimum.
    pub(super) fn of_numbers(signs: f64, quantum: f64) -> Self {
        let high = (signs / Self::MOST).floor();
        let signs = Signs {
            negative: signs - high * Self::MOST > 0.0,
            positive: high - (high / Self::MOST).floor() * Self::MOST > 0.0,
            negative_zero: high >= Self::MOST,
        };
        #[expect(
            clippy::as_conversions,
            clippy::cast_possible_truncation,
            reason = "it was an i32"
        )]
        let quantum = quantum.is_finite().then_some(quantum as i32);
        Self { signs, quantum }
    }
    /// Returns whether all terms are multiples of a number that `holds` of.
    fn has_quantum(self, holds: impl Fn(f64) -> bool) -> bool {
        // All terms are 0: they are multiples of any number.
        self.quantum.is_some_and(|quantum| {
            holds(f64::from(if quantum == i32::MAX { 0 } else { quantum }).exp2())
        })
    }
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
    const NONE: Self = Self { negative: false, positive: false, negative_zero: false };
    pub(super) const NOT_NEGATIVE: Self = Self { positive: true, ..Self::NONE };

    fn join(self, y: Self) -> Self {
        Self {
            negative: self.negative || y.negative,
            positive: self.positive || y.positive,
            negative_zero: self.negative_zero || y.negative_zero,
        }
    }
    /// Returns the signs of products.
    pub(super) fn times(self, y: Self) -> Self {
        let opposite = (!self.positive && !y.negative) || (!y.positive && !self.negative);
        let negative = self.negative || y.negative;
        let negative_zero = negative || self.negative_zero || y.negative_zero;
        Self { negative, positive: !opposite, negative_zero }
    }
    /// Returns whether no term is below 0, where the maximum is asked for, or above it.
    pub(super) fn are_on_one_side(self, op: Binary) -> bool {
        if op == Binary::Maximum { !self.negative } else { !self.positive }
    }
    /// Values with the sign of all terms, if they have one.
    fn signed(self, real: Interval) -> Interval {
        match self {
            Self { negative: false, .. } => real.not_negative(),
            Self { positive: false, .. } => -(-real).not_negative(),
            Self { .. } => real,
        }
    }
}

impl Sum {
    pub(super) fn range(&self, ev: &Evaluator<'_>, site: Site<'_>, shape: &ArrayShape) -> Range {
        let ends = floats(&self.lo).iter().zip(floats(&self.hi)).zip(floats(&self.magnitudes));
        let ty = shape.ty.component();
        let parts = ends.enumerate().map(|(i, ((&lo, &hi), &sum))| {
            if lo.is_finite() && hi.is_finite() && sum.is_finite() {
                let real = self.real(ev, i, lo, hi, sum);
                // An algorithm rounds the sum before it is stored.
                let real = match roundoff(self.accumulator) > roundoff(ty) {
                    true => ev.modes.store(self.accumulator, real, false),
                    false => real,
                };
                return ev.modes.store_all(ty, real, false);
            }
            // A term is not finite, or the sum is beyond f64. Finite terms may make an infinity of
            // the other sign.
            let same = lo.to_bits() == hi.to_bits() || (lo.is_nan() && hi.is_nan());
            let Terms { signs, .. } = broadcast(&self.terms, i);
            let one_sign = !signs.negative || !signs.positive;
            let special = self.specials.as_ref().map_or(0.0, |specials| floats(specials)[i]);
            if same && (special.is_nan() || one_sign || sum < largest(self.accumulator)) {
                vec![Interval::point(lo)]
            } else {
                vec![Interval::ANY]
            }
        });
        let most = self.roundings.iter().copied().fold(0.0, f64::max);
        Range::of_sets(shape, &parts.collect::<Vec<_>>()).loosened(site, most * self.unit)
    }

    /// Returns the values of element `i`, of which `sum` is the sum of the magnitudes, before it is
    /// stored.
    fn real(&self, ev: &Evaluator<'_>, i: usize, lo: f64, hi: f64, sum: f64) -> Interval {
        let (roundings, terms) = (broadcast(&self.roundings, i), broadcast(&self.terms, i));
        let products = if self.products { roundings } else { 0.0 };
        if sum == 0.0 && terms.signs.negative_zero {
            // Zeros of either sign: a sum may begin with 0, or with its first term.
            return Interval::ZEROS;
        }
        if roundings == 0.0 || (self.products && roundings <= 1.0 && self.is_kept(lo, hi)) {
            // Nothing, or only 0, is added to the only term.
            return Interval::closed(lo, hi);
        }
        // What is flushed to 0 is no more than all terms.
        let least = ev.modes.flushed_below(self.accumulator);
        let flushed = ((roundings + products) * least).min(sum);
        let exact = lo == hi && self.is_exact(terms, sum);
        let real = if exact || (lo == 0.0 && hi == 0.0) {
            Interval::point(lo)
        } else {
            Interval::open(lo, hi)
        };
        if exact && (least == 0.0 || terms.has_quantum(|quantum| quantum >= least)) {
            return real;
        }
        let real = real.widened(flushed);
        if exact || !ev.modes.has(Mode::SummationOrder) {
            return terms.signs.signed(real);
        }
        // The real sum and products of f64 are themselves computed in f64.
        let relative = ev.roundings(roundings) * (self.unit + f64::EPSILON);
        let underflow = least_subnormal(self.accumulator).max(f64::from_bits(2)) / 2.0;
        let real = terms.signs.signed(real.widened(relative * sum + products * underflow));
        if sum < largest(self.accumulator) {
            return real;
        }
        // Partial sums overflow in some order: to both infinities only if the terms have both
        // signs.
        match terms.signs {
            Signs { negative: false, .. } => Interval { hi: f64::INFINITY, ..real },
            Signs { positive: false, .. } => Interval { lo: f64::NEG_INFINITY, ..real },
            Signs { .. } => Interval::ANY,
        }
    }

    /// Returns whether a product is a normal number of the partial sums, whatever the steps in which
    /// a backend computes it. In `f64` it has been rounded.
    fn is_kept(&self, lo: f64, hi: f64) -> bool {
        let ty = self.accumulator;
        let is_number = lo == hi && lo.abs() >= smallest_normal(ty) && round(ty, lo) == lo;
        is_number && ty != ElementType::F64
    }

    /// Returns whether no partial sum needs rounding or overflows.
    fn is_exact(&self, terms: Terms, sum: f64) -> bool {
        // The unit is a power of two: 2^-24 of 24 digits.
        let digits = f64::from(-exponent(self.unit)).exp2();
        terms.has_quantum(|quantum| {
            let representable = quantum >= least_subnormal(self.accumulator);
            representable && sum <= quantum * digits && sum <= largest(self.accumulator)
        })
    }
}

/// Returns the exponent of a power of two that is a normal number.
fn exponent(power: f64) -> i32 {
    i32::try_from(power.to_bits() >> 52 & 0x7ff).unwrap_or(0) - 1023
}

/// Returns the exponent of a number of which all elements are multiples; `None` if one of them is
/// not exactly known.
pub(super) fn quantum(range: &Range) -> Option<i32> {
    Terms::of([range]).quantum.map(|quantum| if quantum == i32::MAX { 0 } else { quantum })
}

/// Returns the exponent of the lowest bit of a number other than 0.
pub(super) fn lowest_bit(x: f64) -> i32 {
    let bits = x.to_bits();
    let exponent = i32::try_from(bits >> 52 & 0x7ff).unwrap_or(0);
    let mantissa = bits & ((1 << 52) - 1) | u64::from(exponent > 0) << 52;
    exponent.max(1) - 1075 + i32::try_from(mantissa.trailing_zeros()).unwrap_or(0)
}
