//! `syevd`, `heevd`, `gesdd`, `gesvd`: eigenvalues of Hermitian matrices and singular values, by
//! rotations.
//!
//! A Hermitian matrix is reduced to a tridiagonal one first, whose eigenvalues implicit QL steps
//! find. Singular vectors are found by rotations of pairs of columns, from nearly orthogonal ones
//! on, until all pairs are orthogonal: small singular values of columns of different size are
//! accurate. Results that are determined mathematically agree; the sign or phase of a vector,
//! and the basis of an eigenspace of several dimensions, may differ.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
use super::number::{LapackFloat, Matrix, hypot, length};
use super::reflect::{geqp3, geqrf, hermitian, orgqr, sytrd, with_basis};
use num::clock::Stop;
use num::loops::instruction_set::{Task, run};

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

/// Rows `p` and `q`, the former first, become `c p - s conj(phase) q` and `s phase p + c q`.
fn rotate<N: LapackFloat>(a: &mut Matrix<N>, p: usize, q: usize, turn: (f64, f64), phase: N) {
    let (front, back) = a.data.split_at_mut(q * a.cols);
    let (p, q) = (&mut front[p * a.cols..][..a.cols], &mut back[..a.cols]);
    run(Rotate { p, q, turn, phase });
}

struct Rotate<'a, N> {
    p: &'a mut [N],
    q: &'a mut [N],
    turn: (f64, f64),
    phase: N,
}

impl<N: LapackFloat> Task for Rotate<'_, N> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let (c, s) = self.turn;
        let (up, down) = (self.phase.conj().times(s), self.phase.times(s));
        for (x, y) in self.p.iter_mut().zip(self.q) {
            (*x, *y) = (x.times(c) - up * *y, down * *x + y.times(c));
        }
    }
}

/// Eigenvalues in ascending order and the orthonormal eigenvectors, as columns, of a Hermitian
/// matrix of which one triangle is read. `None` if it is not finite or the steps do not converge.
pub(super) fn eigh<N: LapackFloat>(a: &Matrix<N>, lower: bool) -> Option<(Vec<f64>, Matrix<N>)> {
    let n = a.rows;
    let mut reduced = hermitian(a, lower);
    if !reduced.is_finite() {
        return None;
    }
    let power = normalize(&mut reduced);
    let (mut d, adjacent, taus) = sytrd(&mut reduced, true);
    // The eigenvectors of the tridiagonal matrix, as rows.
    let mut rows = Matrix::identity(n, n.next_multiple_of(LANES));
    if !tridiagonal_steps(&mut d, adjacent, &mut rows) {
        return None;
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| d[i].total_cmp(&d[j]));
    let mut vectors = Matrix::zeros(n, n);
    for (j, &from) in order.iter().enumerate() {
        (0..n).for_each(|i| vectors[(i, j)] = N::real(rows[(from, i)]));
    }
    let values = order.iter().map(|&i| d[i] * power).collect();
    Some((values, with_basis(&reduced, &taus, vectors)))
}

