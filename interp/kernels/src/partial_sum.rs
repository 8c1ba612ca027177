//! Sums of floats in f64 with a bound on their error, and their rounding.
use hlo::{ElementType, Scalar};
use num::accumulator::{ExactSum, Sum};
use num::loops::SumLoops;
use num::single::to_f32;

/// The bound of the error of a sum, relative to the sum of magnitudes: no element takes part in
/// more additions that round than these, each with an error of at most 2^-53 of the magnitudes
/// before it. The magnitudes have errors of the same size.
const ERROR: f64 = 320.0 / 9_007_199_254_740_992.0;

/// A sum on its way.
#[derive(Clone, Copy)]
pub(super) struct Partial {
    sum: Sum,
    magnitude: f64,
}

impl Partial {
    pub(super) fn new(first: f64) -> Self {
        Self { sum: Sum::new(first), magnitude: first.abs() }
    }
    pub(super) fn add(&mut self, (sum, magnitude): (f64, f64)) {
        self.sum.add(sum);
        self.magnitude += magnitude;
    }
    /// Returns the sum rounded to `ty`, if the bound of its error decides that.
    pub(super) fn rounded(self, ty: ElementType) -> Option<Scalar> {
        // Only zeros were added, without an error; the sum has the right sign.
        if self.magnitude == 0.0 {
            return Some(Scalar::Float(self.sum.value()));
        }
        let (high, low) = self.sum.parts();
        let error = self.magnitude * ERROR;
        if ty == ElementType::F32 {
            let [least, most] = [low - error, low + error].map(|low| to_f32(high + low));
            let is_decided = least.to_bits() == most.to_bits() && least.is_finite() && least != 0.0;
            return is_decided.then_some(Scalar::Float(least.into()));
        }
        let [least, most] =
            [low - error, low + error].map(|low| Scalar::Float(high + low).round_to(ty));
        let bits = least.to_bits(ty);
        // A bound that is not finite decides nothing, nor does one around zero.
        let is_decided =
            bits == most.to_bits(ty) && least.as_f64().is_finite() && least.as_f64() != 0.0;
        is_decided.then_some(least)
    }
    /// Returns the sum of these elements rounded to `ty`, by as much work as that takes.
    pub(super) fn correctly_rounded<'e>(
        self,
        loops: SumLoops,
        first: Scalar,
        elements: impl Iterator<Item = &'e [u8]> + Clone,
        ty: ElementType,
    ) -> Scalar {
        if let Some(sum) = self.rounded(ty) {
            return sum;
        }
        let coarse = self.coarse();
        let are_multiples = elements.clone().all(|part| (loops.are_multiples)(part, coarse));
        let sum = if are_multiples { self.exact(first) } else { None };
        sum.unwrap_or_else(|| exact_sum(loops, first, elements, ty))
    }
    /// Returns a number whose neighbors are a unit apart, of which the sum of magnitudes is less
    /// than 2^53. So no sum of multiples of the unit has been rounded.
    pub(super) fn coarse(&self) -> f64 {
        /// The exponent of an f64.
        const EXPONENT: u64 = 0x7ff << 52;
        // Twelve times a power of two, so that the neighbors of its sums with an element are as far
        // apart.
        12.0 * f64::from_bits(self.magnitude.to_bits() & EXPONENT)
    }
    /// Returns the sum, if all elements are multiples of the unit and so is the first value.
    pub(super) fn exact(&self, first: Scalar) -> Option<Scalar> {
        let (first, coarse) = (first.as_f64(), self.coarse());
        let rest = ((first + coarse) - coarse) - first;
        (rest == 0.0).then(|| Scalar::Float(self.sum.value()))
    }
}

/// Returns the sum of the elements and the first value, computed exactly and rounded to `ty`.
pub(super) fn exact_sum<'e>(
    loops: SumLoops,
    first: Scalar,
    elements: impl Iterator<Item = &'e [u8]>,
    ty: ElementType,
) -> Scalar {
    let mut sum = ExactSum::new(first.as_f64());
    elements.for_each(|part| (loops.exact)(part, &mut sum));
    Scalar::Float(sum.rounded(ty))
}
