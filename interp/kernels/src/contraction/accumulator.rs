//! The accumulators of sums of products: running sums in tiles of 4 by 4, their error bounds, and
//! exact sums.
use super::error_bound::{ErrorBound, complex_interval, exact_complex_sum, exact_sum};
use hlo::{ElementType, Scalar};
use num::accumulator::Sum;

/// Rows and columns of a tile: sixteen sums that do not wait for each other.
pub(super) const LANES: usize = 4;

/// Sixteen sums, by row and column.
pub(super) type TileSums<S> = [[S; LANES]; LANES];

/// A way to form sums of products, and to round each as the exact sum would be. `PLANES` is the
/// number of words an element is packed as.
///
/// A running sum comes with a bound on its error. Where both ends of the interval round to the same
/// element, that element is the correctly rounded sum; elsewhere the exact sum decides.
pub(super) trait Accumulator<const PLANES: usize> {
    /// An element as the operand holds it.
    type Stored: Copy + Sync;
    /// The words of packed elements.
    type Word: Copy + Default + Send + Sync;
    /// A running sum.
    type Sum: Copy;
    /// Products of real numbers that one term adds to a sum, or to each part of one.
    const PRODUCTS: usize;
    /// Whether the error of a sum has a bound other than 0, which follows from the squares of
    /// elements.
    const HAS_BOUND: bool = true;

    /// Returns the packed form.
    fn pack(element: Self::Stored) -> [Self::Word; PLANES];
    /// Sums over all terms of packed panels: `PLANES` times `LANES` words a term.
    fn tile(lhs: &[Self::Word], rhs: &[Self::Word]) -> TileSums<Self::Sum>;
    /// Returns the interval that holds the exact sum of terms whose absolute values add up to at
    /// most `magnitude`, each end rounded so that [`Rounding::write`] rounds it as it would the
    /// exact number. None if the error has no finite bound.
    fn interval(sum: Self::Sum, magnitude: f64, error: ErrorBound) -> Option<[Scalar; 2]>;
    /// Returns the exact sum of the products, to be rounded to the type `ty`.
    fn exact(terms: impl Iterator<Item = (Self::Stored, Self::Stored)>, ty: ElementType) -> Scalar;
    /// Returns the words of elements that are words as they are stored.
    fn words(_: &[Self::Stored]) -> Option<&[Self::Word]> {
        None
    }
    /// Returns whether an element may be packed at all.
    fn packable(element: Self::Stored) -> bool;
    /// Returns whether an element times zero is zero, so that padding can be packed as zeros.
    fn finite(element: Self::Stored) -> bool;
    /// Returns the square of the absolute value of a packed element; 0 if sums are exact.
    fn square(packed: [Self::Word; PLANES]) -> f64;
}

/// A kernel that also forms single sums in its running sum.
pub(super) trait SingleSums<const PLANES: usize>: Accumulator<PLANES> {
    /// Returns the empty sum.
    fn zero() -> Self::Sum;
    /// Adds one product and returns its absolute value, or a bound of it.
    fn add(sum: &mut Self::Sum, a: Self::Stored, b: Self::Stored) -> f64;
}

/// One term of a panel: its words, plane by plane.
pub(super) fn terms<W, const PLANES: usize>(
    panel: &[W],
) -> impl Iterator<Item = &[[W; LANES]; PLANES]> {
    let (lanes, _) = panel.as_chunks::<LANES>();
    let (terms, _) = lanes.as_chunks::<PLANES>();
    terms.iter()
}

/// The norms of four rows or columns: the root of the sum of squares. The product of the norms of a
/// row and a column is at least the sum of the absolute values of their products (Cauchy and
/// Schwarz).
pub(super) type Norms = [f64; LANES];

