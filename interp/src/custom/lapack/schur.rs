//! `gees`: the Schur form by shifted QR steps, `a = z t z^H`.
//!
//! `t` is upper triangular if `a` is complex. If it is real, pairs of complex eigenvalues form
//! 2-by-2 blocks on the diagonal, whose two diagonal elements are equal and whose other two have
//! opposite signs, as in LAPACK. Neither `t` nor `z` is determined by `a`: the eigenvalues may be
//! in any order.
use super::jacobi::normalize;
use super::number::{Complex, LapackFloat, Matrix, Plain, hypot, length};
use super::reflect::{from_left, from_right, gehrd, hessenberg_basis, reflection};
use num::clock::Stop;

/// The limit of QR steps for one eigenvalue.
const STEPS: usize = 300;

/// The Schur form and its basis, or the number of eigenvalues that were not found.
pub(super) type Schur<N> = Result<(Matrix<N>, Matrix<N>), i32>;

/// A number type for whose matrices the Schur form is computed.
pub(super) trait HasSchur: LapackFloat {
    fn schur(a: Matrix<Self>) -> Schur<Self>;
}

/// Returns the Schur form of the matrix divided by a power of two, the basis, and that power. A
/// matrix that is not finite has none.
pub(super) fn schur<N: HasSchur>(mut a: Matrix<N>) -> Result<(Matrix<N>, Matrix<N>, f64), i32> {
    if !a.is_finite() {
        return Err(1);
    }
    let power = normalize(&mut a);
    let (t, z) = N::schur(a)?;
    Ok((t, z, power))
}

fn hessenberg<N: LapackFloat>(mut h: Matrix<N>) -> (Matrix<N>, Matrix<N>) {
    let n = h.rows;
    let taus = gehrd(&mut h, 0, n.saturating_sub(1));
    let z = hessenberg_basis(&h, &taus);
    for j in 0..n {
        (j + 2..n).for_each(|i| h[(i, j)] = N::ZERO);
    }
    (h, z)
}

/// Returns the first row of the lowest block that no subdiagonal element splits, which ends with
/// row `high`. An element that is negligible compared to its neighbors is set to zero, so that
/// small eigenvalues of a graded matrix stay accurate.
///
/// After `PATIENCE` steps an element is also negligible if it is compared to the whole block. Where
/// the diagonal holds only rounding errors, as it can for a singular matrix, the neighbors are too
/// small to compare with.
fn split<N: LapackFloat>(h: &mut Matrix<N>, high: usize, steps: usize) -> usize {
    /// Two or three steps are usual.
    const PATIENCE: usize = 20;
    let low = cut(h, 0, high, |h, k| h[(k, k)].size() + h[(k - 1, k - 1)].size());
    if steps < PATIENCE {
        return low;
    }
    let block = (low..=high).flat_map(|i| (low..=high).map(move |j| (i, j)));
    let whole = length(block.map(|at| h[at]));
    cut(h, low, high, |_, _| whole)
}

/// Sets the last subdiagonal element in a block that is negligible compared to `around` to zero;
/// returns the first row after it.
fn cut<N: LapackFloat>(
    h: &mut Matrix<N>,
    low: usize,
    high: usize,
    around: impl Fn(&Matrix<N>, usize) -> f64,
) -> usize {
    /// Smaller elements have too few bits to converge. The largest element of the matrix is at
    /// least 1e-100.
    const SMALLEST: f64 = f64::MIN_POSITIVE / f64::EPSILON;
    let bound = |h: &Matrix<N>, k| (f64::EPSILON * around(h, k)).max(SMALLEST);
    let Some(k) = (low + 1..=high).rev().find(|&k| h[(k, k - 1)].size() <= bound(h, k)) else {
        return low;
    };
    h[(k, k - 1)] = N::ZERO;
    k
}

impl<N: HasSchur> HasSchur for Plain<N> {
    fn schur(Matrix { rows, cols, data }: Matrix<Self>) -> Schur<Self> {
        let data = data.into_iter().map(|x| x.0).collect();
        let (t, z) = N::schur(Matrix { rows, cols, data })?;
        let plain = |Matrix { rows, cols, data }: Matrix<N>| Matrix {
            rows,
            cols,
            data: data.into_iter().map(Plain).collect(),
        };
        Ok((plain(t), plain(z)))
    }
}

