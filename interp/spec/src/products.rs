//! Sums of products, for `dot`, `ragged-dot`, `scaled-dot` and `convolution`
//!
//! Products and sums are exact, and the sum is rounded once:
//!
//! | operands | sum | becomes an element of the result |
//! |---|---|---|
//! | integers and `pred` | modulo 2^64 | as `convert` does from `u64`, or from `s64` if one operand is signed |
//! | real floats, or floats and integers | exact | rounded to the result's float type; as `convert` does from `f64` to others |
//! | complex numbers, or complex and real ones | exact, part by part | part by part |
//!
//! So a sum of `s8` wraps only at the width of the result, 0.5 + 0.5 is 1 in `s32`, and `pred`
//! operands count their common true elements. With a float, an integer beyond 2^53 is rounded to
//! `f64` first. A sum starts at +0. Products of complex numbers are formed from their parts: unlike
//! in C99, an infinity is not recovered if a part becomes NaN.
//!
//! # Algorithms
//!
//! `algorithm` determines the type that operands are rounded to, the number of such parts each is
//! split into, the products of parts that are kept, and the type that the exact sum is rounded to
//! before it is converted to the result type:
//!
//! | `algorithm` | parts of an operand | products kept | sum |
//! |---|---|---|---|
//! | `unset` | as they are | all | the result's type |
//! | `dot_any_f8_any_f8_f32`, `.._fast_accum` | as they are: floats of 8 bits | all | `f32` |
//! | `dot_f16_f16_f16`, `dot_f16_f16_f32` | `f16` | all | `f16`, `f32` |
//! | `dot_bf16_bf16_bf16`, `dot_bf16_bf16_f32` | `bf16` | all | `bf16`, `f32` |
//! | `dot_bf16_bf16_f32_x3` | two of `bf16` | high·high, high·low, low·high | `f32` |
//! | `dot_bf16_bf16_f32_x6` | three of `bf16` | the above, mid·mid, high·low, low·high | `f32` |
//! | `dot_bf16_bf16_f32_x9` | three of `bf16` | all nine | `f32` |
//! | `dot_tf32_tf32_f32` | `tf32` | all | `f32` |
//! | `dot_tf32_tf32_f32_x3` | two of `tf32` | high·high, high·low, low·high | `f32` |
//! | `dot_f32_f32_f32` | as they are | all | `f32` |
//! | `dot_f64_f64_f64` | as they are | all | `f64` |
//!
//! `tf32` has the exponent of `f32` and 10 bits of mantissa. The first part of a number is the
//! number rounded to nearest, ties to even; each further part is the rest, rounded. If a first part
//! is infinite or NaN only the product of the first parts is used, since an infinity has no rest.
//! `fast_accum` permits hardware to keep fewer bits of a sum and does not specify which, so it is
//! exact too.
//!
//! Source: StableHLO, `dot_general`; `PrecisionConfig.Algorithm` in XLA's `xla_data.proto`.
use num::clock::Stop;

use hlo::op::value::DotAlgorithm;
use hlo::{Class, ElementType, Scalar};
use num::accumulator::ExactSum;

/// The computation of products and their sum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Products {
    lhs: ElementType,
    rhs: ElementType,
    result: ElementType,
    algorithm: Algorithm,
}

impl Products {
    /// Returns the computation for elements of the types `lhs` and `rhs` and a result of type
    /// `result`.
    pub(super) fn new(
        lhs: ElementType,
        rhs: ElementType,
        algorithm: DotAlgorithm,
        result: ElementType,
    ) -> Self {
        Self { lhs, rhs, result, algorithm: Algorithm::of(algorithm) }
    }

    /// Returns whether operands are rounded before they are multiplied.
    pub(super) fn rounds_operands(&self) -> bool {
        self.algorithm.part.is_some()
    }

    /// Returns the sum of `lhs * rhs` over `terms`, as an element of the result.
    pub(super) fn sum(&self, terms: impl Iterator<Item = (Scalar, Scalar)>) -> Scalar {
        let stop = Stop::current();
        let terms = terms.take_while(|_| !stop.is_set());
        let whole = |ty: ElementType| ty.is_integral() || ty == ElementType::Pred;
        if whole(self.lhs) && whole(self.rhs) {
            let product = |(a, b): (Scalar, Scalar)| a.as_wrapping().wrapping_mul(b.as_wrapping());
            return self.of_integers(terms.map(product).fold(0, i64::wrapping_add));
        }
        if self.lhs.is_complex() || self.rhs.is_complex() {
            let (mut re, mut im) = (ExactSum::new(0.0), ExactSum::new(0.0));
            for (a, b) in terms {
                let ((a, b), (c, d)) = (parts(a), parts(b));
                re.add_product(a, c);
                re.add_product(-b, d);
                im.add_product(a, d);
                im.add_product(b, c);
            }
            return self.of_floats(&re, Some(&im));
        }
        let mut sum = ExactSum::new(0.0);
        for (a, b) in terms {
            self.algorithm.add_product(&mut sum, a.as_f64(), b.as_f64());
        }
        self.of_floats(&sum, None)
    }