/// Returns the norms of the rows or columns of a panel.
pub(super) fn norms_of<K: Accumulator<PLANES>, const PLANES: usize>(panel: &[K::Word]) -> Norms {
    let mut squares = [0.0; LANES];
    let mut terms = terms::<K::Word, PLANES>(panel);
    let square = |term: Option<&[[K::Word; LANES]; PLANES]>| -> Norms {
        let square = |term: &[[K::Word; LANES]; PLANES]| {
            std::array::from_fn(|lane| K::square(std::array::from_fn(|plane| term[plane][lane])))
        };
        term.map_or([0.0; LANES], square)
    };
    // Two terms at a time, so that half of the additions do not wait for each other.
    while let Some(term) = terms.next() {
        let (even, odd) = (square(Some(term)), square(terms.next()));
        for ((square, even), odd) in squares.iter_mut().zip(even).zip(odd) {
            *square += even + odd;
        }
    }
    squares.map(f64::sqrt)
}

/// Integers, modulo 2^64.
pub(super) struct WrappingAccumulator;

impl Accumulator<1> for WrappingAccumulator {
    type Stored = i64;
    type Word = i64;
    type Sum = i64;
    const PRODUCTS: usize = 1;

    fn pack(element: i64) -> [i64; 1] {
        [element]
    }
    fn tile(lhs: &[i64], rhs: &[i64]) -> TileSums<i64> {
        let mut sums = TileSums::<i64>::default();
        for ([a], [b]) in terms(lhs).zip(terms(rhs)) {
            for (row, &a) in sums.iter_mut().zip(a) {
                for (sum, &b) in row.iter_mut().zip(b) {
                    *sum = sum.wrapping_add(a.wrapping_mul(b));
                }
            }
        }
        sums
    }
    fn interval(sum: i64, _: f64, _: ErrorBound) -> Option<[Scalar; 2]> {
        Some([Scalar::Signed(sum); 2])
    }
    fn exact(terms: impl Iterator<Item = (i64, i64)>, _: ElementType) -> Scalar {
        Scalar::Signed(terms.map(|(a, b)| a.wrapping_mul(b)).fold(0, i64::wrapping_add))
    }
    fn packable(_: i64) -> bool {
        true
    }
    fn finite(_: i64) -> bool {
        true
    }
    fn square(_: [i64; 1]) -> f64 {
        0.0
    }
}

impl SingleSums<1> for WrappingAccumulator {
    fn zero() -> i64 {
        0
    }
    fn add(sum: &mut i64, a: i64, b: i64) -> f64 {
        *sum = sum.wrapping_add(a.wrapping_mul(b));
        0.0
    }
}

/// Floats whose products are exact in f64, added in f64.
pub(super) struct F64Accumulator;

impl Accumulator<1> for F64Accumulator {
    type Stored = f32;
    type Word = f64;
    type Sum = f64;
    const PRODUCTS: usize = 1;

    #[inline]
    fn pack(element: f32) -> [f64; 1] {
        [f64::from(element)]
    }
    fn tile(lhs: &[f64], rhs: &[f64]) -> TileSums<f64> {
        let mut sums = TileSums::default();
        for ([a], [b]) in terms(lhs).zip(terms(rhs)) {
            for (row, &a) in sums.iter_mut().zip(a) {
                for (sum, &b) in row.iter_mut().zip(b) {
                    *sum += a * b;
                }
            }
        }
        sums
    }
    #[inline]
    fn interval(sum: f64, magnitude: f64, error: ErrorBound) -> Option<[Scalar; 2]> {
        Some(error.plain(sum, magnitude)?.map(Scalar::Float))
    }
    fn exact(terms: impl Iterator<Item = (f32, f32)>, ty: ElementType) -> Scalar {
        exact_sum(terms.map(|(a, b)| (a.into(), b.into())), ty)
    }
    fn packable(_: f32) -> bool {
        true
    }
    fn finite(element: f32) -> bool {
        element.is_finite()
    }
    #[inline]
    fn square([x]: [f64; 1]) -> f64 {
        x * x
    }
}

impl SingleSums<1> for F64Accumulator {
    fn zero() -> f64 {
        0.0
    }
    #[inline]
    fn add(sum: &mut f64, a: f32, b: f32) -> f64 {
        let product = f64::from(a) * f64::from(b);
        *sum += product;
        product.abs()
    }
}

