//! Real and complex numbers in f64, for the matrix algorithms.
//!
//! Real matrices are computed in real arithmetic, not as complex ones without an imaginary part,
//! where an infinity times the zero imaginary part would be NaN.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
pub(super) use super::matrix::Matrix;
use hlo::Scalar;
use num::accumulator::Sum;
use num::loops::instruction_set::{Task, run};
use smallvec::SmallVec;
use std::fmt::Debug;
use std::ops::{Add, Mul, Neg, Range, Sub};

/// Factors and rows, whose products are subtracted; those of a small matrix take no memory.
pub(super) type Terms<'a, N> = SmallVec<[(N, &'a [N]); 8]>;

/// Some columns of rows that begin `stride` numbers apart.
pub(super) struct Rows<'a, N> {
    pub(super) data: &'a mut [N],
    pub(super) stride: usize,
    pub(super) columns: Range<usize>,
}

/// A number that the algorithms can run on.
pub(super) trait LapackFloat:
    Copy
    + Send
    + Sync
    + Debug
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    const ZERO: Self;
    const ONE: Self;
    /// Returns the number with these parts; a real type drops the imaginary part.
    fn of(re: f64, im: f64) -> Self;
    fn re(self) -> f64;
    fn im(self) -> f64;
    fn conj(self) -> Self;
    /// `self / by`.
    fn over(self, by: Self) -> Self;
    /// `self - sum of a * b`, the sum carrying its rounding errors.
    fn minus_products(self, terms: impl Iterator<Item = (Self, Self)>) -> Self;
    /// Subtracts a sum of multiples of rows from `values`, each number as
    /// [`LapackFloat::minus_products`] does.
    fn subtract(values: &mut [Self], rows: &[(Self, &[Self])]) {
        for (i, value) in values.iter_mut().enumerate() {
            *value = value.minus_products(rows.iter().map(|&(a, row)| (a, row[i])));
        }
    }
    /// Columns of a block of an elimination, at most; sums are those of one block.
    const BLOCK: usize = usize::MAX;
    /// Subtracts the product of rows `a` and a matrix from rows of the same number.
    fn subtract_product(rows: Rows<'_, Self>, a: &[Self], other: &[&[Self]]) {
        let Rows { data, stride, columns } = rows;
        for (row, a) in data.chunks_mut(stride).zip(a.chunks(other.len())) {
            let terms: Terms<'_, Self> = a.iter().copied().zip(other.iter().copied()).collect();
            Self::subtract(&mut row[columns.clone()], &terms);
        }
    }
    /// Returns the sum of the products of the conjugates of `x` with `y`.
    fn inner(x: &[Self], y: &[Self]) -> Self {
        Self::ZERO.minus_products(x.iter().zip(y).map(|(x, &y)| (-x.conj(), y)))
    }
    fn scalar(self) -> Scalar;

    #[inline]
    fn real(re: f64) -> Self {
        Self::of(re, 0.0)
    }
    fn read(from: Scalar) -> Self {
        let (re, im) =
            if let Scalar::Complex(re, im) = from { (re, im) } else { (from.as_f64(), 0.0) };
        Self::of(re, im)
    }
    #[inline]
    fn times(self, by: f64) -> Self {
        self * Self::real(by)
    }
    /// Returns the square of the magnitude.
    #[inline]
    fn square(self) -> f64 {
        self.re() * self.re() + self.im() * self.im()
    }
    /// Returns the magnitude.
    #[inline]
    fn abs(self) -> f64 {
        hypot(self.re(), self.im())
    }
    /// `|re| + |im|`, by which LAPACK compares complex pivots.
    #[inline]
    fn size(self) -> f64 {
        self.re().abs() + self.im().abs()
    }
    fn is_finite(self) -> bool {
        self.re().is_finite() && self.im().is_finite()
    }
}

/// Returns the length of `(x, y)`. The platform's `hypot` is not used: its last bit differs between
/// machines.
pub(super) fn hypot(x: f64, y: f64) -> f64 {
    // `max` and `min` would drop a NaN.
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    let (large, small) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
    if small == 0.0 || !large.is_finite() {
        return large;
    }
    let ratio = small / large;
    large * ratio.mul_add(ratio, 1.0).sqrt()
}

/// Returns the Euclidean length of a vector, without intermediate overflow.
pub(super) fn length<N: LapackFloat>(vector: impl Iterator<Item = N> + Clone) -> f64 {
    let parts = vector.flat_map(|x| [x.re(), x.im()]);
    let largest =
        parts.clone().fold(0.0, |m: f64, x| if x.abs() > m || x.is_nan() { x.abs() } else { m });
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let mut sum = Sum::new(0.0);
    parts.for_each(|x| sum.add_product(x / largest, x / largest));
    largest * sum.value().sqrt()
}

