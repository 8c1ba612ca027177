//! `geev`: eigenvalues and eigenvectors of any square matrix, from its Schur form.
//!
//! Each vector has length 1. A vector of a complex eigenvalue is scaled so that its largest element
//! is real and positive; one of a real eigenvalue of a real matrix is real, of either sign.
use super::number::{Complex, LapackFloat, Matrix, length};
use super::schur::eigenvalues;

/// Returns the columns `v` with `a v = value v`, in the order of the eigenvalues, from
/// `a = z t z^H`.
pub(super) fn right<N: LapackFloat>(t: &Matrix<N>, z: &Matrix<N>) -> Matrix<Complex> {
    vectors(&complex(t), &complex(z), &eigenvalues(t), is_complex::<N>())
}

/// Returns the columns `u` with `u^H a = value u^H`. They are right eigenvectors of the conjugate
/// transpose, whose reverse is a Schur form again.
pub(super) fn left<N: LapackFloat>(t: &Matrix<N>, z: &Matrix<N>) -> Matrix<Complex> {
    let n = t.rows;
    let (mut turned, mut basis) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
    for i in 0..n {
        for j in 0..n {
            turned[(n - 1 - j, n - 1 - i)] = t[(i, j)].conj();
            basis[(i, n - 1 - j)] = z[(i, j)];
        }
    }
    let mut values: Vec<Complex> = eigenvalues(t).iter().map(|x| x.conj()).collect();
    values.reverse();
    let found = vectors(&complex(&turned), &complex(&basis), &values, is_complex::<N>());
    let mut result = Matrix::zeros(n, n);
    for i in 0..n {
        (0..n).for_each(|j| result[(i, n - 1 - j)] = found[(i, j)]);
    }
    result
}

fn complex<N: LapackFloat>(a: &Matrix<N>) -> Matrix<Complex> {
    let data = a.data.iter().map(|x| Complex::of(x.re(), x.im())).collect();
    Matrix { rows: a.rows, cols: a.cols, data }
}

fn is_complex<N: LapackFloat>() -> bool {
    N::of(0.0, 1.0) != N::ZERO
}

/// Returns the normalized vectors; all are rotated as above, or only those of complex eigenvalues.
fn vectors(
    t: &Matrix<Complex>,
    z: &Matrix<Complex>,
    values: &[Complex],
    turn_all: bool,
) -> Matrix<Complex> {
    let mut result = Matrix::zeros(t.rows, t.rows);
    for (k, &value) in values.iter().enumerate() {
        let in_basis = Matrix::vector(solve(t, value, k));
        let mut vector = z.product(&in_basis);
        scale(&mut vector.data, turn_all || value.im() != 0.0);
        (0..t.rows).for_each(|i| result[(i, k)] = vector.data[i]);
    }
    result
}

/// Scales a vector to length 1, with its largest element real and positive if `turn`.
pub(super) fn scale(vector: &mut [Complex], turn: bool) {
    let size = length(vector.iter().copied());
    if size == 0.0 {
        return;
    }
    let mut best = 0;
    for i in 1..vector.len() {
        if vector[i].square() > vector[best].square() {
            best = i;
        }
    }
    let phase = match turn {
        true => vector[best].conj().times(1.0 / vector[best].abs()),
        false => Complex::ONE,
    };
    for x in vector.iter_mut() {
        *x = (*x * phase).times(1.0 / size);
    }
    if turn {
        vector[best] = Complex::real(vector[best].re());
    }
}

/// Scales a growing vector down before it overflows; only its direction matters.
fn shrink(x: &mut [Complex]) {
    const FAR: f64 = 1e100;
    if x.iter().any(|x| x.size() > FAR) {
        for x in x {
            *x = x.times(1.0 / FAR);
        }
    }
}

/// Returns a divisor that is at least `tiny`: a difference of eigenvalues that cannot be
/// distinguished is smaller.
fn kept(x: Complex, tiny: f64) -> Complex {
    if x.size() < tiny { Complex::real(tiny) } else { x }
}

/// Returns `x` with `a x = b`, where `a` is changed by about `tiny` if it is singular: elimination
/// with the largest element as the pivot.
fn solve_pair(a: [[Complex; 2]; 2], b: [Complex; 2], tiny: f64) -> [Complex; 2] {
    let size = |&(i, j): &(usize, usize)| a[i][j].size();
    let places = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let (i, j) = places.into_iter().max_by(|x, y| size(x).total_cmp(&size(y))).unwrap_or((0, 0));
    let pivot = kept(a[i][j], tiny);
    let factor = a[1 - i][j].over(pivot);
    let rest = kept(a[1 - i][1 - j] - factor * a[i][1 - j], tiny);
    let mut x = [Complex::ZERO; 2];
    x[1 - j] = (b[1 - i] - factor * b[i]).over(rest);
    x[j] = (b[i] - a[i][1 - j] * x[1 - j]).over(pivot);
    x
}

/// Returns `x` with `(t - value) x = 0` for the eigenvalue at `k`, by back substitution from the
/// last row of its block.
fn solve(t: &Matrix<Complex>, value: Complex, k: usize) -> Vec<Complex> {
    let n = t.rows;
    let tiny = (f64::EPSILON * t.largest()).max(f64::MIN_POSITIVE);
    let is_block = |i: usize| i > 0 && t[(i, i - 1)] != Complex::ZERO;
    let mut x = vec![Complex::ZERO; n];
    let last = if k + 1 < n && is_block(k + 1) { k + 1 } else { k };
    let first = if is_block(last) {
        // The larger of the two rows gives the direction.
        let (a, b) = (t[(last - 1, last - 1)] - value, t[(last - 1, last)]);
        let (c, d) = (t[(last, last - 1)], t[(last, last)] - value);
        let upper = a.size() + b.size() >= c.size() + d.size();
        let (b, a) = if upper { (b, a) } else { (d, c) };
        // A short vector would vanish in products.
        let size = a.size().max(b.size());
        let unit = |x: Complex| Complex::of(x.re() / size, x.im() / size);
        (x[last - 1], x[last]) = (unit(-b), unit(a));
        last - 1
    } else {
        x[last] = Complex::ONE;
        last
    };
    let mut end = first;
    while end > 0 {
        let row = end - 1;
        let rest = |row: usize, x: &[Complex]| {
            Complex::ZERO.minus_products((end..=last).map(|j| (t[(row, j)], x[j])))
        };
        if is_block(row) {
            let (e, f) = (rest(row - 1, &x), rest(row, &x));
            let (a, b) = (t[(row - 1, row - 1)] - value, t[(row - 1, row)]);
            let (c, d) = (t[(row, row - 1)], t[(row, row)] - value);
            [x[row - 1], x[row]] = solve_pair([[a, b], [c, d]], [e, f], tiny);
            end = row - 1;
        } else {
            x[row] = rest(row, &x).over(kept(t[(row, row)] - value, tiny));
            end = row;
        }
        shrink(&mut x);
    }
    x
}