/// Returns a number as two of at most 27 bits, whose products are exact (Veltkamp's splitting).
fn halves(x: f64) -> [f64; 2] {
    const SPLITTER: f64 = 134_217_729.0; // 2^27 + 1
    let shifted = SPLITTER * x;
    let high = shifted - (shifted - x);
    [high, x - high]
}

/// Beyond this, splitting or multiplying could overflow: 2^500.
const HUGE: f64 = f64::from_bits((1023 + 500) << 52);

/// Sixteen running sums and what rounding left out of each. Kept apart, so that they fill vectors.
#[derive(Default)]
struct SumTile {
    sum: TileSums<f64>,
    lost: TileSums<f64>,
}

impl SumTile {
    /// Adds the products of four rows with four columns, of split numbers, or of the rows'
    /// negatives.
    #[inline]
    fn add(
        &mut self,
        [a_high, a_low]: [&[f64; LANES]; 2],
        [b_high, b_low]: [&[f64; LANES]; 2],
        sign: f64,
    ) {
        for i in 0..LANES {
            let (ah, al) = (sign * a_high[i], sign * a_low[i]);
            let a = ah + al;
            for j in 0..LANES {
                let (bh, bl) = (b_high[j], b_low[j]);
                let product = a * (bh + bl);
                // Dekker's product: what rounding left out of it, exactly.
                let error = ((ah * bh - product) + ah * bl + al * bh) + al * bl;
                let before = self.sum[i][j];
                let sum = before + product;
                let part = sum - before;
                let lost = self.lost[i][j] + ((before - (sum - part)) + (product - part));
                self.lost[i][j] = lost + error;
                self.sum[i][j] = sum;
            }
        }
    }
    fn sums(&self) -> TileSums<Sum> {
        std::array::from_fn(|i| {
            std::array::from_fn(|j| Sum::with_errors(self.sum[i][j], self.lost[i][j]))
        })
    }
}

/// f64, with the rounding errors of products and sums kept.
pub(super) struct CompensatedAccumulator;

impl Accumulator<2> for CompensatedAccumulator {
    type Stored = f64;
    type Word = f64;
    type Sum = Sum;
    const PRODUCTS: usize = 1;

    fn pack(element: f64) -> [f64; 2] {
        halves(element)
    }
    fn tile(lhs: &[f64], rhs: &[f64]) -> TileSums<Sum> {
        let mut sums = SumTile::default();
        for (a, b) in terms::<f64, 2>(lhs).zip(terms::<f64, 2>(rhs)) {
            sums.add(a.each_ref(), b.each_ref(), 1.0);
        }
        sums.sums()
    }
    #[inline]
    fn interval(sum: Sum, magnitude: f64, error: ErrorBound) -> Option<[Scalar; 2]> {
        Some(error.compensated(sum, magnitude)?.map(Scalar::Float))
    }
    fn exact(terms: impl Iterator<Item = (f64, f64)>, ty: ElementType) -> Scalar {
        exact_sum(terms, ty)
    }
    fn packable(element: f64) -> bool {
        element.abs() <= HUGE
    }
    fn finite(element: f64) -> bool {
        element.is_finite()
    }
    #[inline]
    fn square([high, low]: [f64; 2]) -> f64 {
        // What underflows in the square may count in a product: 2^-1000 in its stead, but zeros
        // stay zeros.
        const LEAST: f64 = f64::from_bits((1023 - 1000) << 52);
        let x = high + low;
        if x == 0.0 { 0.0 } else { x * x + LEAST }
    }
}

/// Complex numbers whose parts' products are exact in f64.
pub(super) struct F64ComplexAccumulator;

impl Accumulator<2> for F64ComplexAccumulator {
    type Stored = [f32; 2];
    type Word = f64;
    type Sum = [f64; 2];
    const PRODUCTS: usize = 2;

