//! The legal modes in which backends may differ, and the value that an instruction stores in each.
use super::interval::Interval;
use hlo::{ElementType, Scalar};
use serde::{Deserialize, Serialize};

/// A legal reason for other bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A function such as `tanh` is not correctly rounded, but within the accuracy of its op.
    FunctionAccuracy,
    /// The terms of a sum, or the factors of a product, are taken in another order.
    SummationOrder,
    /// A product is added without being rounded before: fused multiply-add.
    FusedMultiplyAdd,
    /// A value is not rounded to its type between two instructions.
    ExcessPrecision,
    /// Numbers below the smallest normal `f32`, `bf16` or `f64` are read or written as 0.
    FlushedDenormals,
    /// A quotient is the product with the reciprocal of the divisor.
    ReciprocalDivision,
    /// A function is within the accuracy that the backend states for it, and not within that of its
    /// op.
    StatedAccuracy,
}

impl Mode {
    /// All modes, the most common last.
    pub const ALL: [Self; 7] = [
        Self::StatedAccuracy,
        Self::ReciprocalDivision,
        Self::FlushedDenormals,
        Self::ExcessPrecision,
        Self::FusedMultiplyAdd,
        Self::SummationOrder,
        Self::FunctionAccuracy,
    ];

    /// Returns the words that reports show.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FunctionAccuracy => "accuracy of functions",
            Self::SummationOrder => "order of summation",
            Self::FusedMultiplyAdd => "fused multiply-add",
            Self::ExcessPrecision => "excess precision",
            Self::FlushedDenormals => "flushed denormals",
            Self::ReciprocalDivision => "division by reciprocal",
            Self::StatedAccuracy => "accuracy that the backend states",
        }
    }
    const fn bit(self) -> u8 {
        match self {
            Self::FunctionAccuracy => 1,
            Self::SummationOrder => 2,
            Self::FusedMultiplyAdd => 4,
            Self::ExcessPrecision => 8,
            Self::FlushedDenormals => 16,
            Self::ReciprocalDivision => 32,
            Self::StatedAccuracy => 64,
        }
    }
}

/// A set of modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Modes(u8);

impl Modes {
    pub(super) const ALL: Self = Self(127);
    #[cfg(test)]
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn has(self, mode: Mode) -> bool {
        self.0 & mode.bit() != 0
    }
    pub(super) const fn without(self, mode: Mode) -> Self {
        Self(self.0 & !mode.bit())
    }
    pub(super) fn list(self) -> Vec<Mode> {
        Mode::ALL.into_iter().filter(|&mode| self.has(mode)).collect()
    }

    /// Returns the legal values of an instruction of type `ty` whose real values are `x`; `product`
    /// if it multiplies.
    pub(super) fn store(self, ty: ElementType, x: Interval, product: bool) -> Interval {
        if x.is_nan() {
            // Formats without NaN have another value for it.
            return Interval::point(round(ty, x.lo));
        }
        if x.is_any() {
            return x;
        }
        let keep = self.has(Mode::ExcessPrecision) || (product && self.has(Mode::FusedMultiplyAdd));
        let stored = if ty == ElementType::F64 { nearest(x, keep) } else { stored(ty, x, keep) };
        self.flushed(ty, stored)
    }
    /// Returns the legal values where those below the normal numbers of the type may be 0.
    pub(super) fn flushed(self, ty: ElementType, x: Interval) -> Interval {
        let least = self.flushed_below(ty);
        let zero = x.lo == 0.0 && x.hi == 0.0;
        if least == 0.0 || zero || x.is_nan() || x.lo >= least || x.hi <= -least {
            return x;
        }
        // The ends of an f64 are not legal themselves, except for those of a point and for zero.
        let open = ty == ElementType::F64 && x.is_point();
        if x.lo > 0.0 {
            Interval { lo: 0.0, hi: if open { x.hi.next_up() } else { x.hi } }
        } else if x.hi < 0.0 {
            Interval { lo: if open { x.lo.next_down() } else { x.lo }, hi: -0.0 }
        } else {
            x
        }
    }
    /// Returns the number below which all numbers of a type may be 0.
    pub(super) fn flushed_below(self, ty: ElementType) -> f64 {
        let least = smallest_normal(ty);
        // The denormals of f16 and narrower types are normal numbers of f32, in which they are
        // computed.
        let flushes = self.has(Mode::FlushedDenormals) && least <= f64::from(f32::MIN_POSITIVE);
        if flushes { least } else { 0.0 }
    }
    /// Returns the real values `x` of a function that may be wrong by some units in the last place.
    pub(super) fn inaccurate(ty: ElementType, x: Interval, ulps: f64) -> Interval {
        let zero = x.is_point() && x.lo == 0.0;
        if ulps == 0.0 || zero {
            return x;
        }
        let at = if x.is_finite() { x.max_abs() } else { x.lo.abs().min(x.hi.abs()) };
        if at.is_infinite() {
            return x;
        }
        let unit = (2.0 * crate::error_model::roundoff(ty) * at).max(least_subnormal(ty));
        x.widened(ulps * unit)
    }
}

