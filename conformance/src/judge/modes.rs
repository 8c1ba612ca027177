//! The legal modes in which backends may differ, and the value that an instruction stores in each.
use super::interval::Interval;
use hlo::elem::{FloatFormat, Special};
use hlo::{ElementType, Scalar};
use serde::{Deserialize, Serialize};

/// Declares the modes, in the order in which the judge tries to do without them, with the words
/// that reports show and those of the command line.
macro_rules! modes {
    ($($(#[doc = $doc:literal])* $name:ident $key:literal $words:literal,)*) => {
        /// A legal reason for other bits.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum Mode { $($(#[doc = $doc])* $name,)* }

        impl Mode {
            /// All modes, the most common last.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the words that reports show.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $words,)* }
            }
            /// Returns what a backend does in this mode.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),*).trim_ascii_start(),)* }
            }
            /// Returns the word of the command line.
            pub const fn key(self) -> &'static str {
                match self { $(Self::$name => $key,)* }
            }
        }
    };
}

modes! {
    /// A function is within the accuracy that the backend states for it, and not within that of its
    /// op.
    StatedAccuracy "stated-accuracy" "accuracy that the backend states",
    /// A constant is moved through products and sums, `a * b + a * c` is one product, `a / sqrt(b)`
    /// a product with `rsqrt(b)`, and the like.
    AlgebraicRewrites "rewrites" "algebraic rewrites",
    /// The bits of `rng-bit-generator` are those of another implementation.
    RandomBits "random-bits" "random bits of another implementation",
    /// A convolution is computed by a transform (Winograd, FFT), whose error has the size of the
    /// largest terms.
    TransformedConvolution "transformed-convolution" "transform-based convolution",
    /// Products of 8-bit floats are added with 14 bits.
    FastAccumulation "fast-accumulation" "fast accumulation of 8-bit products",
    /// The partial sums of `dot` and `convolution` have the type of the result, though it has fewer
    /// than 32 bits.
    ElementAccumulation "element-accumulation" "accumulation in the element type",
    /// A function of a type of fewer than 32 bits is computed in that type: it may be wrong by one
    /// unit of that type before it is rounded.
    ElementFunctions "element-functions" "functions in the element type",
    /// An `f32` operand of `dot` and `convolution` is read as one or several `bf16`, as its
    /// `operand_precision` permits.
    Bf16Passes "bf16" "bf16 passes",
    /// An `f32` operand of `dot` and `convolution` is read with 11 bits, as its `operand_precision`
    /// permits.
    Tf32 "tf32" "TF32 operands",
    /// A quotient is the product with the reciprocal of the divisor, which may be an approximate one.
    ReciprocalDivision "reciprocal" "division by reciprocal",
    /// Numbers below the smallest normal `f32`, `bf16` or `f64` are read or written as 0.
    FlushedDenormals "flush" "flushed denormals",
    /// A value is not rounded to its type between two instructions.
    ExcessPrecision "excess-precision" "excess precision",
    /// A product is added without being rounded before: fused multiply-add.
    FusedMultiplyAdd "fma" "fused multiply-add",
    /// The terms of a sum, or the factors of a product, are taken in another order.
    SummationOrder "order" "order of summation",
    /// A function such as `tanh` is not correctly rounded, but within the accuracy of its op.
    FunctionAccuracy "accuracy" "accuracy of functions",
}

impl Mode {
    /// Groups of modes, the most common first: a difference that the first ones explain needs no
    /// other, in which more would be legal and less be known.
    const GROUPS: [&[Self]; 4] = [
        &[
            Self::ExcessPrecision,
            Self::FusedMultiplyAdd,
            Self::SummationOrder,
            Self::FunctionAccuracy,
        ],
        &[Self::FlushedDenormals, Self::ReciprocalDivision, Self::StatedAccuracy],
        &[
            Self::Tf32,
            Self::Bf16Passes,
            Self::ElementAccumulation,
            Self::ElementFunctions,
            Self::FastAccumulation,
            Self::TransformedConvolution,
        ],
        &[Self::RandomBits, Self::AlgebraicRewrites],
    ];
    #[expect(clippy::as_conversions, reason = "the number of a variant is a constant")]
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// A set of modes.
///
/// ```
/// use conformance::judge::{Mode, Modes};
/// let strict = Modes::STRICT;
/// assert!(strict.has(Mode::SummationOrder) && !strict.has(Mode::Tf32));
/// assert!(strict.with(Mode::Tf32).has(Mode::Tf32));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes(u32);

impl Modes {
    /// All modes.
    pub const ALL: Self = Self((1 << Mode::ALL.len()) - 1);
    /// No mode: only correctly rounded results in the order of Etalon.
    pub const NONE: Self = Self(0);
    /// What every specification of HLO leaves open: the order of sums and the accuracy of
    /// functions.
    pub const STRICT: Self = Self::NONE.with(Mode::SummationOrder).with(Mode::FunctionAccuracy);