impl LapackFloat for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    #[inline]
    fn of(re: f64, _im: f64) -> Self {
        re
    }
    #[inline]
    fn re(self) -> f64 {
        self
    }
    #[inline]
    fn im(self) -> f64 {
        0.0
    }
    #[inline]
    fn conj(self) -> Self {
        self
    }
    #[inline]
    fn abs(self) -> f64 {
        self.abs()
    }
    #[inline]
    fn over(self, by: Self) -> Self {
        self / by
    }
    #[inline]
    fn minus_products(self, terms: impl Iterator<Item = (Self, Self)>) -> Self {
        let mut sum = Sum::new(self);
        terms.for_each(|(a, b)| sum.add_product(-a, b));
        sum.value()
    }
    #[inline]
    fn subtract(values: &mut [Self], rows: &[(Self, &[Self])]) {
        run(Subtract { values, rows });
    }
    #[inline]
    fn inner(x: &[Self], y: &[Self]) -> Self {
        let mut sum = 0.0;
        run(InnerCompensated { x, y, sum: &mut sum });
        sum
    }
    #[inline]
    fn scalar(self) -> Scalar {
        Scalar::Float(self)
    }
}

/// Numbers, and the multiples of rows to be subtracted from them.
struct Subtract<'a, 'b> {
    values: &'a mut [f64],
    rows: &'a [(f64, &'b [f64])],
}

impl Task for Subtract<'_, '_> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { values, rows } = self;
        let mut at = 0;
        while at < values.len() {
            at += match values.len() - at {
                32.. => subtract_compensated::<32>(values, at, rows),
                16.. => subtract_compensated::<16>(values, at, rows),
                8.. => subtract_compensated::<8>(values, at, rows),
                4.. => subtract_compensated::<4>(values, at, rows),
                2.. => subtract_compensated::<2>(values, at, rows),
                _ => subtract_compensated::<1>(values, at, rows),
            };
        }
    }
}

/// Subtracts multiples of rows from `L` numbers from `at` on; returns `L`.
#[inline(always)]
fn subtract_compensated<const L: usize>(
    values: &mut [f64],
    at: usize,
    rows: &[(f64, &[f64])],
) -> usize {
    let (mut sums, mut lost) = ([0.0; L], [0.0; L]);
    sums.copy_from_slice(&values[at..at + L]);
    for &(a, row) in rows {
        let row = &row[at..at + L];
        for i in 0..L {
            let mut sum = Sum::with_errors(sums[i], lost[i]);
            sum.add_product(-a, row[i]);
            (sums[i], lost[i]) = sum.with_lost();
        }
    }
    for (i, value) in values[at..at + L].iter_mut().enumerate() {
        *value = Sum::with_errors(sums[i], lost[i]).value();
    }
    L
}

/// The product of a vector with another, the sum carrying its rounding errors.
struct InnerCompensated<'a> {
    x: &'a [f64],
    y: &'a [f64],
    sum: &'a mut f64,
}

impl Task for InnerCompensated<'_> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        /// Sums that do not wait for each other.
        const LANES: usize = 32;
        let ((x, x_rest), (y, y_rest)) = (self.x.as_chunks::<LANES>(), self.y.as_chunks::<LANES>());
        let (mut sums, mut lost) = ([0.0; LANES], [0.0; LANES]);
        for (x, y) in x.iter().zip(y) {
            for i in 0..LANES {
                let mut sum = Sum::with_errors(sums[i], lost[i]);
                sum.add_product(x[i], y[i]);
                (sums[i], lost[i]) = sum.with_lost();
            }
        }
        for (i, (&x, &y)) in x_rest.iter().zip(y_rest).enumerate() {
            let mut sum = Sum::with_errors(sums[i], lost[i]);
            sum.add_product(x, y);
            (sums[i], lost[i]) = sum.with_lost();
        }
        let mut count = LANES;
        while count > 1 {
            count /= 2;
            for i in 0..count {
                let mut sum = Sum::with_errors(sums[i], lost[i] + lost[count + i]);
                sum.add(sums[count + i]);
                (sums[i], lost[i]) = sum.with_lost();
            }
        }
        *self.sum = Sum::with_errors(sums[0], lost[0]).value();
    }
}

/// A complex number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Complex {
    re: f64,
    im: f64,
}

impl Add for Complex {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}
impl Sub for Complex {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}
impl Mul for Complex {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}
impl Neg for Complex {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { re: -self.re, im: -self.im }
    }
}

