//! `syevd`, `heevd`, `gesdd`, `gesvd`: eigenvalues of Hermitian matrices and singular values, by
//! Jacobi rotations.
//!
//! LAPACK reduces the matrix first and then divides and conquers. Rotations take longer and are
//! more accurate: each rotation makes one pair of columns orthogonal, and they are repeated until
//! all pairs are. Results that are determined mathematically agree; the sign or phase of a vector,
//! and the basis of an eigenspace of several dimensions, may differ.
use super::number::{LapackFloat, Matrix, hypot, length};
use super::reflect::{geqp3, geqrf, hermitian, orgqr};
use num::clock::Stop;

/// The limit of sweeps over all pairs. Ten are rarely needed.
const ROUNDS: usize = 60;

/// Returns the rotation `(c, s)` that makes the Hermitian matrix `[[p, g], [g, q]]` diagonal,
/// `g > 0`.
fn rotation(p: f64, q: f64, g: f64) -> (f64, f64) {
    let middle = (q - p) / (2.0 * g);
    let tangent = if middle.is_infinite() {
        0.0
    } else {
        let sign = if middle < 0.0 { -1.0 } else { 1.0 };
        sign / (middle.abs() + hypot(middle, 1.0))
    };
    let c = 1.0 / hypot(tangent, 1.0);
    (c, tangent * c)
}

/// Columns `p` and `q` become `c p - s conj(phase) q` and `s phase p + c q`.
fn rotate<N: LapackFloat>(a: &mut Matrix<N>, p: usize, q: usize, (c, s): (f64, f64), phase: N) {
    for i in 0..a.rows {
        let (x, y) = (a[(i, p)], a[(i, q)]);
        a[(i, p)] = x.times(c) - (phase.conj() * y).times(s);
        a[(i, q)] = (phase * x).times(s) + y.times(c);
    }
}

/// Rotates two rows, with conjugated factors.
fn rotate_rows<N: LapackFloat>(
    a: &mut Matrix<N>,
    p: usize,
    q: usize,
    (c, s): (f64, f64),
    phase: N,
) {
    for j in 0..a.cols {
        let (x, y) = (a[(p, j)], a[(q, j)]);
        a[(p, j)] = x.times(c) - (phase * y).times(s);
        a[(q, j)] = (phase.conj() * x).times(s) + y.times(c);
    }
}

/// Eigenvalues in ascending order and the orthonormal eigenvectors, as columns, of a Hermitian
/// matrix of which one triangle is read. `None` if the sweeps do not converge.
pub(super) fn eigh<N: LapackFloat>(a: &Matrix<N>, lower: bool) -> Option<(Vec<f64>, Matrix<N>)> {
    let n = a.rows;
    let mut a = hermitian(a, lower);
    if !a.is_finite() {
        return None;
    }
    let exponent = normalize(&mut a);
    let mut vectors = Matrix::identity(n, n);
    let stop = Stop::current();
    let done = (0..ROUNDS).any(|_| {
        let mut rotated = false;
        for p in (0..n).take_while(|_| !stop.is_set()) {
            for q in p + 1..n {
                let g = a[(p, q)].abs();
                let (x, y) = (a[(p, p)].re(), a[(q, q)].re());
                // Too small to change either diagonal element, and so small that it counts as zero.
                let small = (f64::EPSILON * 0.01) * x.abs().min(y.abs());
                if g == 0.0 || g <= small || g < f64::MIN_POSITIVE {
                    continue;
                }
                rotated = true;
                let phase = a[(p, q)].times(1.0 / g);
                let turn = rotation(x, y, g);
                rotate(&mut a, p, q, turn, phase);
                rotate_rows(&mut a, p, q, turn, phase);
                (a[(p, q)], a[(q, p)]) = (N::ZERO, N::ZERO);
                rotate(&mut vectors, p, q, turn, phase);
            }
        }
        !rotated
    });
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[(i, i)].re().total_cmp(&a[(j, j)].re()));
    let values = order.iter().map(|&i| a[(i, i)].re() * exponent).collect();
    done.then(|| (values, picked(&vectors, &order)))
}

fn picked<N: LapackFloat>(a: &Matrix<N>, order: &[usize]) -> Matrix<N> {
    let mut result = Matrix::zeros(a.rows, order.len());
    for i in 0..a.rows {
        for (j, &from) in order.iter().enumerate() {
            result[(i, j)] = a[(i, from)];
        }
    }
    result
}

/// Divides the matrix by a power of two so that no square of its largest elements overflows or
/// underflows to zero; returns the power. A matrix with an infinity or a NaN does not change.
pub(super) fn normalize<N: LapackFloat>(a: &mut Matrix<N>) -> f64 {
    let largest = a.largest();
    if largest == 0.0 || !largest.is_finite() || (1e-100..1e100).contains(&largest) {
        return 1.0;
    }
    // Only the exponent bits are kept; for subnormal numbers the smallest normal one is used.
    let power = f64::from_bits(largest.to_bits() & 0x7ff0_0000_0000_0000).max(f64::MIN_POSITIVE);
    for x in &mut a.data {
        *x = N::of(x.re() / power, x.im() / power);
    }
    power
}