    /// What a pass may change that keeps the meaning of a module, of which the same backend runs the
    /// module before and after it.
    pub(crate) const PASSES: Self = Self::STRICT
        .with(Mode::ExcessPrecision)
        .with(Mode::FusedMultiplyAdd)
        .with(Mode::ReciprocalDivision)
        .with(Mode::AlgebraicRewrites);

    /// Returns whether the set has a mode.
    pub const fn has(self, mode: Mode) -> bool {
        self.0 & mode.bit() != 0
    }
    /// Returns the set with a mode.
    #[must_use]
    pub const fn with(self, mode: Mode) -> Self {
        Self(self.0 | mode.bit())
    }
    /// Returns the set without a mode.
    #[must_use]
    pub const fn without(self, mode: Mode) -> Self {
        Self(self.0 & !mode.bit())
    }
    /// Returns the sets that explain a difference, from the modes that nearly all backends have to
    /// all of these.
    pub(super) fn tiers(self) -> Vec<Self> {
        let mut all = Self::NONE;
        let mut tiers: Vec<Self> = Mode::GROUPS
            .iter()
            .map(|group| {
                let permitted = group.iter().filter(|&&mode| self.has(mode));
                all = permitted.fold(all, |all, &mode| all.with(mode));
                all
            })
            .collect();
        tiers.dedup();
        tiers
    }
    /// Returns the modes, the most common last.
    pub fn list(self) -> Vec<Mode> {
        Mode::ALL.iter().copied().filter(|&mode| self.has(mode)).collect()
    }

