//! The five accumulators of sums of products, each for one element and for a tile of 4 by 4.
use crate::num::accumulator::Sum;
use hlo::Scalar;

/// Rows and columns of a tile: sixteen sums that do not wait for each other.
pub(super) const LANES: usize = 4;

/// Sixteen sums, by row and column.
pub(super) type Tile<S> = [[S; LANES]; LANES];

/// A way to form sums of products. `PLANES` is the number of words an element is packed as.
///
/// [`Kernel::add`] and [`Kernel::tile`] give the same bits wherever [`Kernel::packable`] holds for both operands.
pub(super) trait Kernel<const PLANES: usize> {
    /// An element as the operand holds it.
    type Stored: Copy + Sync;
    /// What packed elements are made of.
    type Word: Copy + Default + Send + Sync;
    /// A running sum.
    type Sum: Copy;

    /// The packed form.
    fn pack(element: Self::Stored) -> [Self::Word; PLANES];
    /// The empty sum.
    fn zero() -> Self::Sum;
    /// Adds one product.
    fn add(sum: &mut Self::Sum, a: Self::Stored, b: Self::Stored);
    /// Sums over all terms of packed panels: `PLANES` times `LANES` words a term.
    fn tile(lhs: &[Self::Word], rhs: &[Self::Word]) -> Tile<Self::Sum>;
    /// The sum, to be rounded.
    fn finish(sum: Self::Sum) -> Scalar;
    /// Whether an element may be packed at all.
    fn packable(element: Self::Stored) -> bool;
    /// Whether an element times zero is zero, so that padding can be packed as zeros.
    fn finite(element: Self::Stored) -> bool;
}

/// One term of a panel: its words, plane by plane.
fn terms<W, const PLANES: usize>(panel: &[W]) -> impl Iterator<Item = &[[W; LANES]; PLANES]> {
    let (lanes, _) = panel.as_chunks::<LANES>();
    let (terms, _) = lanes.as_chunks::<PLANES>();
    terms.iter()
}

/// Integers, modulo 2^64.
pub(super) struct WrappingAccumulator;

impl Kernel<1> for WrappingAccumulator {
    type Stored = i64;
    type Word = i64;
    type Sum = i64;

    fn pack(element: i64) -> [i64; 1] {
        [element]
    }
    fn zero() -> i64 {
        0
    }
    fn add(sum: &mut i64, a: i64, b: i64) {
        *sum = sum.wrapping_add(a.wrapping_mul(b));
    }
    fn tile(lhs: &[i64], rhs: &[i64]) -> Tile<i64> {
        let mut sums = Tile::default();
        for ([a], [b]) in terms(lhs).zip(terms(rhs)) {
            for (row, &a) in sums.iter_mut().zip(a) {
                for (sum, &b) in row.iter_mut().zip(b) {
                    Self::add(sum, a, b);
                }
            }
        }
        sums
    }
    fn finish(sum: i64) -> Scalar {
        Scalar::Signed(sum)
    }
    fn packable(_: i64) -> bool {
        true
    }
    fn finite(_: i64) -> bool {
        true
    }
}

/// Floats whose products are exact in f64, added in f64.
pub(super) struct F64Accumulator;

impl Kernel<1> for F64Accumulator {
    type Stored = f32;
    type Word = f64;
    type Sum = f64;

    fn pack(element: f32) -> [f64; 1] {
        [f64::from(element)]
    }
    fn zero() -> f64 {
        0.0
    }
    fn add(sum: &mut f64, a: f32, b: f32) {
        *sum += f64::from(a) * f64::from(b);
    }
    fn tile(lhs: &[f64], rhs: &[f64]) -> Tile<f64> {
        let mut sums = Tile::default();
        for ([a], [b]) in terms(lhs).zip(terms(rhs)) {
            for (row, &a) in sums.iter_mut().zip(a) {
                for (sum, &b) in row.iter_mut().zip(b) {
                    *sum += a * b;
                }
            }
        }
        sums
    }
    fn finish(sum: f64) -> Scalar {
        Scalar::Float(sum)
    }
    fn packable(_: f32) -> bool {
        true
    }
    fn finite(element: f32) -> bool {
        element.is_finite()
    }
}

