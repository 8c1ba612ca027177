//! `potrf`, `trsm`, `getrf`, `gtsv`: factors and solutions by elimination.
use super::number::{LapackFloat, Matrix, Rows, Terms};
use num::clock::Stop;

/// `potrf`: `a = l l^H`, `l` lower triangular, or `a = u^H u`. Only the named triangle of `a` is
/// read, and only it is written: the other is unchanged.
///
/// Returns 0, or `k` if the leading minor of order `k` is not positive definite. Columns from the
/// `k`-th on are then unchanged. The imaginary parts of diagonal elements are ignored.
pub(super) fn potrf<N: LapackFloat>(a: &mut Matrix<N>, lower: bool) -> i32 {
    if lower {
        // The upper factor is the conjugate transpose of the lower.
        let mut upper = a.adjoint();
        let info = upper_factor(&mut upper);
        *a = upper.adjoint();
        return info;
    }
    upper_factor(a)
}

fn upper_factor<N: LapackFloat>(a: &mut Matrix<N>) -> i32 {
    let stop = Stop::current();
    let n = a.rows;
    for j in 0..n {
        if stop.is_set() {
            break;
        }
        let squares = (0..j).map(|k| (a[(k, j)], a[(k, j)].conj()));
        let pivot = N::real(a[(j, j)].re()).minus_products(squares).re();
        // A NaN is not positive either.
        if pivot.is_nan() || pivot <= 0.0 {
            a[(j, j)] = N::real(pivot);
            return order(j);
        }
        let root = N::real(pivot.sqrt());
        let (done, row) = a.data.split_at_mut(j * n);
        let values = &mut row[j + 1..n];
        let rows = done.chunks(n).map(|row| (row[j].conj(), &row[j + 1..]));
        N::subtract(values, &rows.collect::<Terms<'_, N>>());
        for x in values {
            *x = x.over(root);
        }
        a[(j, j)] = root;
    }
    0
}

/// Returns the 1-based index that LAPACK reports.
pub(super) fn order(index: usize) -> i32 {
    i32::try_from(index + 1).unwrap_or(i32::MAX)
}

/// The interpretation of a triangular matrix.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four attributes that do not depend on each other"
)]
pub(super) struct Triangle {
    pub(super) lower: bool,
    /// The diagonal is taken to be ones and is not read.
    pub(super) unit: bool,
    pub(super) transpose: bool,
    pub(super) conjugate: bool,
}

/// `trsm`: solves `op(a) x = b`, or `x op(a) = b` for `right`, into `b`. Only one triangle of `a`
/// is read. A zero on the diagonal is divided by: the result has infinities and NaN.
pub(super) fn trsm<N: LapackFloat>(a: &Matrix<N>, b: &mut Matrix<N>, how: Triangle, right: bool) {
    if right {
        // `x op(a) = b` is `op(a)^T x^T = b^T`.
        let mut columns = b.transpose();
        trsm(a, &mut columns, Triangle { transpose: !how.transpose, ..how }, false);
        *b = columns.transpose();
        return;
    }
    let (n, systems) = (a.rows, b.cols);
    if systems == 0 {
        return;
    }
    let at = |i: usize, j: usize| {
        let value = if how.transpose { a[(j, i)] } else { a[(i, j)] };
        if how.conjugate { value.conj() } else { value }
    };
    let forward = how.lower != how.transpose;
    let stop = Stop::current();
    for step in (0..n).take_while(|_| !stop.is_set()) {
        let i = if forward { step } else { n - 1 - step };
        let (before, after) = b.data.split_at_mut((i + usize::from(!forward)) * systems);
        let (values, done) = if forward {
            (&mut after[..systems], before)
        } else {
            (&mut before[i * systems..], after)
        };
        let first = if forward { 0 } else { i + 1 };
        let rows = done.chunks(systems).enumerate().take(if forward { i } else { n });
        let rows: Terms<'_, N> = rows.map(|(k, row)| (at(i, first + k), row)).collect();
        N::subtract(values, &rows);
        if !how.unit {
            for x in values {
                *x = x.over(at(i, i));
            }
        }
    }
}