/// Makes a real symmetric tridiagonal matrix diagonal, by implicit QL steps with Wilkinson's shift;
/// the rotations are those of pairs of `rows` too. Returns false if the steps do not converge.
fn tridiagonal_steps(d: &mut [f64], mut adjacent: Vec<f64>, rows: &mut Matrix<f64>) -> bool {
    /// Two or three steps are usual.
    const PATIENCE: usize = 20;
    let (n, stop) = (d.len(), Stop::current());
    adjacent.push(0.0);
    let mut turns = Vec::with_capacity(n);
    let whole = d.iter().chain(&adjacent).fold(0.0, |most: f64, x| most.max(x.abs()));
    for low in 0..n {
        let is_done = (0..ROUNDS).any(|round| {
            let is_small = |&k: &usize| {
                // Between rounding errors, an element is compared to all.
                let near = if round < PATIENCE { d[k].abs() + d[k + 1].abs() } else { whole };
                adjacent[k].abs() <= (f64::EPSILON * near).max(f64::MIN_POSITIVE)
            };
            let high = (low..n - 1).find(is_small).unwrap_or(n - 1);
            if high == low || stop.is_set() {
                return true;
            }
            let middle = (d[low + 1] - d[low]) / (2.0 * adjacent[low]);
            let root = hypot(middle, 1.0).copysign(middle);
            let mut rest = d[high] - d[low] + adjacent[low] / (middle + root);
            let (mut sine, mut cosine, mut shift) = (1.0, 1.0, 0.0);
            turns.clear();
            for i in (low..high).rev() {
                let (bulge, next) = (sine * adjacent[i], cosine * adjacent[i]);
                let square = bulge * bulge + rest * rest;
                let is_normal = (1e-280..1e280).contains(&square);
                let whole = if is_normal { square.sqrt() } else { hypot(bulge, rest) };
                adjacent[i + 1] = whole;
                if whole == 0.0 {
                    break;
                }
                (sine, cosine) = (bulge / whole, rest / whole);
                let value = d[i + 1] - shift;
                let turned = (d[i] - value) * sine + 2.0 * cosine * next;
                shift = sine * turned;
                d[i + 1] = value + shift;
                rest = cosine * turned - next;
                turns.push((cosine, sine));
            }
            if turns.len() == high - low {
                d[low] -= shift;
                adjacent[low] = rest;
            } else {
                d[high - turns.len()] -= shift;
            }
            adjacent[high] = 0.0;
            run(Turns { rows, last: high, rotations: &turns });
            false
        });
        if !is_done {
            return false;
        }
    }
    true
}

/// Columns of which a row is rotated at a time.
const LANES: usize = 16;

/// Rotations of neighboring rows, of which the first is that of the last row and the one before.
struct Turns<'a> {
    rows: &'a mut Matrix<f64>,
    last: usize,
    rotations: &'a [(f64, f64)],
}

impl Task for Turns<'_> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { rows: Matrix { cols, data, .. }, last, rotations } = self;
        for at in (0..*cols).step_by(LANES) {
            let place = |row: usize| row * *cols + at;
            // The columns of a row stay in registers until the next rotation.
            let mut below = [0.0; LANES];
            below.copy_from_slice(&data[place(last)..][..LANES]);
            for (row, &(cosine, sine)) in (0..last).rev().zip(rotations) {
                let (mut above, mut turned) = ([0.0; LANES], [0.0; LANES]);
                above.copy_from_slice(&data[place(row)..][..LANES]);
                for k in 0..LANES {
                    turned[k] = sine * above[k] + cosine * below[k];
                    below[k] = cosine * above[k] - sine * below[k];
                }
                data[place(row + 1)..][..LANES].copy_from_slice(&turned);
            }
            data[place(last - rotations.len())..][..LANES].copy_from_slice(&below);
        }
    }
}

