//! `algorithm=`: what each word says about operands, products and sums.
//!
//! An algorithm names the type operands are rounded to, how many parts they are split into, which
//! products of parts are kept, and the type sums are rounded to. Products are exact and sums are
//! formed wider, as everywhere; then they are rounded to the type of the sums, and from there to
//! the result's type.
//!
//! | algorithm | operands | products kept | sums |
//! |---|---|---|---|
//! | `unset` | as they are | all there is | the result's type |
//! | `dot_any_f8_any_f8_f32`, `.._fast_accum` | as they are: 8-bit floats | | `f32` |
//! | `dot_f16_f16_f16`, `dot_f16_f16_f32` | `f16` | | `f16`, `f32` |
//! | `dot_bf16_bf16_bf16`, `dot_bf16_bf16_f32` | `bf16` | | `bf16`, `f32` |
//! | `dot_bf16_bf16_f32_x3` | two parts of `bf16` | high·high, high·low, low·high | `f32` |
//! | `dot_bf16_bf16_f32_x6` | three parts of `bf16` | the above, mid·mid, high·low, low·high | `f32` |
//! | `dot_bf16_bf16_f32_x9` | three parts of `bf16` | all nine | `f32` |
//! | `dot_tf32_tf32_f32` | `tf32` | | `f32` |
//! | `dot_tf32_tf32_f32_x3` | two parts of `tf32` | high·high, high·low, low·high | `f32` |
//! | `dot_f32_f32_f32` | `f32` | | `f32` |
//! | `dot_f64_f64_f64` | `f64` | | `f64` |
//!
//! `tf32` has 10 bits of mantissa and the exponent of `f32`; rounding is to the nearest, ties to
//! even. The first part of a number is the number rounded, each further part what is left, rounded.
//! Where a number is infinite or NaN, or becomes so when it is rounded, only the product of the
//! first parts counts: what is left of an infinity is nothing, and must not turn it into a NaN.
//!
//! A fast sum is not emulated: `fast_accum` permits hardware to keep fewer bits and does not say
//! which.
use super::operands::{LosslessElements, Operands, Rounding, is_native, single};
use super::{Contraction, Lists, Sums, contract_into, in_parts};
use half::{bf16, f16};
use hlo::op::value::DotAlgorithm;
use hlo::{Array, ElementType, Scalar};
use num::Arithmetic;

/// The format that operands are rounded to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    AsItIs,
    F16,
    Bf16,
    Tf32,
}

impl Input {
    fn round(self, x: f32) -> f32 {
        match self {
            Self::AsItIs => x,
            Self::F16 => f16::from_f32(x).to_f32(),
            Self::Bf16 => bf16::from_f32(x).to_f32(),
            Self::Tf32 if x.is_finite() => {
                // Thirteen bits of the mantissa go; half of the last one kept, less one where that
                // one is even.
                let bits = x.to_bits();
                let odd = bits >> 13 & 1;
                f32::from_bits((bits + 0xfff + odd) & !0x1fff)
            }
            Self::Tf32 => x,
        }
    }
}

/// The way in which an algorithm forms sums of products.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResolvedDotAlgorithm {
    input: Input,
    /// The products of parts that are kept, by their numbers; the first parts come first.
    products: &'static [(usize, usize)],
    /// The type sums are rounded to; the result's if it is not said.
    sums: Option<ElementType>,
    arithmetic: Arithmetic,
}