    /// Returns the legal values of an instruction of type `ty` whose real values are `x`; `product`
    /// if it multiplies.
    pub(super) fn store(self, ty: ElementType, x: Interval, product: bool) -> Interval {
        if x.is_any() || (is_finite_only(ty) && !x.is_finite()) {
            return Interval::ANY;
        }
        if x.is_nan() {
            return Interval::point(round(ty, x.lo));
        }
        let keep = self.keeps(product);
        if ty == ElementType::F64 { nearest(x, keep) } else { stored(ty, x, keep) }
    }
    /// Returns whether a value may not be rounded to its type; `product` if it is one.
    fn keeps(self, product: bool) -> bool {
        self.has(Mode::ExcessPrecision) || (product && self.has(Mode::FusedMultiplyAdd))
    }
    /// As [`Self::store`], the values apart: of a type narrower than `f32` those that are rounded and
    /// those that are kept, and where those beyond a format without infinities may be NaN, the
    /// largest number, or not rounded to it.
    pub(super) fn store_all(self, ty: ElementType, x: Interval, product: bool) -> Vec<Interval> {
        let all = self.store(ty, x, product);
        let finite = round(ty, f64::INFINITY).is_nan();
        if !all.is_any() && ty.bits() < 32 && self.keeps(product) {
            let strict = self.without(Mode::ExcessPrecision).without(Mode::FusedMultiplyAdd);
            let (rounded, kept) = (strict.store(ty, x, product), kept(ty, x));
            let apart = rounded.hi < kept[0].lo || kept[0].hi < rounded.lo;
            return match apart {
                true => std::iter::once(rounded).chain(kept).collect(),
                false => vec![all],
            };
        }
        if !all.is_any() || x.is_any() || !finite {
            return vec![all];
        }
        let most = largest(ty);
        let saturated = Interval {
            lo: round(ty, x.lo.clamp(-most, most)),
            hi: round(ty, x.hi.clamp(-most, most)),
        };
        let kept = if self.keeps(product) { kept(ty, x) } else { Vec::new() };
        [Interval::NAN, saturated].into_iter().chain(kept).collect()
    }
    /// As [`Self::store_all`] of a conversion, the values apart that are rounded to the type and
    /// that are not.
    pub(super) fn converted(self, ty: ElementType, x: Interval) -> Vec<Interval> {
        let rounded = self.without(Mode::ExcessPrecision).store_all(ty, x, false);
        let keep = self.keeps(false) && !x.is_nan() && !x.is_any();
        let kept = if keep { kept(ty, x) } else { Vec::new() };
        rounded.into_iter().chain(kept).collect()
    }
    /// Returns the zero that may stand for an element of which a value is below the normal numbers.
    pub(super) fn flushed(self, ty: ElementType, x: Interval) -> Option<Interval> {
        let least = self.flushed_below(ty);
        let denormal = least > 0.0 && !x.is_nan() && x.lo < least && x.hi > -least;
        // An interval about 0 has it, but may have both zeros only if both ends say so.
        if !denormal || (x.lo <= 0.0 && x.hi >= 0.0) {
            return None;
        }
        Some(Interval::point(if x.lo > 0.0 { 0.0 } else { -0.0 }))
    }
    /// Returns the values of the product of a number and its rounded reciprocal, if it has one.
    pub(super) fn times_own_reciprocal(self, ty: ElementType, x: Interval) -> Vec<Interval> {
        let (most, max) = (x.max_abs().min(largest(ty)), largest(ty));
        let error = crate::error_model::roundoff(ty).max(least_subnormal(ty) / 2.0 * most);
        // The reciprocal of a large number may be flushed, that of a small one may overflow.
        let flushed = most * self.flushed_below(ty) > 1.0;
        let overflows = x.lo * max < 1.0 && x.hi * max > -1.0;
        let values = [
            Some(Interval::point(1.0).widened(error)),
            flushed.then_some(Interval::point(0.0)),
            overflows.then_some(Interval::point(f64::INFINITY)),
        ];
        values.into_iter().flatten().collect()
    }
    /// Returns the number below which all numbers of a type may be 0.
    pub(super) fn flushed_below(self, ty: ElementType) -> f64 {
        let least = smallest_normal(ty);
        // The denormals of f16 and narrower types are normal numbers of f32, in which they are
        // computed.
        let flushes = self.has(Mode::FlushedDenormals) && least <= f64::from(f32::MIN_POSITIVE);
        if flushes { least } else { 0.0 }
    }
    /// Returns the real values `x` of a function that may be wrong by some units in the last place
    /// of its result.
    pub(super) fn inaccurate(ty: ElementType, x: Interval, ulps: f64) -> Interval {
        let zero = x.is_point() && x.lo == 0.0;
        if ulps == 0.0 || zero || x.is_nan() || x.is_any() {
            return x;
        }
        let lo = lowered(ty, x, ulps);
        let hi = -lowered(ty, -x, ulps);
        // The ends of an f64 are exactly the first numbers that are not legal.
        if ty == ElementType::F64 { Interval { lo, hi } } else { Interval::open(lo, hi) }
    }
}

/// Returns the least value of a function of values `x` that is wrong by some units in the last
/// place.
fn lowered(ty: ElementType, x: Interval, ulps: f64) -> f64 {
    let least = |y: f64| y - ulps * ulp(ty, y);
    if x.lo.is_infinite() {
        return x.lo;
    }
    // Above a power of two the units are twice as large.
    let power = if x.lo > 0.0 { 2.0 * binade(x.lo) } else { f64::INFINITY };
    if power <= x.hi { least(x.lo).min(least(power)) } else { least(x.lo) }
}

/// Returns the greatest power of two that is not above the magnitude of a finite number; of 0 and
/// the subnormal numbers of `f64`, the least normal one.
fn binade(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & (0x7ff << 52)).max(f64::MIN_POSITIVE)
}

/// Returns the unit in the last place of a finite number of a float or complex type.
pub(super) fn ulp(ty: ElementType, x: f64) -> f64 {
    let unit = 2.0 * crate::error_model::roundoff(ty) * binade(x);
    unit.max(least_subnormal(ty))
}

/// Returns the largest finite number of a type.
pub(super) fn largest(ty: ElementType) -> f64 {
    ty.component().float_format().map_or(f64::MAX, FloatFormat::max_finite)
}

