//! Real and complex numbers in f64, for the matrix algorithms.
//!
//! Real matrices are computed in real arithmetic, not as complex ones without an imaginary part,
//! where an infinity times the zero imaginary part would be NaN.
use hlo::Scalar;
use num::accumulator::Sum;
use num::loops::instruction_set::{Task, run};
use std::fmt::Debug;
use std::ops::{Add, Mul, Neg, Sub};

/// A number that the algorithms can run on.
pub(super) trait LapackFloat:
    Copy
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
    fn subtract<'a>(values: &mut [Self], rows: impl Iterator<Item = (Self, &'a [Self])>)
    where
        Self: 'a,
    {
        let rows: Vec<(Self, &[Self])> = rows.collect();
        for (i, value) in values.iter_mut().enumerate() {
            *value = value.minus_products(rows.iter().map(|&(a, row)| (a, row[i])));
        }
    }
    fn scalar(self) -> Scalar;

    fn real(re: f64) -> Self {
        Self::of(re, 0.0)
    }
    fn read(from: Scalar) -> Self {
        let (re, im) =
            if let Scalar::Complex(re, im) = from { (re, im) } else { (from.as_f64(), 0.0) };
        Self::of(re, im)
    }
    fn times(self, by: f64) -> Self {
        self * Self::real(by)
    }
    /// Returns the square of the magnitude.
    fn square(self) -> f64 {
        self.re() * self.re() + self.im() * self.im()
    }
    /// Returns the magnitude.
    fn abs(self) -> f64 {
        hypot(self.re(), self.im())
    }
    /// `|re| + |im|`, by which LAPACK compares complex pivots.
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
    fn of(re: f64, _im: f64) -> Self {
        re
    }
    fn re(self) -> f64 {
        self
    }
    fn im(self) -> f64 {
        0.0
    }
    fn conj(self) -> Self {
        self
    }
    fn abs(self) -> f64 {
        self.abs()
    }
    fn over(self, by: Self) -> Self {
        self / by
    }
    fn minus_products(self, terms: impl Iterator<Item = (Self, Self)>) -> Self {
        let mut sum = Sum::new(self);
        terms.for_each(|(a, b)| sum.add_product(-a, b));
        sum.value()
    }
    fn subtract<'a>(values: &mut [Self], rows: impl Iterator<Item = (Self, &'a [Self])>) {
        run(Subtract { values, rows: rows.collect() });
    }
    fn scalar(self) -> Scalar {
        Scalar::Float(self)
    }
}

/// Numbers, and the multiples of rows to be subtracted from them.
struct Subtract<'a, 'b> {
    values: &'a mut [f64],
    rows: Vec<(f64, &'b [f64])>,
}

impl Task for Subtract<'_, '_> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        /// Sums that do not wait for each other.
        const LANES: usize = 32;
        let (chunks, rest) = self.values.as_chunks_mut::<LANES>();
        for (c, values) in chunks.iter_mut().enumerate() {
            let (mut sums, mut lost) = (*values, [0.0; LANES]);
            for &(a, row) in &self.rows {
                let Some(row) = row[c * LANES..].first_chunk::<LANES>() else { continue };
                for i in 0..LANES {
                    let mut sum = Sum::with_errors(sums[i], lost[i]);
                    sum.add_product(-a, row[i]);
                    (sums[i], lost[i]) = sum.with_lost();
                }
            }
            *values = std::array::from_fn(|i| Sum::with_errors(sums[i], lost[i]).value());
        }
        let first = chunks.len() * LANES;
        for (i, value) in rest.iter_mut().enumerate() {
            *value = value.minus_products(self.rows.iter().map(|&(a, row)| (a, row[first + i])));
        }
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
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}
impl Sub for Complex {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}
impl Mul for Complex {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}
impl Neg for Complex {
    type Output = Self;
    fn neg(self) -> Self {
        Self { re: -self.re, im: -self.im }
    }
}