/// A number as two of at most 27 bits, whose products are exact (Veltkamp's splitting).
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
    sum: Tile<f64>,
    lost: Tile<f64>,
}

impl SumTile {
    /// Adds the products of four rows with four columns, of split numbers, or of the rows' negatives.
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
    fn sums(&self) -> Tile<Sum> {
        std::array::from_fn(|i| {
            std::array::from_fn(|j| Sum::with_errors(self.sum[i][j], self.lost[i][j]))
        })
    }
}

/// f64, with the rounding errors of products and sums kept.
pub(super) struct CompensatedAccumulator;

impl Kernel<2> for CompensatedAccumulator {
    type Stored = f64;
    type Word = f64;
    type Sum = Sum;

    fn pack(element: f64) -> [f64; 2] {
        halves(element)
    }
    fn zero() -> Sum {
        Sum::new(0.0)
    }
    fn add(sum: &mut Sum, a: f64, b: f64) {
        sum.add_product(a, b);
    }
    fn tile(lhs: &[f64], rhs: &[f64]) -> Tile<Sum> {
        let mut sums = SumTile::default();
        for (a, b) in terms::<f64, 2>(lhs).zip(terms::<f64, 2>(rhs)) {
            sums.add(a.each_ref(), b.each_ref(), 1.0);
        }
        sums.sums()
    }
    fn finish(sum: Sum) -> Scalar {
        Scalar::Float(sum.value())
    }
    fn packable(element: f64) -> bool {
        element.abs() <= HUGE
    }
    fn finite(element: f64) -> bool {
        element.is_finite()
    }
}

/// Complex numbers whose parts' products are exact in f64.
pub(super) struct F64ComplexAccumulator;

impl Kernel<2> for F64ComplexAccumulator {
    type Stored = [f32; 2];
    type Word = f64;
    type Sum = [f64; 2];

    fn pack(element: [f32; 2]) -> [f64; 2] {
        element.map(f64::from)
    }
    fn zero() -> [f64; 2] {
        [0.0; 2]
    }
    fn add(sum: &mut [f64; 2], a: [f32; 2], b: [f32; 2]) {
        let ([a, b], [c, d]) = (Self::pack(a), Self::pack(b));
        sum[0] = sum[0] + a * c - b * d;
        sum[1] = sum[1] + a * d + b * c;
    }
    fn tile(lhs: &[f64], rhs: &[f64]) -> Tile<[f64; 2]> {
        let (mut re, mut im) = (Tile::<f64>::default(), Tile::<f64>::default());
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
    fn finish([re, im]: [f64; 2]) -> Scalar {
        Scalar::Complex(re, im)
    }
    fn packable(_: [f32; 2]) -> bool {
        true
    }
    fn finite(element: [f32; 2]) -> bool {
        element.iter().all(|x| x.is_finite())
    }
}

/// Complex numbers of two f64, with the rounding errors of products and sums kept.
pub(super) struct CompensatedComplexAccumulator;

impl Kernel<4> for CompensatedComplexAccumulator {
    type Stored = [f64; 2];
    type Word = f64;
    type Sum = [Sum; 2];

    fn pack([re, im]: [f64; 2]) -> [f64; 4] {
        let ([a, b], [c, d]) = (halves(re), halves(im));
        [a, b, c, d]
    }
    fn zero() -> [Sum; 2] {
        [Sum::new(0.0); 2]
    }
    fn add([re, im]: &mut [Sum; 2], [a, b]: [f64; 2], [c, d]: [f64; 2]) {
        re.add_product(a, c);
        re.add_product(-b, d);
        im.add_product(a, d);
        im.add_product(b, c);
    }
    fn tile(lhs: &[f64], rhs: &[f64]) -> Tile<[Sum; 2]> {
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
    fn finish([re, im]: [Sum; 2]) -> Scalar {
        Scalar::Complex(re.value(), im.value())
    }
    fn packable(element: [f64; 2]) -> bool {
        element.iter().all(|x| x.abs() <= HUGE)
    }
    fn finite(element: [f64; 2]) -> bool {
        element.iter().all(|x| x.is_finite())
    }
}