fn picked<N: LapackFloat>(a: &Matrix<N>, order: &[usize]) -> Matrix<N> {
    let rows = order.iter().flat_map(|&i| &a.data[i * a.cols..][..a.cols]);
    Matrix { rows: order.len(), cols: a.cols, data: rows.copied().collect() }
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
    // The columns of `r^H`, and those of the vectors, as rows.
    let mut u = Matrix::zeros(n, n);
    for i in 0..n {
        (i..n).for_each(|j| u[(i, j)] = reflected[(i, j)].conj());
    }
    let mut v = Matrix::identity(n, n);
    turn_first(&mut u, &mut v);
    if !orthogonalize(&mut u, &mut v) {
        return None;
    }
    let lengths: Vec<f64> = u.data.chunks(n.max(1)).map(inner_length).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| lengths[j].total_cmp(&lengths[i]));
    let values: Vec<f64> = order.iter().map(|&j| lengths[j]).collect();
    let found = values.iter().filter(|&&value| value > NULL).count();
    u = picked(&u, &order[..found]);
    for (row, &value) in u.data.chunks_mut(n.max(1)).zip(&values) {
        for x in row {
            *x = x.times(1.0 / value);
        }
    }
    u = u.transpose();
    complete(&mut u, n);
    let mut vh = Matrix::zeros(n, n);
    for (i, &pivot) in pivots.iter().enumerate() {
        let column = usize::try_from(pivot - 1).unwrap_or(0);
        (0..n).for_each(|j| vh[(j, column)] = u[(i, j)].conj());
    }
    drop(u);
    let mut basis = orgqr(&reflected.columns(if full { m } else { n }), &taus);
    drop(reflected);
    v = picked(&v, &order).transpose();
    let turned = basis.columns(n).product(&v);
    for i in 0..m {
        (0..n).for_each(|j| basis[(i, j)] = turned[(i, j)]);
    }
    let values = values.iter().map(|value| value * power).collect();
    Some((basis, values, vh))
}

/// Returns the Euclidean length of a vector whose squares neither overflow nor vanish.
fn inner_length<N: LapackFloat>(vector: &[N]) -> f64 {
    N::inner(vector, vector).re().sqrt()
}

/// Turns the rows by the eigenvectors of the matrix of their products, which makes them nearly
/// orthogonal, and those of `v` likewise. Rows that are negligible stay as they are.
fn turn_first<N: LapackFloat>(u: &mut Matrix<N>, v: &mut Matrix<N>) {
    /// Fewer rows are orthogonal sooner by rotations alone.
    const MANY: usize = 12;
    /// What remains of a row that depends on the rows before.
    const NEGLIGIBLE: f64 = 1e-13;
    let size = |i: usize| u[(i, i)].abs();
    let count = (0..u.rows).take_while(|&i| size(i) > NEGLIGIBLE * size(0)).count();
    if count < MANY {
        return;
    }
    let rows = Matrix { rows: count, cols: u.cols, data: u.data[..count * u.cols].to_vec() };
    let Some((_, vectors)) = eigh(&rows.product(&rows.adjoint()), true) else { return };
    let turn = vectors.adjoint();
    // `w^H` of the eigenvectors `w` of `u u^H` keeps `u^T conj(v)`, of rows.
    u.data[..count * u.cols].copy_from_slice(&turn.product(&rows).data);
    for i in 0..count {
        v.data[i * v.cols..][..count].copy_from_slice(&turn.data[i * count..][..count]);
    }
}

/// Rotates pairs of rows until all are orthogonal, and those of `v` likewise. `false` if the
/// sweeps do not converge.
fn orthogonalize<N: LapackFloat>(u: &mut Matrix<N>, v: &mut Matrix<N>) -> bool {
    // The rounding errors of rows of this length in f64.
    let tolerance = f64::EPSILON * length(std::iter::repeat_n(1.0, u.cols.max(16)));
    let (stop, size) = (Stop::current(), u.cols);
    (0..ROUNDS).any(|_| {
        let mut rotated = false;
        let mut lengths: Vec<f64> = u.data.chunks(size.max(1)).map(inner_length).collect();
        for p in (0..u.rows).take_while(|_| !stop.is_set()) {
            for q in p + 1..u.rows {
                let (x, y) = (lengths[p], lengths[q]);
                if x <= NULL || y <= NULL {
                    continue;
                }
                let row = |i: usize| &u.data[i * size..][..size];
                let inner = N::inner(row(p), row(q));
                let g = inner.abs();
                if g <= tolerance * x * y {
                    continue;
                }
                rotated = true;
                let phase = inner.times(1.0 / g);
                let turn = rotation(x * x, y * y, g);
                rotate(u, p, q, turn, phase);
                rotate(v, p, q, turn, phase);
                for i in [p, q] {
                    lengths[i] = inner_length(&u.data[i * size..][..size]);
                }
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