fn round(ty: ElementType, x: f64) -> f64 {
    Scalar::Float(x).round_to(ty).as_f64()
}

/// The only f64 of an interval is its only rounded value.
fn nearest(x: Interval, keep: bool) -> Interval {
    let only = x.lo.next_up();
    if !keep && !x.is_point() && only == x.hi.next_down() { Interval::point(only) } else { x }
}

fn stored(ty: ElementType, x: Interval, keep: bool) -> Interval {
    let (lo, hi) = (round(ty, x.lo), round(ty, x.hi));
    if x.is_point() && lo.to_bits() == x.lo.to_bits() {
        return x;
    }
    // A value that is not rounded to a type narrower than f32 may be rounded to f32.
    let single = crate::error_model::roundoff(ElementType::F32);
    let kept = if keep && ty.bits() < 32 && x.is_finite() {
        x.widened(single * x.max_abs()).signed_as(x)
    } else {
        x
    };
    match (lo.is_nan(), hi.is_nan()) {
        // Formats without infinities.
        (true, true) if !keep => Interval::NAN,
        (false, false) if keep => Interval { lo: kept.lo.min(lo), hi: kept.hi.max(hi) },
        (false, false) => Interval { lo, hi },
        (true, _) | (_, true) => Interval::ANY,
    }
}

/// Returns the smallest positive normal number of a float or complex type, and 0 for other types.
pub(super) fn smallest_normal(ty: ElementType) -> f64 {
    let format = ty.component().float_format();
    format.map_or(0.0, |format| f64::from(1 - format.bias).exp2())
}
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
        return Some(actual.is_nan() || !(actual < lo || actual > hi));
    }
    Some(if x.is_point() { actual.to_bits() == lo.to_bits() } else { lo <= actual && actual <= hi })
}

#[cfg(test)]
mod tests {
    use super::*;

    const F32: ElementType = ElementType::F32;

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
        let strict = Modes(0);
        assert!(strict.store(F32, third, false).is_point());
        assert!(strict.store(ElementType::F64, third, false).is_point());
        assert!(!Modes::ALL.store(F32, third, false).is_point());
    }

    #[test]
    fn denormals_may_be_zero() {
        let tiny = Interval::point(1e-40);
        assert_eq!(contains(F32, Modes::ALL.flushed(F32, tiny), 0.0), Some(true));
        assert_eq!(contains(F32, Modes(0).flushed(F32, tiny), 0.0), Some(false));
        let half = ElementType::F16;
        assert!(Modes::ALL.flushed(half, Interval::point(1e-7)).is_point());
    }

    #[test]
    fn overflow_may_be_infinite() {
        let large = Interval { lo: 3.4e38, hi: 3.5e38 };
        let stored = Modes::ALL.store(F32, large, false);
        assert_eq!(contains(F32, stored, f64::INFINITY), Some(true));
        assert_eq!(contains(F32, stored, f64::from(f32::MAX)), Some(true));
        assert_eq!(contains(F32, stored, 3e38), Some(false));
        let float8 = ElementType::F8E4M3Fn;
        let stored = Modes(0).store(float8, Interval::point(500.0), false);
        assert_eq!(contains(float8, stored, f64::NAN), Some(true));
    }
}