    fn of_integers(&self, sum: i64) -> Scalar {
        let is_signed = |ty: ElementType| ty.class() == Class::Signed;
        let (sum, from) = if is_signed(self.lhs) || is_signed(self.rhs) {
            (Scalar::Signed(sum), ElementType::S64)
        } else {
            (Scalar::Unsigned(sum.cast_unsigned()), ElementType::U64)
        };
        let ty = self.algorithm.sum.unwrap_or(self.result);
        sum.convert(from, ty).convert(ty, self.result)
    }

    fn of_floats(&self, re: &ExactSum, im: Option<&ExactSum>) -> Scalar {
        let ty = self.algorithm.sum.unwrap_or(self.result);
        let (sum, from) = match im {
            Some(im) => (Scalar::Complex(re.rounded(ty), im.rounded(ty)), ElementType::C128),
            None => (Scalar::Float(re.rounded(ty)), ElementType::F64),
        };
        sum.convert(from, ty).convert(ty, self.result)
    }
}

fn parts(x: Scalar) -> (f64, f64) {
    if let Scalar::Complex(re, im) = x { (re, im) } else { (x.as_f64(), 0.0) }
}

/// A row of the table of algorithms.
#[derive(Debug, Clone, Copy)]
struct Algorithm {
    /// The type that operands are rounded to.
    part: Option<ComponentType>,
    /// The products of parts that are kept, by number; that of the first parts comes first.
    products: &'static [(usize, usize)],
    /// The type that sums are rounded to.
    sum: Option<ElementType>,
}

/// The type of an operand's parts.
#[derive(Debug, Clone, Copy)]
enum ComponentType {
    F16,
    Bf16,
    Tf32,
}

impl ComponentType {
    fn round(self, x: f64) -> f64 {
        let x = Scalar::Float(x);
        match self {
            Self::F16 => x.round_to(ElementType::F16).as_f64(),
            Self::Bf16 => x.round_to(ElementType::Bf16).as_f64(),
            Self::Tf32 => num::reduce_precision(ElementType::F32, 8, 10, x).as_f64(),
        }
    }
}

impl Algorithm {
    fn of(algorithm: DotAlgorithm) -> Self {
        use DotAlgorithm as A;
        use ElementType as E;
        const ONE: &[(usize, usize)] = &[(0, 0)];
        const THREE: &[(usize, usize)] = &[(0, 0), (0, 1), (1, 0)];
        const SIX: &[(usize, usize)] = &[(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0)];
        const NINE: &[(usize, usize)] =
            &[(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (1, 2), (2, 1), (2, 2)];
        let (part, products, sum) = match algorithm {
            A::Unset => (None, ONE, None),
            A::AnyF8AnyF8F32 | A::AnyF8AnyF8F32FastAccum => (None, ONE, Some(E::F32)),
            A::F16F16F16 => (Some(ComponentType::F16), ONE, Some(E::F16)),
            A::F16F16F32 => (Some(ComponentType::F16), ONE, Some(E::F32)),
            A::Bf16Bf16Bf16 => (Some(ComponentType::Bf16), ONE, Some(E::Bf16)),
            A::Bf16Bf16F32 => (Some(ComponentType::Bf16), ONE, Some(E::F32)),
            A::Bf16Bf16F32X3 => (Some(ComponentType::Bf16), THREE, Some(E::F32)),
            A::Bf16Bf16F32X6 => (Some(ComponentType::Bf16), SIX, Some(E::F32)),
            A::Bf16Bf16F32X9 => (Some(ComponentType::Bf16), NINE, Some(E::F32)),
            A::Tf32Tf32F32 => (Some(ComponentType::Tf32), ONE, Some(E::F32)),
            A::Tf32Tf32F32X3 => (Some(ComponentType::Tf32), THREE, Some(E::F32)),
            A::F32F32F32 => (None, ONE, Some(E::F32)),
            A::F64F64F64 => (None, ONE, Some(E::F64)),
        };
        Self { part, products, sum }
    }

    /// Adds the products of the parts of `a` and `b` that are kept.
    fn add_product(&self, sum: &mut ExactSum, a: f64, b: f64) {
        let Some(part) = self.part else { return sum.add_product(a, b) };
        let split = |x: f64| {
            let high = part.round(x);
            let middle = part.round(x - high);
            [high, middle, part.round(x - high - middle)]
        };
        let (a, b) = (split(a), split(b));
        let is_finite = a[0].is_finite() && b[0].is_finite();
        for &(i, j) in if is_finite { self.products } else { &self.products[..1] } {
            sum.add_product(a[i], b[j]);
        }
    }
}