impl LapackFloat for Complex {
    const ZERO: Self = Self { re: 0.0, im: 0.0 };
    const ONE: Self = Self { re: 1.0, im: 0.0 };
    #[inline]
    fn of(re: f64, im: f64) -> Self {
        Self { re, im }
    }
    #[inline]
    fn re(self) -> f64 {
        self.re
    }
    #[inline]
    fn im(self) -> f64 {
        self.im
    }
    #[inline]
    fn conj(self) -> Self {
        Self { re: self.re, im: -self.im }
    }
    #[inline]
    fn times(self, by: f64) -> Self {
        Self { re: self.re * by, im: self.im * by }
    }
    /// Smith's algorithm: dividing by the larger part of the divisor first avoids squaring it,
    /// which could overflow.
    #[inline]
    fn over(self, by: Self) -> Self {
        if by.im == 0.0 {
            return Self { re: self.re / by.re, im: self.im / by.re };
        }
        if by.re.abs() >= by.im.abs() {
            let ratio = by.im / by.re;
            let whole = by.re + by.im * ratio;
            Self {
                re: (self.re + self.im * ratio) / whole,
                im: (self.im - self.re * ratio) / whole,
            }
        } else {
            let ratio = by.re / by.im;
            let whole = by.re * ratio + by.im;
            Self {
                re: (self.re * ratio + self.im) / whole,
                im: (self.im * ratio - self.re) / whole,
            }
        }
    }
    #[inline]
    fn minus_products(self, terms: impl Iterator<Item = (Self, Self)>) -> Self {
        let (mut re, mut im) = (Sum::new(self.re), Sum::new(self.im));
        terms.for_each(|(a, b)| {
            re.add_product(-a.re, b.re);
            re.add_product(a.im, b.im);
            im.add_product(-a.re, b.im);
            im.add_product(-a.im, b.re);
        });
        Self { re: re.value(), im: im.value() }
    }
    #[inline]
    fn scalar(self) -> Scalar {
        Scalar::Complex(self.re, self.im)
    }
}

/// A number whose sums are not compensated: of f32, where f64 has 29 bits more than the result, and
/// in the engine `fast`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Plain<N>(pub(super) N);

impl<N: LapackFloat> Add for Plain<N> {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl<N: LapackFloat> Sub for Plain<N> {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl<N: LapackFloat> Mul for Plain<N> {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0)
    }
}
impl<N: LapackFloat> Neg for Plain<N> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl<N: LapackFloat> LapackFloat for Plain<N> {
    const ZERO: Self = Self(N::ZERO);
    const ONE: Self = Self(N::ONE);
    const BLOCK: usize = 32;
    #[inline]
    fn of(re: f64, im: f64) -> Self {
        Self(N::of(re, im))
    }
    #[inline]
    fn re(self) -> f64 {
        self.0.re()
    }
    #[inline]
    fn im(self) -> f64 {
        self.0.im()
    }
    #[inline]
    fn conj(self) -> Self {
        Self(self.0.conj())
    }
    #[inline]
    fn times(self, by: f64) -> Self {
        Self(self.0.times(by))
    }
    #[inline]
    fn over(self, by: Self) -> Self {
        Self(self.0.over(by.0))
    }
    #[inline]
    fn minus_products(self, terms: impl Iterator<Item = (Self, Self)>) -> Self {
        terms.fold(self, |sum, (a, b)| sum - a * b)
    }
    #[inline]
    fn subtract(values: &mut [Self], rows: &[(Self, &[Self])]) {
        run(SubtractRows { values, rows });
    }
    #[inline]
    fn subtract_product(rows: Rows<'_, Self>, a: &[Self], other: &[&[Self]]) {
        run(SubtractProduct { rows, a, other });
    }
    #[inline]
    fn inner(x: &[Self], y: &[Self]) -> Self {
        let mut sum = Self::ZERO;
        run(Inner { x, y, sum: &mut sum });
        sum
    }
    #[inline]
    fn scalar(self) -> Scalar {
        self.0.scalar()
    }
}

/// Numbers that are computed at once.
const LANES: usize = 16;
/// Numbers of a single row that are computed at once.
const WIDE: usize = 64;

/// Rows of numbers, and the product to be subtracted from them.
struct SubtractProduct<'a, N> {
    rows: Rows<'a, N>,
    a: &'a [N],
    other: &'a [&'a [N]],
}