    fn pack(element: [f32; 2]) -> [f64; 2] {
        element.map(f64::from)
    }
    fn tile(lhs: &[f64], rhs: &[f64]) -> TileSums<[f64; 2]> {
        let (mut re, mut im) = (TileSums::<f64>::default(), TileSums::<f64>::default());
        for ([a, b], [c, d]) in terms::<f64, 2>(lhs).zip(terms::<f64, 2>(rhs)) {
            for i in 0..LANES {
                for j in 0..LANES {
                    re[i][j] = re[i][j] + a[i] * c[j] - b[i] * d[j];
                    im[i][j] = im[i][j] + a[i] * d[j] + b[i] * c[j];
                }
            }
        }
        std::array::from_fn(|i| std::array::from_fn(|j| [re[i][j], im[i][j]]))
    }
    #[inline]
    fn interval([re, im]: [f64; 2], magnitude: f64, error: ErrorBound) -> Option<[Scalar; 2]> {
        complex_interval(error.plain(re, magnitude), error.plain(im, magnitude))
    }
    fn exact(terms: impl Iterator<Item = ([f32; 2], [f32; 2])>, ty: ElementType) -> Scalar {
        exact_complex_sum(terms.map(|(a, b)| (Self::pack(a), Self::pack(b))), ty)
    }
    fn packable(_: [f32; 2]) -> bool {
        true
    }
    fn finite(element: [f32; 2]) -> bool {
        element.iter().all(|x| x.is_finite())
    }
    #[inline]
    fn square([re, im]: [f64; 2]) -> f64 {
        re * re + im * im
    }
}

impl SingleSums<2> for F64ComplexAccumulator {
    fn zero() -> [f64; 2] {
        [0.0; 2]
    }
    #[inline]
    fn add(sum: &mut [f64; 2], a: [f32; 2], b: [f32; 2]) -> f64 {
        let ([a, b], [c, d]) = (Self::pack(a), Self::pack(b));
        sum[0] = sum[0] + a * c - b * d;
        sum[1] = sum[1] + a * d + b * c;
        (a.abs() + b.abs()) * (c.abs() + d.abs())
    }
}

/// Complex numbers of two f64, with the rounding errors of products and sums kept.
pub(super) struct CompensatedComplexAccumulator;

impl Accumulator<4> for CompensatedComplexAccumulator {
    type Stored = [f64; 2];
    type Word = f64;
    type Sum = [Sum; 2];
    const PRODUCTS: usize = 2;

    fn pack([re, im]: [f64; 2]) -> [f64; 4] {
        let ([a, b], [c, d]) = (halves(re), halves(im));
        [a, b, c, d]
    }
    fn tile(lhs: &[f64], rhs: &[f64]) -> TileSums<[Sum; 2]> {
        let (mut re, mut im) = (SumTile::default(), SumTile::default());
        for (a, b) in terms::<f64, 4>(lhs).zip(terms::<f64, 4>(rhs)) {
            let ([a, b], [c, d]) =
                ([[&a[0], &a[1]], [&a[2], &a[3]]], [[&b[0], &b[1]], [&b[2], &b[3]]]);
            re.add(a, c, 1.0);
            re.add(b, d, -1.0);
            im.add(a, d, 1.0);
            im.add(b, c, 1.0);
        }
        let (re, im) = (re.sums(), im.sums());
        std::array::from_fn(|i| std::array::from_fn(|j| [re[i][j], im[i][j]]))
    }
    #[inline]
    fn interval([re, im]: [Sum; 2], magnitude: f64, error: ErrorBound) -> Option<[Scalar; 2]> {
        complex_interval(error.compensated(re, magnitude), error.compensated(im, magnitude))
    }
    fn exact(terms: impl Iterator<Item = ([f64; 2], [f64; 2])>, ty: ElementType) -> Scalar {
        exact_complex_sum(terms, ty)
    }
    fn packable(element: [f64; 2]) -> bool {
        element.iter().all(|x| x.abs() <= HUGE)
    }
    fn finite(element: [f64; 2]) -> bool {
        element.iter().all(|x| x.is_finite())
    }
    #[inline]
    fn square([a, b, c, d]: [f64; 4]) -> f64 {
        CompensatedAccumulator::square([a, b]) + CompensatedAccumulator::square([c, d])
    }
}