impl HasSchur for Complex {
    fn schur(a: Matrix<Self>) -> Schur<Self> {
        let n = a.rows;
        let (mut h, mut z) = hessenberg(a);
        let (mut end, mut steps) = (n, 0);
        let stop = Stop::current();
        while end > 0 {
            if stop.is_set() {
                return Err(1);
            }
            let high = end - 1;
            let low = split(&mut h, high, steps);
            if low == high {
                (end, steps) = (high, 0);
                continue;
            }
            steps += 1;
            if steps > STEPS {
                return Err(i32::try_from(end).unwrap_or(i32::MAX));
            }
            let shift = if steps % 10 == 0 {
                // An exceptional shift breaks a cycle of the usual one.
                h[(high, high)] + Self::real(h[(high, high - 1)].size())
            } else {
                wilkinson(&h, high)
            };
            complex_step(&mut h, &mut z, low, high, shift);
        }
        Ok((h, z))
    }
}

/// Returns the eigenvalue of the last 2-by-2 block that is nearer to its last element.
fn wilkinson(h: &Matrix<Complex>, high: usize) -> Complex {
    let (a, b) = (h[(high - 1, high - 1)], h[(high - 1, high)]);
    let (c, d) = (h[(high, high - 1)], h[(high, high)]);
    // Squares of small elements would underflow.
    let size = [a, b, c, d].iter().fold(0.0, |m: f64, x| m.max(x.size()));
    let unit = |x: Complex| Complex::of(x.re() / size, x.im() / size);
    let (half, b, c) = (unit((a - d).times(0.5)), unit(b), unit(c));
    let root = square_root(half * half + b * c);
    let towards = half.re() * root.re() + half.im() * root.im();
    let sum = if towards < 0.0 { half - root } else { half + root };
    if sum == Complex::ZERO { d } else { d - (b * c).over(sum).times(size) }
}

pub(super) fn square_root(x: Complex) -> Complex {
    let size = x.abs();
    if size == 0.0 {
        return Complex::ZERO;
    }
    let large = f64::midpoint(size, x.re().abs()).sqrt();
    let small = x.im().abs() / (2.0 * large);
    let (re, im) = if x.re() >= 0.0 { (large, small) } else { (small, large) };
    Complex::of(re, if x.im() < 0.0 { -im } else { im })
}

/// One step with one shift: a reflection of two rows sets the first column as the shift requires,
/// and the next ones chase the resulting element below the subdiagonal.
fn complex_step(
    h: &mut Matrix<Complex>,
    z: &mut Matrix<Complex>,
    low: usize,
    high: usize,
    shift: Complex,
) {
    let n = h.rows;
    for k in low..high {
        let (x, y) = if k == low {
            (h[(k, k)] - shift, h[(k + 1, k)])
        } else {
            (h[(k, k - 1)], h[(k + 1, k - 1)])
        };
        let found = reflection(x, std::iter::once(y));
        let (v, tau) = ([Complex::ONE, found.scaled(y)], found.tau);
        from_left(h, &v, tau.conj(), k, k.saturating_sub(1)..n);
        from_right(h, &v, tau, 0..(k + 3).min(high + 1), k);
        from_right(z, &v, tau, 0..n, k);
        if k > low {
            h[(k + 1, k - 1)] = Complex::ZERO;
        }
    }
}

impl HasSchur for f64 {
    fn schur(a: Matrix<Self>) -> Schur<Self> {
        let n = a.rows;
        let (mut h, mut z) = hessenberg(a);
        let (mut end, mut steps) = (n, 0);
        let stop = Stop::current();
        while end > 0 {
            if stop.is_set() {
                return Err(1);
            }
            let high = end - 1;
            let low = split(&mut h, high, steps);
            if low == high {
                (end, steps) = (high, 0);
            } else if low + 1 == high {
                standardize(&mut h, &mut z, low);
                (end, steps) = (low, 0);
            } else {
                steps += 1;
                if steps > STEPS {
                    return Err(i32::try_from(end).unwrap_or(i32::MAX));
                }
                real_step(&mut h, &mut z, low, high, steps % 10 == 0);
            }
        }
        Ok((h, z))
    }
}