impl LapackFloat for Complex {
    const ZERO: Self = Self { re: 0.0, im: 0.0 };
    const ONE: Self = Self { re: 1.0, im: 0.0 };
    fn of(re: f64, im: f64) -> Self {
        Self { re, im }
    }
    fn re(self) -> f64 {
        self.re
    }
    fn im(self) -> f64 {
        self.im
    }
    fn conj(self) -> Self {
        Self { re: self.re, im: -self.im }
    }
    fn times(self, by: f64) -> Self {
        Self { re: self.re * by, im: self.im * by }
    }
    /// Smith's algorithm: dividing by the larger part of the divisor first avoids squaring it,
    /// which could overflow.
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
    fn scalar(self) -> Scalar {
        Scalar::Complex(self.re, self.im)
    }
}

/// A matrix; a vector is a matrix of one column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Matrix<N> {
    pub(super) rows: usize,
    pub(super) cols: usize,
    /// Elements in row-major order.
    pub(super) data: Vec<N>,
}

impl<N: LapackFloat> Matrix<N> {
    pub(super) fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![N::ZERO; rows * cols] }
    }
    /// Returns a matrix with ones on the diagonal and zeros elsewhere.
    pub(super) fn identity(rows: usize, cols: usize) -> Self {
        let mut result = Self::zeros(rows, cols);
        for i in 0..rows.min(cols) {
            result[(i, i)] = N::ONE;
        }
        result
    }
    pub(super) fn vector(data: Vec<N>) -> Self {
        Self { rows: data.len(), cols: 1, data }
    }
    /// Returns the conjugate transpose.
    pub(super) fn adjoint(&self) -> Self {
        let mut result = Self::zeros(self.cols, self.rows);
        for i in 0..self.rows {
            for j in 0..self.cols {
                result[(j, i)] = self[(i, j)].conj();
            }
        }
        result
    }
    /// Returns the transpose.
    pub(super) fn transpose(&self) -> Self {
        let mut result = Self::zeros(self.cols, self.rows);
        for i in 0..self.rows {
            for j in 0..self.cols {
                result[(j, i)] = self[(i, j)];
            }
        }
        result
    }
    /// Returns the first `cols` columns, padded with zeros after the last.
    pub(super) fn columns(&self, cols: usize) -> Self {
        let mut result = Self::zeros(self.rows, cols);
        for i in 0..self.rows {
            for j in 0..cols.min(self.cols) {
                result[(i, j)] = self[(i, j)];
            }
        }
        result
    }
    /// Returns the product with another matrix.
    pub(super) fn product(&self, other: &Self) -> Self {
        let mut result = Self::zeros(self.rows, other.cols);
        for i in 0..self.rows {
            for j in 0..other.cols {
                let terms = (0..self.cols).map(|k| (-self[(i, k)], other[(k, j)]));
                result[(i, j)] = N::ZERO.minus_products(terms);
            }
        }
        result
    }
    pub(super) fn column(&self, j: usize) -> impl Iterator<Item = N> + Clone + '_ {
        (0..self.rows).map(move |i| self[(i, j)])
    }
    pub(super) fn swap_rows(&mut self, a: usize, b: usize) {
        for j in 0..self.cols {
            self.data.swap(a * self.cols + j, b * self.cols + j);
        }
    }
    pub(super) fn swap_columns(&mut self, a: usize, b: usize) {
        for i in 0..self.rows {
            self.data.swap(i * self.cols + a, i * self.cols + b);
        }
    }
    pub(super) fn scale(&mut self, by: f64) {
        self.data.iter_mut().for_each(|x| *x = x.times(by));
    }
    pub(super) fn is_finite(&self) -> bool {
        self.data.iter().all(|x| x.is_finite())
    }
    /// Returns the largest magnitude of a real or imaginary part.
    pub(super) fn largest(&self) -> f64 {
        let parts = self.data.iter().flat_map(|x| [x.re().abs(), x.im().abs()]);
        parts.fold(0.0, f64::max)
    }
}

impl<N> std::ops::Index<(usize, usize)> for Matrix<N> {
    type Output = N;
    fn index(&self, (i, j): (usize, usize)) -> &N {
        &self.data[i * self.cols + j]
    }
}
impl<N> std::ops::IndexMut<(usize, usize)> for Matrix<N> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut N {
        &mut self.data[i * self.cols + j]
    }
}