/// `getrf`: `p a = l u` with rows exchanged so that each pivot is the largest remaining element of
/// its column, `|re| + |im|` being the size of a complex number; the first of equal ones is taken.
/// `l` has ones on its diagonal, which are not stored.
///
/// Returns the 1-based row that each step exchanged with, and 0, or `k` if the `k`-th pivot is the
/// first that is zero. The elimination continues after a zero pivot.
pub(super) fn getrf<N: LapackFloat>(a: &mut Matrix<N>) -> (Vec<i32>, i32) {
    let (rows, cols, steps) = (a.rows, a.cols, a.rows.min(a.cols));
    let (mut pivots, mut info) = (Vec::with_capacity(steps), 0);
    let (block, stop) = (N::BLOCK.min(steps.max(1)), Stop::current());
    for first in (0..steps).step_by(block) {
        let end = steps.min(first + block);
        // The columns of `l`, so that their elements are neighbors.
        let mut lower = Matrix::zeros(end - first, rows);
        let last = if end == steps { cols } else { end };
        for j in (first..end).take_while(|_| !stop.is_set()) {
            // Each element of the block is one sum (Crout): column j of `l`, and row j of `u`.
            let (done, column) = lower.data.split_at_mut((j - first) * rows);
            let column = &mut column[j..rows];
            column.iter_mut().enumerate().for_each(|(i, x)| *x = a[(j + i, j)]);
            let terms = done.chunks(rows).enumerate();
            let terms = terms.map(|(k, column)| (a[(first + k, j)], &column[j..]));
            N::subtract(column, &terms.collect::<Terms<'_, N>>());
            let mut best = 0;
            for (i, x) in column.iter().enumerate() {
                if x.size() > column[best].size() {
                    best = i;
                }
            }
            pivots.push(order(j + best));
            let pivot = column[best];
            if pivot == N::ZERO {
                info = if info == 0 { order(j) } else { info };
            } else {
                column.swap(0, best);
                column[1..].iter_mut().for_each(|x| *x = x.over(pivot));
                done.chunks_mut(rows).for_each(|column| column.swap(j, j + best));
                a.swap_rows(j, j + best);
            }
            column.iter().enumerate().for_each(|(i, &x)| a[(j + i, j)] = x);
            subtract_rows(a, j, first, j + 1..last);
        }
        for i in first + 1..end {
            subtract_rows(a, i, first, last..cols);
        }
        let (done, rest) = a.data.split_at_mut(end * cols);
        let factors = rest.chunks(cols).flat_map(|row| &row[first..end]);
        let factors: Vec<N> = factors.copied().collect();
        let upper: Vec<&[N]> = done.chunks(cols).skip(first).map(|row| &row[last..]).collect();
        let rest = Rows { data: rest, stride: cols, columns: last..cols };
        N::subtract_product(rest, &factors, &upper);
    }
    (pivots, info)
}

/// Subtracts multiples of rows `first` to `i` from some columns of row `i`, by its elements in the
/// columns of these numbers.
fn subtract_rows<N: LapackFloat>(
    a: &mut Matrix<N>,
    i: usize,
    first: usize,
    columns: std::ops::Range<usize>,
) {
    let (done, rest) = a.data.split_at_mut(i * a.cols);
    let (factors, values) = rest[..a.cols].split_at_mut(i);
    let rows = done.chunks(a.cols).skip(first).map(|row| &row[columns.clone()]);
    let terms: Terms<'_, N> = factors[first..].iter().copied().zip(rows).collect();
    N::subtract(&mut values[columns.start - i..columns.end - i], &terms);
}

/// The bands of a tridiagonal matrix: below, on and above the diagonal. The first element below and
/// the last one above are not read. After elimination `d` and `du` hold the diagonal and the first
/// superdiagonal of the triangular factor, and `dl[1..n-1]` its second superdiagonal.
pub(super) struct Bands<'a, N> {
    pub(super) dl: &'a mut [N],
    pub(super) d: &'a mut [N],
    pub(super) du: &'a mut [N],
}