/// Returns whether a type has neither infinities nor NaN. StableHLO (`convert`) defines no number for
/// them: "otherwise, the behavior is TBD".
pub(super) fn is_finite_only(ty: ElementType) -> bool {
    ty.component().float_format().is_some_and(|format| format.special == Special::Finite)
}

pub(super) fn round(ty: ElementType, x: f64) -> f64 {
    Scalar::Float(x).round_to(ty).as_f64()
}

/// The only f64 of an interval is its only rounded value.
fn nearest(x: Interval, keep: bool) -> Interval {
    let only = x.lo.next_up();
    if !keep && !x.is_point() && only == x.hi.next_down() { Interval::point(only) } else { x }
}

/// Returns the number of a type that is nearest to another one, and no larger.
pub(super) fn truncated(ty: ElementType, x: f64) -> f64 {
    let size = round(ty, x.abs()).min(largest(ty));
    let below = if size > x.abs() { size - ulp(ty, size) } else { size };
    // Some types have no 0.
    if below <= x.abs() { below.copysign(x) } else { 0.0 }
}

fn stored(ty: ElementType, x: Interval, keep: bool) -> Interval {
    let (lo, hi) = (round(ty, x.lo), round(ty, x.hi));
    if x.is_point() && lo.to_bits() == x.lo.to_bits() {
        return x;
    }
    match (lo.is_nan(), hi.is_nan()) {
        // Formats without infinities.
        (true, true) if !keep => Interval::NAN,
        (false, false) if keep => {
            let rounded = Interval { lo, hi };
            kept(ty, x).into_iter().fold(rounded, |all, kept| Interval {
                lo: all.lo.min(kept.lo),
                hi: all.hi.max(kept.hi),
            })
        }
        (false, false) => Interval { lo, hi },
        (true, _) | (_, true) => Interval::ANY,
    }
}

/// Returns the values that are not rounded to a type, but to a wider one: those of a type narrower
/// than `f32` perhaps to `f32`, of 8 bits also to one of 16, others to `f64`, of which one may be the
/// only number.
fn kept(ty: ElementType, x: Interval) -> Vec<Interval> {
    let x = nearest(x, false);
    let rounded = |wide: ElementType| Interval { lo: round(wide, x.lo), hi: round(wide, x.hi) };
    if !x.is_finite() || ty.bits() >= 32 {
        return vec![x];
    }
    let wide = rounded(ElementType::F32);
    let mut values = vec![Interval { lo: x.lo.min(wide.lo), hi: x.hi.max(wide.hi) }];
    if ty.bits() <= 8 {
        values.extend([ElementType::F16, ElementType::Bf16].map(rounded));
    }
    values
}

pub(super) use crate::compare::smallest_normal;

pub(super) fn least_subnormal(ty: ElementType) -> f64 {
    let format = ty.component().float_format();
    format.map_or(0.0, |f| (f64::from(1 - f.bias) - f64::from(f.mantissa_bits)).exp2())
}

