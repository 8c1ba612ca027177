//! Matrices of the algorithms.
use super::number::{LapackFloat, Rows};

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
        if result.data.is_empty() || other.rows == 0 {
            return result;
        }
        let minus: Vec<N> = self.data.iter().map(|&x| -x).collect();
        let rows: Vec<&[N]> = other.data.chunks(other.cols).collect();
        let all = Rows { data: &mut result.data, stride: other.cols, columns: 0..other.cols };
        N::subtract_product(all, &minus, &rows);
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
