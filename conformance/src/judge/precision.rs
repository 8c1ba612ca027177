//! How `dot` and `convolution` read their factors and add their products: as the algorithm or the
//! `operand_precision` of the instruction says.
#![expect(clippy::wildcard_enum_match_arm, reason = "only sums of products have a precision")]
use super::interval::Interval;
use super::modes::{Mode, Modes};
use super::range::Range;
use crate::error_model::roundoff;
use hlo::op::value::{DotAlgorithm, Precision};
use hlo::{ElementType, Op, Scalar};
use interp::num;

/// The precision of an instruction that adds products.
#[derive(Debug, Clone)]
pub(super) struct ProductPrecision {
    algorithm: DotAlgorithm,
    /// What the instruction asks for, of both operands.
    requested: [Precision; 2],
    /// Whether factors have scales.
    pub(super) scaled: bool,
}

/// What a backend may make of a factor.
#[derive(Debug, Clone, Copy)]
enum Reading {
    /// Itself.
    Exact,
    /// The nearest number of a type.
    Rounded(ElementType),
    /// Any number within a relative distance; numbers of so few bits are read exactly.
    Within { relative: f64, bits: i32 },
}

/// TF32, of which some hardware ignores the lower bits of an `f32`.
const TF32: Reading = Reading::Within { relative: 1.0 / 1024.0, bits: 11 };
/// One `bf16`, which is rounded to nearest.
const BF16: Reading = Reading::Within { relative: 1.0 / 256.0, bits: 8 };
/// Two `bf16`, of which the product of the lower ones is lost: 3 2^-16 for a product.
const BF16_X3: Reading = Reading::Within { relative: 1.0 / 32768.0, bits: 8 };
/// Two TF32 of which the product of the lower ones is lost.
const TF32_X3: Reading = Reading::Within { relative: 1.0 / 524_288.0, bits: 11 };
/// Three `bf16`, of which the products below 2^-24 are lost.
const BF16_X6: Reading = Reading::Within { relative: 1.0 / 8_388_608.0, bits: 8 };

impl ProductPrecision {
    pub(super) fn of(op: &Op) -> Self {
        let (algorithm, requested, scaled) = match op {
            Op::Dot(op) => (op.algorithm, &op.operand_precision, false),
            Op::Convolution(op) => (op.algorithm, &op.operand_precision, false),
            Op::ScaledDot(op) => (op.algorithm, &op.operand_precision, true),
            Op::RaggedDot(op) => (DotAlgorithm::Unset, &op.operand_precision, false),
            _ => {
                return Self {
                    algorithm: DotAlgorithm::Unset,
                    requested: Default::default(),
                    scaled: false,
                };
            }
        };
        let of = |i: usize| requested.0.get(i).copied().unwrap_or_default();
        Self { algorithm, requested: [of(0), of(1)], scaled }
    }

    /// Returns the values that a backend may take for a factor.
    pub(super) fn factor(&self, modes: Modes, operand: usize, ty: ElementType, x: &Range) -> Range {
        let readings = self.readings(modes, operand, ty);
        let Some(shape) = x.shape().filter(|_| !readings.is_empty()) else { return x.clone() };
        let read = |x: Interval| readings.iter().map(|r| r.of(x)).reduce(either).unwrap_or(x);
        let parts: Vec<Interval> = x.intervals().map(read).collect();
        Range::given(shape, &parts).because(x.cause.clone())
    }

    /// Returns what a backend may make of a factor of this type; nothing if it is read as it is.
    fn readings(&self, modes: Modes, operand: usize, ty: ElementType) -> Vec<Reading> {
        use DotAlgorithm as A;
        let tf32 = modes.has(Mode::Tf32);
        let only = |reading: Reading| vec![reading];
        match self.algorithm {
            A::F16F16F16 | A::F16F16F32 => only(Reading::Rounded(ElementType::F16)),
            A::Bf16Bf16Bf16 | A::Bf16Bf16F32 => only(Reading::Rounded(ElementType::Bf16)),
            A::Bf16Bf16F32X3 => only(BF16_X3),
            A::Bf16Bf16F32X6 => only(BF16_X6),
            A::Tf32Tf32F32 if tf32 => only(TF32),
            // Rounded as numbers of 19 bits.
            A::Tf32Tf32F32 => only(Reading::Within { relative: 0.0, bits: 11 }),
            A::Tf32Tf32F32X3 => only(TF32_X3),
            A::AnyF8AnyF8F32
            | A::AnyF8AnyF8F32FastAccum
            | A::Bf16Bf16F32X9
            | A::F32F32F32
            | A::F64F64F64 => Vec::new(),
            A::Unset => {
                let requested = self.requested[operand.min(1)];
                if ty.component() != ElementType::F32 || requested == Precision::Highest {
                    return Vec::new();
                }
                let bf16 = if requested == Precision::Default { BF16 } else { BF16_X3 };
                let passes = modes.has(Mode::Bf16Passes).then_some(bf16);
                let either = [tf32.then_some(TF32), passes].into_iter().flatten();
                let mut all: Vec<Reading> = either.collect();
                if !all.is_empty() {
                    all.push(Reading::Exact);
                }
                all
            }
        }
    }

