//! Bounds on the errors of sums of products, and the exact sums where a bound leaves the rounding
//! open.
use hlo::{ElementType, Scalar};
use num::accumulator::{ExactSum, Sum, is_narrow};
use num::exact::{round_to_odd, two_sum};

/// The bound on the error of a sum of some number of products, in f64.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorBound {
    /// Number of products.
    terms: f64,
    /// The bound for sums in f64 of exact products, in units of the magnitude.
    plain: f64,
    /// The type sums are rounded to first.
    ty: ElementType,
}

/// 2^-53, half the distance from 1 to the next f64.
const UNIT: f64 = f64::EPSILON / 2.0;

impl ErrorBound {
    /// Returns the error of sums of `terms` products that are rounded to the type `ty`.
    ///
    /// In f64 the rounding errors of n - 1 additions are at most `(n - 1) * UNIT * magnitude`
    /// (Rump, Jeannerod). The ends of the interval are themselves rounded by less than
    /// `2 * UNIT * |sum|`, and the magnitude may be a millionth too small.
    pub(crate) fn new(terms: usize, ty: ElementType) -> Self {
        let terms = Scalar::Unsigned(terms.try_into().expect("at most 64 bits")).as_f64();
        let plain = if terms > 1.0 { (terms + 4.0) * UNIT * 1.000_002 } else { 0.0 };
        Self { terms, plain, ty }
    }

    /// Returns the bound for sums in f64 whose products take part in at most `depth` additions.
    pub(super) fn of_depth(self, depth: usize) -> Self {
        let depth = Scalar::Unsigned(depth.try_into().expect("at most 64 bits")).as_f64();
        let plain = if self.terms > 1.0 { (depth + 4.0) * UNIT * 1.000_002 } else { 0.0 };
        Self { plain, ..self }
    }
    /// Returns the bound for sums in f64 of exact products, in units of the magnitude.
    pub(crate) fn units(self) -> f64 {
        self.plain
    }

    /// Returns the ends of an interval around `sum`, which was added up in f64 from exact products.
    #[inline]
    pub(super) fn plain(self, sum: f64, magnitude: f64) -> Option<[f64; 2]> {
        if !sum.is_finite() {
            // Products and sums of f32 do not overflow in f64: the exact sum is not finite either.
            return Some([sum, sum]);
        }
        let error = self.plain * magnitude;
        error.is_finite().then_some([sum - error, sum + error])
    }

    /// Returns what the error of a sum with its rounding errors kept is at most: in units of the
    /// magnitude, and beside that.
    pub(super) fn compensated_units(self) -> [f64; 2] {
        const LEAST: f64 = f64::from_bits(1 << 10); // 2^-1064
        let lost = (2.0 * self.terms + 8.0) * (self.terms + 4.0) * UNIT * UNIT * 1.000_002;
        [lost, self.terms * LEAST]
    }
    /// Returns the error of such a sum, of which `low` is the smaller part, from these units.
    #[inline(always)]
    pub(super) fn compensated_error([lost, least]: [f64; 2], magnitude: f64, low: f64) -> f64 {
        lost * magnitude + least + 4.0 * UNIT * low.abs()
    }
    /// Returns the ends of an interval around `sum`, which was added up with its rounding errors
    /// kept.
    ///
    /// The 2n errors add up to at most `(n + 1) * UNIT * magnitude`, and adding them loses at most
    /// 2n units of that. Products below 2^-960 may lose a few times the least f64.
    #[inline]
    pub(super) fn compensated(self, sum: Sum, magnitude: f64) -> Option<[f64; 2]> {
        let (high, low) = sum.parts();
        if magnitude == 0.0 {
            return Some([high, high]);
        }
        let error = Self::compensated_error(self.compensated_units(), magnitude, low);
        // Where terms cancel, the error may exceed an ulp of the sum, or the sum itself.
        let end = |low: f64| {
            let (high, low) = two_sum(high, low);
            if is_narrow(self.ty) { round_to_odd(high, low) } else { high }
        };
        (error.is_finite() && high.is_finite()).then(|| [end(low - error), end(low + error)])
    }
}

/// Returns the exact sum of products of real numbers.
pub(super) fn exact_sum(terms: impl Iterator<Item = (f64, f64)>, ty: ElementType) -> Scalar {
    let mut sum = ExactSum::new(0.0);
    terms.for_each(|(a, b)| sum.add_product(a, b));
    Scalar::Float(sum.rounded(ty))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether the interval of a compensated sum contains a number.
    fn contains(sum: Sum, magnitude: f64, ty: ElementType, x: f64) -> bool {
        let ends = ErrorBound::new(6, ty).compensated(sum, magnitude);
        ends.is_some_and(|[low, high]| low <= x && x <= high)
    }

    #[test]
    fn intervals_contain_sums_smaller_than_their_error() {
        for ty in [ElementType::F32, ElementType::F64] {
            // The error is some 2^-99 of the magnitude.
            for (magnitude, x) in [(2f64.powi(113), -7_000.0), (2f64.powi(100), 17_900.0)] {
                assert!(contains(Sum::new(17_899.808_6), magnitude, ty, x), "{ty} {x}");
            }
            assert!(contains(Sum::new(-0.0), 1.0, ty, 1e-31));
            assert!(contains(Sum::new(1e-40), 1.0, ty, -1e-31));
            assert!(!contains(Sum::new(1.0), 1.0, ty, 1.0 + 2.0 * f64::EPSILON));
        }
    }
}