/// The products of shorter columns could underflow; the singular vectors of these are any that
/// complete the basis.
const NULL: f64 = 1e-140;

/// `a = u diag(s) v^H`: `u`, `s` in descending order, `v^H`. The vectors are as many as `s`, or all
/// of them with `full`. `None` if the sweeps do not converge.
///
/// The rotations run on `r^H` of `a p = q r` with column pivots, as Drmač and Veselić do: `r` has
/// independent rows also where `a` is singular. The columns of `a` itself would shrink without end
/// there, and never become orthogonal.
pub(super) fn svd<N: LapackFloat>(
    a: &Matrix<N>,
    full: bool,
) -> Option<(Matrix<N>, Vec<f64>, Matrix<N>)> {
    if a.rows < a.cols {
        let (u, s, vh) = svd(&a.adjoint(), full)?;
        return Some((vh.adjoint(), s, u.adjoint()));
    }
    if !a.is_finite() {
        return None;
    }
    let (m, n) = (a.rows, a.cols);
    let mut reflected = a.clone();
    let power = normalize(&mut reflected);
    let mut pivots = vec![0; n];
    let taus = geqp3(&mut reflected, &mut pivots);
    let mut u = Matrix::zeros(n, n);
    for j in 0..n {
        (j..n).for_each(|i| u[(i, j)] = reflected[(j, i)].conj());
    }
    let mut v = Matrix::identity(n, n);
    if !orthogonalize(&mut u, &mut v) {
        return None;
    }
    let lengths: Vec<f64> = (0..n).map(|j| length(u.column(j))).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| lengths[j].total_cmp(&lengths[i]));
    let values: Vec<f64> = order.iter().map(|&j| lengths[j]).collect();
    let found = values.iter().filter(|&&value| value > NULL).count();
    u = picked(&u, &order[..found]);
    for (j, &value) in values.iter().enumerate().take(found) {
        (0..n).for_each(|i| u[(i, j)] = u[(i, j)].times(1.0 / value));
    }
    complete(&mut u, n);
    let mut vh = Matrix::zeros(n, n);
    for (i, &pivot) in pivots.iter().enumerate() {
        let column = usize::try_from(pivot - 1).unwrap_or(0);
        (0..n).for_each(|j| vh[(j, column)] = u[(i, j)].conj());
    }
    drop(u);
    let mut basis = orgqr(&reflected.columns(if full { m } else { n }), &taus);
    drop(reflected);
    v = picked(&v, &order);
    let turned = basis.columns(n).product(&v);
    for i in 0..m {
        (0..n).for_each(|j| basis[(i, j)] = turned[(i, j)]);
    }
    let values = values.iter().map(|value| value * power).collect();
    Some((basis, values, vh))
}

/// Rotates pairs of columns until all are orthogonal, and those of `v` likewise. `false` if the
/// sweeps do not converge.
fn orthogonalize<N: LapackFloat>(u: &mut Matrix<N>, v: &mut Matrix<N>) -> bool {
    // The rounding errors of columns of this length in f64.
    let tolerance = f64::EPSILON * length(std::iter::repeat_n(1.0, u.rows.max(16)));
    let stop = Stop::current();
    (0..ROUNDS).any(|_| {
        let mut rotated = false;
        for p in (0..u.cols).take_while(|_| !stop.is_set()) {
            for q in p + 1..u.cols {
                let (x, y) = (length(u.column(p)), length(u.column(q)));
                if x <= NULL || y <= NULL {
                    continue;
                }
                let products = u.column(p).zip(u.column(q)).map(|(x, y)| (-x.conj(), y));
                let inner = N::ZERO.minus_products(products);
                let g = inner.abs();
                if g <= tolerance * x * y {
                    continue;
                }
                rotated = true;
                let phase = inner.times(1.0 / g);
                let turn = rotation(x * x, y * y, g);
                rotate(u, p, q, turn, phase);
                rotate(v, p, q, turn, phase);
            }
        }
        !rotated
    })
}

/// Extends columns, which are orthonormal, to an orthonormal basis of `count` columns.
fn complete<N: LapackFloat>(u: &mut Matrix<N>, count: usize) {
    let found = u.cols;
    if found == count {
        return;
    }
    let mut reflected = u.clone();
    let taus = geqrf(&mut reflected);
    let mut basis = orgqr(&reflected.columns(count), &taus);
    for i in 0..u.rows {
        (0..found).for_each(|j| basis[(i, j)] = u[(i, j)]);
    }
    *u = basis;
}