impl<N: LapackFloat> Task for SubtractProduct<'_, N> {
    const IS_LONG: bool = true;
    /// Four rows at a time, and one by one the last ones.
    #[inline(always)]
    fn run(self) {
        let Self { rows: Rows { data, stride, columns }, a, other } = self;
        let terms = other.len();
        if terms == 0 || columns.is_empty() {
            return;
        }
        let mut factors = a.chunks_exact(4 * terms);
        let mut tiles = data.chunks_mut(4 * stride);
        for (factors, tile) in factors.by_ref().zip(&mut tiles) {
            let (first, rest) = tile.split_at_mut(stride);
            let (second, rest) = rest.split_at_mut(stride);
            let (third, fourth) = rest.split_at_mut(stride);
            let rows = [first, second, third, fourth].map(|row| &mut row[columns.clone()]);
            let factors = |k: usize| std::array::from_fn(|r| factors[r * terms + k]);
            subtract_rows::<4, N>(rows, terms, |k| (factors(k), other[k]));
        }
        let rows = tiles.flat_map(|tile| tile.chunks_mut(stride));
        for (row, factors) in rows.zip(factors.remainder().chunks_exact(terms)) {
            let row = &mut row[columns.clone()];
            subtract_rows::<1, N>([row], terms, |k| ([factors[k]], other[k]));
        }
    }
}

/// Numbers, and the multiples of rows to be subtracted from them.
struct SubtractRows<'a, 'b, N> {
    values: &'a mut [N],
    rows: &'a [(N, &'b [N])],
}

impl<N: LapackFloat> Task for SubtractRows<'_, '_, N> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { values, rows } = self;
        subtract_rows::<1, N>([values], rows.len(), |k| ([rows[k].0], rows[k].1));
    }
}

/// Subtracts multiples of other rows, which follow from their numbers, from `R` rows.
#[inline(always)]
fn subtract_rows<'a, const R: usize, N: LapackFloat + 'a>(
    mut rows: [&mut [N]; R],
    terms: usize,
    term: impl Fn(usize) -> ([N; R], &'a [N]),
) {
    let count = rows[0].len();
    let mut at = 0;
    while at < count {
        at += match count - at {
            // As many sums as do not wait for each other.
            WIDE.. if R == 1 => subtract_block::<R, WIDE, N>(&mut rows, at, terms, &term),
            LANES.. => subtract_block::<R, LANES, N>(&mut rows, at, terms, &term),
            8.. => subtract_block::<R, 8, N>(&mut rows, at, terms, &term),
            4.. => subtract_block::<R, 4, N>(&mut rows, at, terms, &term),
            2.. => subtract_block::<R, 2, N>(&mut rows, at, terms, &term),
            _ => subtract_block::<R, 1, N>(&mut rows, at, terms, &term),
        };
    }
}

#[inline(always)]
fn subtract_row<N: LapackFloat, const L: usize>(sums: &mut [N; L], factor: N, row: &[N; L]) {
    for i in 0..L {
        sums[i] = sums[i] - factor * row[i];
    }
}

/// Subtracts multiples of other rows in `L` columns from `at` on; returns `L`.
#[inline(always)]
fn subtract_block<'a, const R: usize, const L: usize, N: LapackFloat + 'a>(
    rows: &mut [&mut [N]; R],
    at: usize,
    terms: usize,
    term: &impl Fn(usize) -> ([N; R], &'a [N]),
) -> usize {
    let mut sums = [[N::ZERO; L]; R];
    for r in 0..R {
        sums[r].copy_from_slice(&rows[r][at..at + L]);
    }
    for k in 0..terms {
        let (factors, row) = term(k);
        let mut other = [N::ZERO; L];
        other.copy_from_slice(&row[at..at + L]);
        // Of a loop over rows the compiler would make vectors of columns.
        if let ([a, b, c, d], [e, f, g, h]) = (&mut sums[..], &factors[..]) {
            for (sums, factor) in [(a, e), (b, f), (c, g), (d, h)] {
                subtract_row(sums, *factor, &other);
            }
        } else {
            for (sums, factor) in sums.iter_mut().zip(factors) {
                subtract_row(sums, factor, &other);
            }
        }
    }
    for r in 0..R {
        rows[r][at..at + L].copy_from_slice(&sums[r]);
    }
    L
}

/// The products of the conjugates of a vector with another.
struct Inner<'a, N> {
    x: &'a [N],
    y: &'a [N],
    sum: &'a mut N,
}

impl<N: LapackFloat> Task for Inner<'_, N> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let ((x, x_rest), (y, y_rest)) = (self.x.as_chunks::<LANES>(), self.y.as_chunks::<LANES>());
        let mut sums = [N::ZERO; LANES];
        for (x, y) in x.iter().zip(y) {
            for i in 0..LANES {
                sums[i] = sums[i] + x[i].conj() * y[i];
            }
        }
        let rest = x_rest.iter().zip(y_rest).map(|(&x, &y)| x.conj() * y);
        *self.sum = sums.into_iter().chain(rest).fold(N::ZERO, N::add);
    }
}