    /// Returns the type of the partial sums of a result of type `ty`.
    pub(super) fn accumulator(&self, modes: Modes, ty: ElementType) -> ElementType {
        use DotAlgorithm as A;
        match self.algorithm {
            A::F16F16F16 => ElementType::F16,
            A::Bf16Bf16Bf16 => ElementType::Bf16,
            A::AnyF8AnyF8F32
            | A::AnyF8AnyF8F32FastAccum
            | A::F16F16F32
            | A::Bf16Bf16F32
            | A::Bf16Bf16F32X3
            | A::Bf16Bf16F32X6
            | A::Bf16Bf16F32X9
            | A::Tf32Tf32F32
            | A::Tf32Tf32F32X3
            | A::F32F32F32 => ElementType::F32,
            A::F64F64F64 => ElementType::F64,
            A::Unset if modes.has(Mode::ElementAccumulation) => ty,
            A::Unset if roundoff(ty) > roundoff(ElementType::F32) => ElementType::F32,
            A::Unset => ty,
        }
    }

    /// Returns the unit roundoff of the partial sums of factors of these types.
    pub(super) fn unit(
        &self,
        modes: Modes,
        factors: [Option<ElementType>; 2],
        accumulator: ElementType,
    ) -> f64 {
        use DotAlgorithm as A;
        let narrow =
            |ty: &Option<ElementType>| ty.is_some_and(|ty| ty.is_float() && ty.bits() <= 8);
        let fast = match self.algorithm {
            A::AnyF8AnyF8F32FastAccum => true,
            A::Unset => self.requested != [Precision::Highest; 2],
            _ => false,
        };
        let own = roundoff(accumulator);
        let fast =
            fast && !self.scaled && modes.has(Mode::FastAccumulation) && factors.iter().all(narrow);
        // The products are aligned and added with 13 bits after the point, and then truncated.
        if fast { own.max(1.0 / 8192.0) } else { own }
    }
}

/// Returns the type in which an algorithm of several steps computes: nobody has arithmetic of 8 bits
/// for it, and of 16 bits in one mode.
pub(super) fn computed_in(modes: Modes, ty: ElementType) -> ElementType {
    let own = ty.bits() >= 16 && modes.has(Mode::ElementAccumulation);
    if ty.bits() < 32 && !own { ElementType::F32 } else { ty }
}

impl Reading {
    fn of(self, x: Interval) -> Interval {
        if x.is_nan() || x.is_any() {
            return x;
        }
        match self {
            Self::Exact => x,
            Self::Rounded(ty) => {
                let end = |x: f64| Scalar::Float(x).round_to(ty).as_f64();
                Interval::closed(end(x.lo), end(x.hi))
            }
            Self::Within { relative, bits } => {
                let round = |x: f64| {
                    let mantissa = u32::try_from(bits - 1).unwrap_or(0);
                    let x = Scalar::Float(x);
                    let y = num::reduce_precision(ElementType::F64, 11, mantissa, x).as_f64();
                    // The exponent is that of f32.
                    if y.abs() < 128f64.exp2() { y } else { y * f64::INFINITY }
                };
                let (lo, hi) = (round(x.lo), round(x.hi));
                if relative == 0.0 {
                    return Interval::closed(lo, hi);
                }
                if x.is_point() && lo.to_bits() == x.lo.to_bits() {
                    return x;
                }
                // The largest numbers may be rounded to infinity.
                let near = x.widened(relative * x.max_abs()).signed_as(x);
                let end =
                    |rounded: f64, near: f64| if rounded.is_infinite() { rounded } else { near };
                Interval { lo: end(lo, near.lo), hi: end(hi, near.hi) }
            }
        }
    }
}

/// Returns the values of either interval.
fn either(a: Interval, b: Interval) -> Interval {
    if a.same(b) { a } else { a.hull(b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_of_few_bits_are_exact() {
        let exact = Interval::point(1.5);
        assert!([TF32, BF16, BF16_X3].iter().all(|reading| reading.of(exact).same(exact)));
        let third = Interval::point(f64::from(1.0f32 / 3.0));
        let read = BF16.of(third);
        assert!(read.lo < 0.3330 && read.hi > 0.3336 && read.lo > 0.33 && read.hi < 0.336);
    }

    #[test]
    fn the_largest_factors_may_overflow() {
        let most = Interval::point(f64::from(f32::MAX));
        assert_eq!(BF16.of(most).hi, f64::INFINITY);
        assert!(Reading::Exact.of(most).same(most));
    }
}