/// One Francis step: a double shift by both eigenvalues of the last 2-by-2 block, which keeps
/// everything real.
fn real_step(h: &mut Matrix<f64>, z: &mut Matrix<f64>, low: usize, high: usize, odd: bool) {
    let n = h.rows;
    // Products of small elements would underflow. Only the direction of the column matters.
    let used = [(low, low + 3), (high - 2, high + 1)];
    let used =
        used.iter().flat_map(|&(i, j)| (i..j).flat_map(move |r| (i..j).map(move |c| (r, c))));
    let size = used.fold(0.0, |m: f64, at| m.max(h[at].abs()));
    let at = |i: usize, j: usize| h[(i, j)] / size;
    let (sum, product) = if odd {
        // An exceptional shift breaks a cycle of the usual one.
        let size = at(high, high - 1).abs() + at(high - 1, high - 2).abs();
        (1.5 * size, size * size)
    } else {
        let (a, d) = (at(high - 1, high - 1), at(high, high));
        (a + d, a * d - at(high - 1, high) * at(high, high - 1))
    };
    // The first column of (h - shift)(h - other shift).
    let (first, below) = (at(low, low), at(low + 1, low));
    let mut column = vec![
        first * first + at(low, low + 1) * below - sum * first + product,
        below * (first + at(low + 1, low + 1) - sum),
        below * at(low + 2, low + 1),
    ];
    for k in low..high {
        if k > low {
            column = (k..(k + 3).min(high + 1)).map(|i| h[(i, k - 1)]).collect();
        }
        let found = reflection(column[0], column[1..].iter().copied());
        let tau = found.tau;
        let v: Vec<f64> =
            std::iter::once(1.0).chain(column[1..].iter().map(|&x| found.scaled(x))).collect();
        from_left(h, &v, tau, k, k.saturating_sub(1)..n);
        from_right(h, &v, tau, 0..(k + 4).min(high + 1), k);
        from_right(z, &v, tau, 0..n, k);
        if k > low {
            (k + 1..k + v.len()).for_each(|i| h[(i, k - 1)] = 0.0);
        }
    }
}

/// Rotates the 2-by-2 block at `at` so that it is triangular, or has equal diagonal elements.
fn standardize(h: &mut Matrix<f64>, z: &mut Matrix<f64>, at: usize) {
    let (a, b) = (h[(at, at)], h[(at, at + 1)]);
    let (c, d) = (h[(at + 1, at)], h[(at + 1, at + 1)]);
    let half = (a - d) / 2.0;
    let standard = half == 0.0 && b != 0.0 && b.is_sign_negative() != c.is_sign_negative();
    if c == 0.0 || standard {
        return;
    }
    // Squares of small elements would underflow. The rotation does not depend on the size.
    let size = half.abs().max(b.abs().sqrt() * c.abs().sqrt());
    let size = if size == 0.0 { 1.0 } else { size };
    let (half, b, c) = (half / size, b / size, c / size);
    let discriminant = half * half + b * c;
    let real = discriminant >= 0.0;
    let (cosine, sine) = if real {
        let root = discriminant.sqrt();
        let towards = if half < 0.0 { half - root } else { half + root };
        let size = hypot(towards, c);
        (towards / size, c / size)
    } else {
        let sum = b + c;
        let size = hypot(sum, 2.0 * half);
        let cosine = (0.5 * (1.0 + sum.abs() / size)).sqrt();
        (cosine, -(half / (size * cosine)) * 1f64.copysign(sum))
    };
    let turn = |x: f64, y: f64| (cosine * x + sine * y, cosine * y - sine * x);
    for j in 0..h.cols {
        (h[(at, j)], h[(at + 1, j)]) = turn(h[(at, j)], h[(at + 1, j)]);
    }
    for i in 0..h.rows {
        (h[(i, at)], h[(i, at + 1)]) = turn(h[(i, at)], h[(i, at + 1)]);
        (z[(i, at)], z[(i, at + 1)]) = turn(z[(i, at)], z[(i, at + 1)]);
    }
    if real {
        h[(at + 1, at)] = 0.0;
    } else {
        let mean = f64::midpoint(h[(at, at)], h[(at + 1, at + 1)]);
        (h[(at, at)], h[(at + 1, at + 1)]) = (mean, mean);
    }
}

/// Returns the eigenvalues on the diagonal of the Schur form; of a pair, the one with positive
/// imaginary part first.
pub(super) fn eigenvalues<N: LapackFloat>(t: &Matrix<N>) -> Vec<Complex> {
    let mut values = Vec::with_capacity(t.rows);
    while values.len() < t.rows {
        let k = values.len();
        let (re, im) = (t[(k, k)].re(), t[(k, k)].im());
        if k + 1 < t.rows && t[(k + 1, k)] != N::ZERO {
            let im = t[(k, k + 1)].abs().sqrt() * t[(k + 1, k)].abs().sqrt();
            values.extend([Complex::of(re, im), Complex::of(re, -im)]);
        } else {
            values.push(Complex::of(re, im));
        }
    }
    values
}