const ONE: &[(usize, usize)] = &[(0, 0)];
const THREE: &[(usize, usize)] = &[(0, 0), (0, 1), (1, 0)];
const SIX: &[(usize, usize)] = &[(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0)];
const NINE: &[(usize, usize)] =
    &[(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (1, 2), (2, 1), (2, 2)];

impl ResolvedDotAlgorithm {
    /// Returns the algorithm of an algorithm.
    pub(crate) fn of(algorithm: DotAlgorithm, arithmetic: Arithmetic) -> Self {
        use DotAlgorithm as A;
        use ElementType as E;
        let (input, products, sums) = match algorithm {
            A::Unset => {
                return Self { input: Input::AsItIs, products: ONE, sums: None, arithmetic };
            }
            A::AnyF8AnyF8F32 | A::AnyF8AnyF8F32FastAccum | A::F32F32F32 => {
                (Input::AsItIs, ONE, E::F32)
            }
            A::F16F16F16 => (Input::F16, ONE, E::F16),
            A::F16F16F32 => (Input::F16, ONE, E::F32),
            A::Bf16Bf16Bf16 => (Input::Bf16, ONE, E::Bf16),
            A::Bf16Bf16F32 => (Input::Bf16, ONE, E::F32),
            A::Bf16Bf16F32X3 => (Input::Bf16, THREE, E::F32),
            A::Bf16Bf16F32X6 => (Input::Bf16, SIX, E::F32),
            A::Bf16Bf16F32X9 => (Input::Bf16, NINE, E::F32),
            A::Tf32Tf32F32 => (Input::Tf32, ONE, E::F32),
            A::Tf32Tf32F32X3 => (Input::Tf32, THREE, E::F32),
            A::F64F64F64 => (Input::AsItIs, ONE, E::F64),
        };
        Self { input, products, sums: Some(sums), arithmetic }
    }

    /// Returns whether operands are rounded before they are multiplied.
    pub(crate) fn rounds_operands(self) -> bool {
        self.input != Input::AsItIs
    }

    /// Returns whether operands are split into parts.
    pub(crate) fn has_parts(self) -> bool {
        self.products.len() > 1
    }

    /// Arrays of f32 that the parts of an operand take, beside the operand.
    pub(super) fn copies(self) -> usize {
        match (self.input, self.products) {
            (Input::AsItIs, _) => 0,
            (_, [_]) => 1,
            // The first parts, what is left in f64, and all parts.
            (_, products) => 3 + 1 + products.iter().map(|&(part, _)| part).max().unwrap_or(0),
        }
    }
    /// Returns the terms that each term becomes.
    pub(super) fn product_count(self) -> usize {
        self.products.len()
    }

    /// Returns whether sums of floats, rounded to the type `to`, are formed in the type of the
    /// operands.
    pub(super) fn is_native(self, to: ElementType) -> bool {
        self.input == Input::AsItIs
            && is_native(self.arithmetic, self.sums.unwrap_or(to).component())
    }

    /// Returns the arithmetic of sums that are rounded to the type `to`.
    pub(crate) fn arithmetic(self, to: ElementType) -> Arithmetic {
        if self.is_native(to) { self.arithmetic } else { Arithmetic::Exact }
    }

    /// Returns the type that sums are rounded to first, if the algorithm names one.
    pub(super) fn sum_type(self) -> Option<ElementType> {
        self.sums
    }

    /// All sums of the plan, over operands treated as the algorithm says, into the bytes of an
    /// array of type `to`.
    pub(crate) fn contract(
        self,
        sums: Sums<'_>,
        (lhs, rhs): (&Array, &Array),
        to: ElementType,
        out: &mut [u8],
    ) {
        let operands = [lhs, rhs].map(|array| (array.shape().ty, array.bytes()));
        self.contract_bytes(sums, operands, to, out);
    }
    /// The same, over operands of these types and bytes.
    pub(crate) fn contract_bytes(
        self,
        sums: Sums<'_>,
        [lhs, rhs]: [(ElementType, &[u8]); 2],
        to: ElementType,
        out: &mut [u8],
    ) {
        let elements = |(ty, bytes)| LosslessElements::of_bytes(ty, bytes);
        let rounding = Rounding::new(lhs.0, rhs.0, self.sums, to);
        self.contract_elements(sums, (elements(lhs), elements(rhs)), rounding, out);
    }

    /// Contracts elements that are converted already; the rounding's type of sums is replaced.
    pub(crate) fn contract_elements(
        self,
        sums: Sums<'_>,
        (lhs, rhs): (LosslessElements<'_>, LosslessElements<'_>),
        rounding: Rounding,
        out: &mut [u8],
    ) {
        let rounding = rounding.with_sums(self.sums);
        if self.input == Input::AsItIs {
            let pair = Operands::new(lhs, rhs, rounding, self.arithmetic);
            return contract_into(sums, &pair, rounding, out);
        }
        let (lhs, rhs) = (lhs.singles(), rhs.singles());
        let high = |x: &[f32]| -> Vec<f32> { x.iter().map(|&x| self.input.round(x)).collect() };
        let (high_lhs, high_rhs) = (high(&lhs), high(&rhs));
        if self.products.len() == 1 {
            let pair = Operands::F64Accumulator(high_lhs.into(), high_rhs.into());
            return contract_into(sums, &pair, rounding, out);
        }
        let finite = high_lhs.iter().chain(&high_rhs).all(|x| x.is_finite());
        self.contract_parts(sums, (&lhs, &rhs), rounding, out);
        if finite {
            return;
        }
        // A sum with an infinity or a NaN among its terms is that of first parts. Whether it has
        // one, a sum tells in which these are NaN and all others 0; that of first parts may also be
        // beyond the type of the sums.
        let marks = |x: &[f32]| -> Vec<f32> {
            x.iter().map(|x| if x.is_finite() { 0.0 } else { f32::NAN }).collect()
        };
        let marks = Operands::F64Accumulator(marks(&high_lhs).into(), marks(&high_rhs).into());
        let pair = Operands::F64Accumulator(high_lhs.into(), high_rhs.into());
        let mut first = vec![0; out.len()];
        contract_into(sums, &pair, rounding, &mut first);
        let single = Rounding { to: ElementType::F32, ..rounding }.with_sums(None);
        let (width, mark_width) = (rounding.to.storage_bytes(), ElementType::F32.storage_bytes());
        let mut has_special = vec![0; out.len() / width * mark_width];
        contract_into(sums, &marks, single, &mut has_special);
        let elements = out.chunks_exact_mut(width).zip(first.chunks_exact(width));
        for ((element, first), mark) in elements.zip(has_special.chunks_exact(mark_width)) {
            if Scalar::read(ElementType::F32, mark).as_f64().is_nan() {
                element.copy_from_slice(first);
            }
        }
    }

    /// Each term becomes one term for each product of parts that is kept. Parts of an operand lie
    /// one after the other, and so do the terms of a product.
    fn contract_parts(
        self,
        sums: Sums<'_>,
        (lhs, rhs): (&[f32], &[f32]),
        rounding: Rounding,
        out: &mut [u8],
    ) {
        let Sums::Matrix(plan) = sums else { unreachable!("sums of parts have no lines") };
        let parts = |x: &[f32]| {
            let count = 1 + self.products.iter().map(|&(part, _)| part).max().unwrap_or(0);
            let mut left: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
            let mut parts = Vec::with_capacity(count * x.len());
            for _ in 0..count {
                for left in &mut left {
                    // Exact: what is left of an f32 has no more bits than it had.
                    let part = self.input.round(single(*left));
                    *left -= f64::from(part);
                    parts.push(if part.is_nan() { 0.0 } else { part });
                }
            }
            parts
        };
        let (left, right): (Vec<usize>, Vec<usize>) =
            self.products.iter().map(|&(a, b)| (a * lhs.len(), b * rhs.len())).unzip();
        let terms = in_parts(&plan.rhs.terms, 1, &right);
        let pair = Operands::F64Accumulator(parts(lhs).into(), parts(rhs).into());
        plan.lhs.with_parts((1, &left), plan.rhs.terms.len(), |lhs| {
            let plan = Contraction {
                lhs,
                rhs: Lists { terms: terms.as_slice().into(), ..plan.rhs },
                ..plan
            };
            contract_into(Sums::Matrix(plan), &pair, rounding, out);
        });
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values are compared")]
mod tests {
    use super::*;

    #[test]
    fn tf32_rounds_to_nearest_even() {
        let round = |x| Input::Tf32.round(x);
        let ulp = f32::EPSILON * 8192.0; // 2^-10
        assert_eq!(round(1.0 + ulp / 2.0), 1.0);
        assert_eq!(round(1.0 + 1.5 * ulp), 1.0 + 2.0 * ulp);
        assert_eq!(round(1.0 + ulp / 2.0 + f32::EPSILON), 1.0 + ulp);
        assert_eq!(round(f32::MAX), f32::INFINITY);
        assert_eq!(round(f32::NEG_INFINITY), f32::NEG_INFINITY);
        assert!(round(f32::from_bits(0x7fff_ffff)).is_nan());
        // Subnormals lose the same thirteen bits.
        assert_eq!(round(f32::from_bits(0x1000)), 0.0);
        assert_eq!(round(f32::from_bits(0x1001)), f32::from_bits(0x2000));
    }
}