/// Returns whether an element of a float type is a legal value; `None` if nothing is known.
pub(super) fn contains(ty: ElementType, x: Interval, actual: f64) -> Option<bool> {
    if x.is_nan() {
        return Some(actual.is_nan());
    }
    if x.is_any() {
        return None;
    }
    if ty == ElementType::F64 {
        if x.is_point() {
            return Some(actual.to_bits() == x.lo.to_bits());
        }
        let above = actual > x.lo || (actual == x.lo && (x.lo == 0.0 || x.lo.is_infinite()));
        let below = actual < x.hi || (actual == x.hi && (x.hi == 0.0 || x.hi.is_infinite()));
        return Some(above && below);
    }
    let (lo, hi) = (round(ty, x.lo), round(ty, x.hi));
    if lo.is_nan() || hi.is_nan() {
        // Beyond a format without infinities is NaN, or the largest number.
        let most = largest(ty);
        let within = round(ty, x.lo.clamp(-most, most)) <= actual
            && actual <= round(ty, x.hi.clamp(-most, most));
        return Some(actual.is_nan() || within);
    }
    Some(if x.is_point() { actual.to_bits() == lo.to_bits() } else { lo <= actual && actual <= hi })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::functions;
    use hlo::op::Binary;

    const F32: ElementType = ElementType::F32;

    #[test]
    fn an_end_is_the_nearest_number_to_values_beside_it() {
        let (x, two) = (Interval { lo: -1.0, hi: 1.0 }, Interval::point(2.0));
        for all in [x + two, (x + two) * Interval::point(1.0), (x + two) / Interval::point(1.0)] {
            for end in [1.0, 3.0] {
                let stored = Modes::ALL.store(ElementType::F64, all, false);
                assert_eq!(contains(ElementType::F64, stored, end), Some(true), "{end} in {all:?}");
            }
        }
        let sum = functions::binary(Binary::Add, ElementType::F64, x, two);
        assert_eq!(
            contains(ElementType::F64, Modes::ALL.store(ElementType::F64, sum, false), 3.0),
            Some(true)
        );
    }

    #[test]
    fn one_rounding_has_one_legal_value() {
        let sum = Interval::point(0.1) + Interval::point(1e-9);
        let x = f64::from(0.1f32);
        let next = f64::from(0.1f32.next_up());
        assert_eq!(contains(F32, Modes::ALL.store(F32, sum, false), x), Some(true));
        assert_eq!(contains(F32, Modes::ALL.store(F32, sum, false), next), Some(false));
        let third = Interval::point(1.0) / Interval::point(3.0);
        let third = Modes::ALL.store(ElementType::F64, third, false);
        assert_eq!(contains(ElementType::F64, third, 1.0 / 3.0), Some(true));
        assert_eq!(contains(ElementType::F64, third, (1.0f64 / 3.0).next_up()), Some(false));
    }

    #[test]
    fn without_excess_precision_a_value_is_rounded() {
        let third = Interval::point(1.0) / Interval::point(3.0);
        let strict = Modes::NONE;
        assert!(strict.store(F32, third, false).is_point());
        assert!(strict.store(ElementType::F64, third, false).is_point());
        assert!(!Modes::ALL.store(F32, third, false).is_point());
    }

    #[test]
    fn denormals_may_be_zero() {
        let tiny = Interval::point(1e-40);
        assert!(Modes::ALL.flushed(F32, tiny).is_some_and(|zero| zero.same(Interval::point(0.0))));
        assert!(
            Modes::ALL.flushed(F32, -tiny).is_some_and(|zero| zero.same(Interval::point(-0.0)))
        );
        assert!(Modes::NONE.flushed(F32, tiny).is_none());
        assert!(Modes::ALL.flushed(ElementType::F16, Interval::point(1e-7)).is_none());
    }

    #[test]
    fn each_mode_has_a_tier() {
        let tiers = Modes::ALL.tiers();
        assert_eq!((tiers.len(), tiers.last()), (4, Some(&Modes::ALL)));
        assert_eq!(Modes::STRICT.tiers(), [Modes::STRICT]);
        assert_eq!(Modes::NONE.tiers(), [Modes::NONE]);
    }

    #[test]
    fn units_are_those_of_the_result() {
        // 4 units of a number at the end of a binade, and one that reaches into the next.
        let legal = |y: f64, n: f64, x: f32| {
            contains(F32, Modes::inaccurate(F32, Interval::open(y, y), n), f64::from(x))
        };
        let y = 1.973_877_7f32;
        let up = |n: u32| f32::from_bits(y.to_bits() + n);
        assert_eq!(legal(f64::from(y), 2.0, up(2)), Some(true));
        assert_eq!(legal(f64::from(y), 2.0, up(3)), Some(false));
        let ty = ElementType::F64;
        let x = Modes::inaccurate(ty, Interval::open(1.5, 1.5), 2.0);
        let two = 1.5f64.next_up().next_up();
        assert_eq!(contains(ty, x, two), Some(true));
        assert_eq!(contains(ty, x, two.next_up()), Some(false));
    }

    #[test]
    fn overflow_may_be_infinite() {
        let large = Interval { lo: 3.4e38, hi: 3.5e38 };
        let stored = Modes::ALL.store(F32, large, false);
        assert_eq!(contains(F32, stored, f64::INFINITY), Some(true));
        assert_eq!(contains(F32, stored, f64::from(f32::MAX)), Some(true));
        assert_eq!(contains(F32, stored, 3e38), Some(false));
        let float8 = ElementType::F8E4M3Fn;
        let stored = Modes::NONE.store(float8, Interval::point(500.0), false);
        assert_eq!(contains(float8, stored, f64::NAN), Some(true));
    }
}