/// `gtsv`: solves a tridiagonal system by elimination with row exchanges. Returns 0, or `k` if the
/// `k`-th pivot is zero; nothing is solved then.
pub(super) fn gtsv<N: LapackFloat>(bands: &mut Bands<'_, N>, b: &mut Matrix<N>) -> i32 {
    if let Some(zero) = eliminate(bands, b, true) {
        return order(zero);
    }
    substitute(bands, b, |pivot, _| pivot);
    0
}

/// Solves a tridiagonal system that may be singular. Where a quotient would be larger than
/// `1 / tiny`, the pivot grows first, from `epsilon` times the largest element of the triangular
/// factor on.
pub(super) fn perturbed<N: LapackFloat>(
    bands: &mut Bands<'_, N>,
    b: &mut Matrix<N>,
    (epsilon, tiny): (f64, f64),
) {
    eliminate(bands, b, false);
    let n = bands.d.len();
    let second = bands.dl.get(1..n.saturating_sub(1)).unwrap_or_default();
    let factor = bands.d.iter().chain(&bands.du[..n.saturating_sub(1)]).chain(second);
    let least = (epsilon * factor.map(|x| x.size()).fold(0.0, f64::max)).max(tiny);
    substitute(bands, b, |mut pivot, largest| {
        let mut step = least.copysign(pivot.re());
        while pivot.size() < 1.0 && (pivot == N::ZERO || largest * tiny > pivot.size()) {
            pivot = pivot + N::real(step);
            step *= 2.0;
        }
        pivot
    });
}

/// Makes a tridiagonal matrix triangular, with row exchanges. Returns the first pivot that is zero
/// and `stops` there, if it does.
fn eliminate<N: LapackFloat>(
    bands: &mut Bands<'_, N>,
    b: &mut Matrix<N>,
    stops: bool,
) -> Option<usize> {
    let Bands { dl, d, du } = bands;
    let n = d.len();
    for i in 0..n.saturating_sub(1) {
        let below = dl[i + 1];
        let last = i + 2 == n;
        if below == N::ZERO {
            if stops && d[i] == N::ZERO {
                return Some(i);
            }
            if !last {
                dl[i + 1] = N::ZERO;
            }
            continue;
        }
        if d[i].size() >= below.size() {
            let factor = below.over(d[i]);
            d[i + 1] = d[i + 1].minus_products([(factor, du[i])].into_iter());
            for j in 0..b.cols {
                b[(i + 1, j)] = b[(i + 1, j)].minus_products([(factor, b[(i, j)])].into_iter());
            }
            if !last {
                dl[i + 1] = N::ZERO;
            }
        } else {
            let factor = d[i].over(below);
            d[i] = below;
            let old = d[i + 1];
            d[i + 1] = du[i].minus_products([(factor, old)].into_iter());
            if !last {
                dl[i + 1] = du[i + 1];
                du[i + 1] = -(factor * dl[i + 1]);
            }
            du[i] = old;
            for j in 0..b.cols {
                let (above, here) = (b[(i, j)], b[(i + 1, j)]);
                b[(i, j)] = here;
                b[(i + 1, j)] = above.minus_products([(factor, here)].into_iter());
            }
        }
    }
    (stops && n > 0 && d[n - 1] == N::ZERO).then(|| n - 1)
}

/// Solves the triangular system that [`eliminate`] leaves. `pivot` gets each pivot and the size of
/// the largest number that it divides, and returns the divisor.
fn substitute<N: LapackFloat>(
    Bands { dl, d, du }: &Bands<'_, N>,
    b: &mut Matrix<N>,
    pivot: impl Fn(N, f64) -> N,
) {
    let n = d.len();
    for i in (0..n).rev() {
        for j in 0..b.cols {
            let mut value = b[(i, j)];
            if i + 1 < n {
                value = value.minus_products([(du[i], b[(i + 1, j)])].into_iter());
            }
            if i + 2 < n {
                value = value.minus_products([(dl[i + 1], b[(i + 2, j)])].into_iter());
            }
            b[(i, j)] = value;
        }
        let largest = (0..b.cols).map(|j| b[(i, j)].size()).fold(0.0, f64::max);
        let divisor = pivot(d[i], largest);
        for j in 0..b.cols {
            b[(i, j)] = b[(i, j)].over(divisor);
        }
    }
}
