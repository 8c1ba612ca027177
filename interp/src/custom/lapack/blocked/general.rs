//! `geev`.
use super::super::geev::scale;
use super::super::number::{Complex, LapackFloat, Matrix};
use super::element::{HasEigen, divided};
use super::{Element, finite, power};
use faer::Mat;

/// Eigenvalues, and left and right eigenvectors.
pub(super) type Eigen = (Vec<Complex>, Option<Matrix<Complex>>, Option<Matrix<Complex>>);

/// Returns the eigenvalues and the vectors that are wanted, scaled as those of `exact`.
///
/// They are computed in f64: in f32, residuals for graded matrices are thousands of times larger
/// than the rounding error of the matrix.
pub(super) fn eig<S: Element>(rows: &[S], n: usize, left: bool, right: bool) -> Option<Eigen> {
    let power = power(rows);
    let a: Mat<S::Double> = divided(rows, (n, n), power);
    let place = |wanted: bool| wanted.then(|| Mat::<S::Double>::zeros(n, n));
    let (mut left, mut right) = (place(left), place(right));
    let (u, v) = (left.as_mut().map(Mat::as_mut), right.as_mut().map(Mat::as_mut));
    let (re, im) = S::Double::eigen(a.as_ref(), u, v).ok()?;
    if !re.iter().chain(&im).all(|x| x.is_finite()) {
        return None;
    }
    let values = values::<S>(&re, &im, power);
    let left = match left {
        Some(left) => Some(vectors(&finite(left)?, &im)),
        None => None,
    };
    let right = match right {
        Some(right) => Some(vectors(&finite(right)?, &im)),
        None => None,
    };
    Some((values, left, right))
}

/// Returns the eigenvalues. Of a pair of a real matrix the one with the positive imaginary part is
/// first, as in LAPACK.
fn values<S: Element>(re: &[f64], im: &[f64], power: f64) -> Vec<Complex> {
    let mut values: Vec<Complex> =
        re.iter().zip(im).map(|(&re, &im)| Complex::of(re, im).times(power)).collect();
    for first in pairs::<S>(im).filter(|&first| im[first] < 0.0) {
        values.swap(first, first + 1);
    }
    values
}

/// Returns the first place of each pair of complex eigenvalues of a real matrix.
fn pairs<S: Element>(im: &[f64]) -> impl Iterator<Item = usize> {
    let mut next = 0;
    let is_first = move |&k: &usize| {
        let is_first = k >= next && im[k] != 0.0 && !S::is_complex();
        next = if is_first { k + 2 } else { next };
        is_first
    };
    (0..im.len().saturating_sub(1)).filter(is_first)
}

/// Returns the vectors in the order of the values.
fn vectors<S: Element>(found: &Mat<S>, im: &[f64]) -> Matrix<Complex> {
    let n = im.len();
    let mut result = Matrix::zeros(n, n);
    let at = |i: usize, k: usize| found[(i, k)].wide();
    for k in 0..n {
        let mut vector: Vec<Complex> =
            (0..n).map(|i| Complex::of(at(i, k).re(), at(i, k).im())).collect();
        scale(&mut vector, S::is_complex());
        (0..n).for_each(|i| result[(i, k)] = vector[i]);
    }
    for k in pairs::<S>(im) {
        let sign = im[k].signum();
        let mut vector: Vec<Complex> =
            (0..n).map(|i| Complex::of(at(i, k).re(), sign * at(i, k + 1).re())).collect();
        scale(&mut vector, true);
        for (i, &x) in vector.iter().enumerate() {
            (result[(i, k)], result[(i, k + 1)]) = (x, x.conj());
        }
    }
    result
}
